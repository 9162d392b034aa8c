#include "slurm/queue.hpp"

#include "slurm/preemption.hpp"

#include <algorithm>
#include <tuple>

namespace noctule::slurm {

Queue::Queue(const Settings& settings, const Requests& requests, const Priority& priority)
    : settings_(settings), requests_(requests), priority_(priority),
      n_records_(settings.partitions.size(), 0) {
    if (settings.parameters.preempt_type == PreemptType::qos) {
        qos_ranks_ = qos_ranks(settings.accounting.qos);
    }
}

bool Queue::comes_before(const QueueRecord& one, const QueueRecord& other) {
    const auto key = [](const QueueRecord& record) {
        return std::tuple(record.rank, !record.reserved, ~record.tier, ~record.priority, record.job,
                          record.position);
    };
    return key(one) < key(other);
}

void Queue::add(JobIndex job) {
    ++n_jobs_;
    const std::uint32_t array = requests_[job].array;
    if (array != none) {
        std::deque<JobIndex>& tasks = arrays_[array];
        tasks.push_back(job);
        if (tasks.size() > 1) {
            ++n_changes_;
            return; // its record is that of the first task
        }
    }
    add_records(job);
    if (joins_components(job)) {
        components_[requests_[job].het].push_back(job);
        sort_afresh();
    }
}

std::uint32_t Queue::priority_of(JobIndex job, std::uint32_t position) const {
    if (!joins_components(job)) {
        return priority_.of(job, position);
    }
    const auto found = components_.find(requests_[job].het);
    if (found == components_.end() || found->second.empty()) {
        return priority_.of(job, position);
    }
    std::uint64_t sum = 0;
    std::uint32_t least = no_bound;
    std::uint32_t most = 0;
    for (const JobIndex one : found->second) {
        const std::uint32_t priority = priority_.of(one, 0);
        sum += priority;
        least = std::min(least, priority);
        most = std::max(most, priority);
    }
    switch (settings_.parameters.bf_hetjob_prio) {
    case Parameters::HetPriority::min:
        return least;
    case Parameters::HetPriority::max:
        return most;
    default:
        return static_cast<std::uint32_t>(sum / found->second.size());
    }
}

QueueRecord Queue::record_of(JobIndex job, std::uint32_t position) const {
    const Request& request = requests_[job];
    const std::uint32_t partition = request.partitions[position];
    return {.job = job,
            .partition = partition,
            .position = position,
            .tier = settings_.partitions[partition].priority_tier,
            .priority = priority_of(job, position),
            .reserved = request.reservation != none,
            .rank = qos_ranks_.empty() || request.qos == none ? 0 : qos_ranks_[request.qos],
            .live = true};
}

void Queue::add_records(JobIndex job) {
    for (std::uint32_t i = 0; i < requests_[job].partitions.size(); ++i) {
        const QueueRecord record = record_of(job, i);
        const auto place = std::ranges::upper_bound(records_, record, comes_before);
        n_changes_ += place != records_.end() ? 1 : 0;
        records_.insert(place, record);
        ++n_records_[record.partition];
    }
}

std::vector<QueueRecord>::iterator Queue::find(JobIndex job, std::uint32_t position) {
    const auto found = std::ranges::lower_bound(records_, record_of(job, position), comes_before);
    if (found != records_.end() && found->live && found->job == job &&
        found->position == position) {
        return found;
    }
    return std::ranges::find_if(records_, [&](const QueueRecord& record) {
        return record.live && record.job == job && record.position == position;
    });
}

void Queue::remove(JobIndex job) {
    --n_jobs_;
    ++n_changes_;
    const Request& request = requests_[job];
    JobIndex next = no_job;
    if (request.array != none) {
        const auto array = arrays_.find(request.array);
        std::deque<JobIndex>& tasks = array->second;
        if (tasks.front() != job) {
            tasks.erase(std::ranges::find(tasks, job));
            return;
        }
        tasks.pop_front();
        if (tasks.empty()) {
            arrays_.erase(array);
        } else {
            next = tasks.front();
        }
    }
    if (joins_components(job)) {
        std::erase(components_[request.het], job);
    }
    for (std::uint32_t i = 0; i < request.partitions.size(); ++i) {
        const auto record = find(job, i);
        if (next != no_job) {
            record->job = next;
        } else {
            record->live = false;
            --n_records_[record->partition];
            ++n_dead_;
        }
    }
}

void Queue::sort_afresh() {
    ++n_changes_;
    compact();
    for (QueueRecord& record : records_) {
        record.priority = priority_of(record.job, record.position);
    }
    std::ranges::sort(records_, comes_before);
}

void Queue::compact() {
    if (n_dead_ > 0) {
        std::erase_if(records_, [](const QueueRecord& record) { return !record.live; });
        n_dead_ = 0;
    }
}

std::size_t Queue::first_from(const QueueRecord& record) const {
    const auto found = std::ranges::lower_bound(records_, record, comes_before);
    return static_cast<std::size_t>(found - records_.begin());
}

std::size_t Queue::n_tasks(JobIndex job) const {
    const auto found = arrays_.find(requests_[job].array);
    return requests_[job].array == none || found == arrays_.end() ? 1 : found->second.size();
}

JobIndex Queue::task(JobIndex job, std::size_t k) const {
    return k == 0 ? job : arrays_.at(requests_[job].array)[k];
}

} // namespace noctule::slurm
