#include "slurm/main_pass.hpp"

#include <algorithm>
#include <utility>

namespace noctule::slurm {

namespace {

bool has(const std::vector<std::uint32_t>& numbers, std::uint32_t number) {
    return std::ranges::find(numbers, number) != numbers.end();
}

} // namespace

void MainPass::run(const Moment& moment, double time, bool full) {
    Queue& queue = controller_.queue();
    const auto n_queued = static_cast<std::uint32_t>(queue.n_jobs());
    available_ = controller_.nodes().up;
    closed_.assign(controller_.settings().partitions.size(), false);
    n_tried_.assign(closed_.size(), 0);
    rejected_array_ = {none, none};
    failed_reservations_.clear();
    depth_ = n_tested_ = n_started_ = 0;
    out_of_licenses_ = false;
    tells_reasons_ = false;
    evictions_.begin_pass();
    if (controller_.parameters().reduce_completing_frag) {
        close_completing(moment.now);
    }
    std::size_t i = 0;
    std::string_view over;
    for (; i < queue.records().size() && anything_left(); ++i) {
        const QueueRecord& record = queue.records()[i];
        if (!record.live || !controller_.is_queued(moment, record)) {
            controller_.note_unqueued(moment, record);
            continue;
        }
        if (controller_.request(record.job).het != none) {
            // backfilling starts it, with its other components
            controller_.reasons().note(record.job, Reason::resources);
            close(record.partition);
            continue;
        }
        if (over = look_at(moment, record, full); !over.empty()) {
            break;
        }
    }
    // Reasons of jobs are set anew if they are not the first that waits: that is a change.
    for (std::size_t k = i; over.empty() && !tells_reasons_ && k < queue.records().size(); ++k) {
        const QueueRecord& record = queue.records()[k];
        tells_reasons_ = record.live && controller_.is_queued(moment, record);
    }
    if (tells_reasons_) {
        controller_.touch_plans(moment.now);
    }
    controller_.note_rest(moment, i, over.empty() ? Reason::priority : Reason::not_tested, over);
    queue.compact();
    controller_.reasons().end_pass(time, full ? PassKind::full : PassKind::quick);
    controller_.statistics.add({time, full ? PassKind::full : PassKind::quick, n_queued, n_tested_,
                                n_started_, microseconds() * 1e-6});
}

// Each task counts like a record of its own. Those beyond partition_job_depth, and those of an
// array that was tried in vain, do not count for the depth of a quick pass; those of closed
// partitions do.
std::string_view MainPass::look_at(const Moment& moment, const QueueRecord& record, bool full) {
    const std::uint32_t array = controller_.request(record.job).array;
    const std::pair where{array, record.partition};
    do {
        if (const std::string_view over = why_over(); !over.empty()) {
            return over;
        }
        if (array != none && std::exchange(rejected_array_, where) == where) {
            return "";
        }
        if (reaches_depth(record)) {
            controller_.reasons().note(record.job, Reason::not_tested, "partition_job_depth");
            return "";
        }
        if (!full && depth_++ > controller_.parameters().default_queue_depth) {
            return "default_queue_depth";
        }
        if (!is_open(record)) {
            tells_reasons_ = true;
            controller_.reasons().note(record.job, Reason::priority);
            return "";
        }
        if (try_record(moment, record) != Outcome::started) {
            return "";
        }
        rejected_array_ = {none, none};
    } while (record.live && controller_.is_queued(moment, record));
    return "";
}

double MainPass::microseconds() const {
    const CostModel& cost = controller_.parameters().cost;
    return cost.main_pass + n_tested_ * cost.main_test;
}

std::string_view MainPass::why_over() const {
    const Parameters& parameters = controller_.parameters();
    if (microseconds() >= parameters.max_sched_time * 1e6) {
        return "max_sched_time";
    }
    if (parameters.sched_max_job_start > 0 && n_started_ >= parameters.sched_max_job_start) {
        return "sched_max_job_start";
    }
    return out_of_licenses_ ? "bf_licenses" : "";
}

bool MainPass::reaches_depth(const QueueRecord& record) {
    const std::uint32_t most = controller_.parameters().partition_job_depth;
    return most > 0 && n_tried_[record.partition]++ >= most;
}

// Whether a record could still be started.
bool MainPass::anything_left() const {
    for (std::uint32_t p = 0; p < closed_.size(); ++p) {
        if (!closed_[p] && controller_.queue().n_records(p) > 0) {
            return true;
        }
    }
    // Jobs of reservations do not mind closed partitions, and come first.
    return false;
}

bool MainPass::is_open(const QueueRecord& record) const {
    return record.reserved ? !has(failed_reservations_, controller_.request(record.job).reservation)
                           : !closed_[record.partition];
}

MainPass::Outcome MainPass::try_record(const Moment& moment, const QueueRecord& record) {
    const JobIndex job = record.job;
    const Request& request = controller_.request(job);
    const Partition& partition = controller_.partition(record.partition);
    if (controller_.cancel_late(moment, job) || evictions_.are_under_way_for(job)) {
        return Outcome::skipped;
    }
    if (request.limit > partition.max_time) { // only backfilling shortens a job that accepts it
        controller_.reasons().note(job, Reason::partition, partition.name);
        return Outcome::skipped;
    }
    const bool stops = controller_.parameters().assoc_limit_stop;
    if (!controller_.limits().allows(job, record.partition, moment.now)) {
        controller_.note_limit(job);
        if (stops) {
            hold_back(moment, record, true);
        }
        return Outcome::skipped;
    }
    const Minutes limit = controller_.time_limit(job, record.partition);
    const auto [least, wanted] = controller_.node_bounds(job, record.partition);
    candidates_.assign_common(available_, partition.nodes);
    if (candidates_.count() < request.min_nodes) {
        controller_.reasons().note(job, Reason::resources);
        tells_reasons_ = true;
        close(record.partition); // whoever it is
        return Outcome::busy;
    }
    if (!controller_.has_licenses(request)) {
        controller_.note_licenses(job);
        tells_reasons_ = true;
        out_of_licenses_ = controller_.parameters().bf_licenses;
        return Outcome::skipped;
    }
    if (request.constraint != none) {
        candidates_ &= controller_.settings().constraints[request.constraint];
    }
    if (request.excluded.n_nodes() > 0) {
        candidates_ -= request.excluded;
    }
    controller_.keep_usable(job, moment.now, limit * 60, candidates_);
    controller_.keep_own(job, record.partition, candidates_);
    ++n_tested_;
    const Trial trial{job, request, partition, candidates_, least, wanted};
    std::optional<Choice> choice = controller_.run_now(trial);
    if (choice && controller_.waits_for_switch(job, choice->nodes, moment.now)) {
        choice.reset();
    }
    if (!choice && evictions_.are_possible()) {
        evictions_.look(record, job, moment.now);
        choice = evictions_.make_room(moment, record, trial);
    }
    // A job that a limit holds back as well closes nothing, although its nodes are busy.
    const bool allowed =
        choice ? controller_.limits().allows(job, record.partition, *choice, moment.now)
               : controller_.limits().allows_request(job, record.partition, moment.now);
    if (!choice && allowed) {
        controller_.reasons().note(job, candidates_.count() < least ? Reason::reservation
                                                                    : Reason::resources);
        hold_back(moment, record, waits_for_others(trial, record.partition));
        return Outcome::busy;
    }
    if (!allowed) {
        controller_.note_limit(job);
        hold_back(moment, record, stops);
        return Outcome::skipped;
    }
    ++n_started_;
    controller_.priority().tested(job, choice->cpus);
    controller_.start(moment, record, *choice, limit, StartedBy::main);
    return Outcome::started;
}

// Whether a job that finds no nodes now is kept from them by other jobs. One that the nodes left to
// it could not serve if they were idle holds nobody back.
bool MainPass::waits_for_others(const Trial& trial, std::uint32_t partition) const {
    Select& select = controller_.select();
    const bool could_here =
        trial.candidates.count() >= trial.min_nodes && select.could_ever_run(trial);
    if (could_here) {
        return true;
    }
    const bool could_elsewhere =
        trial.request.partitions.size() == 1 || controller_.can_run(trial.job, partition);
    return could_elsewhere && select.has_busy(trial);
}

// Whether the job is too young or too unimportant to hold others back.
bool MainPass::closes_nothing(const Moment& moment, const QueueRecord& record) const {
    const Parameters& parameters = controller_.parameters();
    const JobStatus& status = controller_.status(record.job);
    return moment.now - status.eligible < parameters.bf_min_age_reserve ||
           record.priority < parameters.bf_min_prio_reserve ||
           controller_.limits().plans_nothing(record.job, record.priority);
}

// After a job that did not start: its nodes, its reservation or its partition are kept from others.
void MainPass::hold_back(const Moment& moment, const QueueRecord& record, bool is_busy) {
    const Request& request = controller_.request(record.job);
    if (request.required.n_nodes() > 0 && request.required.count() >= request.min_nodes) {
        available_ -= request.required;
    } else if (is_busy && record.reserved) {
        failed_reservations_.push_back(request.reservation);
    } else if (is_busy && !closes_nothing(moment, record)) {
        close(record.partition);
    }
}

void MainPass::close(std::uint32_t partition) {
    closed_[partition] = true;
    available_ -= controller_.partition(partition).nodes;
}

// All partitions that share nodes with one of a job that still completes.
void MainPass::close_completing(Seconds now) {
    const NodeSet nodes = controller_.nodes_in_completion(now);
    for (std::uint32_t p = 0; p < closed_.size(); ++p) {
        const Partition& partition = controller_.partition(p);
        const bool starts_jobs =
            partition.state == PartitionState::up || partition.state == PartitionState::drain;
        if (starts_jobs && partition.nodes.intersects(nodes)) {
            close(p);
        }
    }
}

} // namespace noctule::slurm
