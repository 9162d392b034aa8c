#include "slurm/multifactor.hpp"

#include "slurm/aging.hpp"
#include "slurm/fair_share.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace noctule::slurm {

namespace {

// Zero is the priority of held jobs.
std::uint32_t whole_priority(double sum) {
    return static_cast<std::uint32_t>(std::clamp(sum, 1.0, 4294967295.0));
}

double normalised(double value, double largest, bool raw) {
    return raw ? value : value / std::max(largest, 1.0);
}

} // namespace

Seconds next_usage_reset(UsageReset period, Seconds last) {
    using namespace std::chrono;
    const sys_days day = floor<days>(sys_seconds(seconds(last)));
    const year_month_day date(day);
    const auto first_of = [](year_month month) {
        return sys_seconds(sys_days(month / std::chrono::day(1))).time_since_epoch().count();
    };
    const year_month month(date.year(), date.month());
    switch (period) {
    case UsageReset::daily:
        return sys_seconds(day + days(1)).time_since_epoch().count();
    case UsageReset::weekly:
        return sys_seconds(day + days(7 - weekday(day).c_encoding())).time_since_epoch().count();
    case UsageReset::monthly:
        return first_of(month + months(1));
    case UsageReset::quarterly:
        return first_of(month + months(3 - (static_cast<unsigned>(date.month()) - 1) % 3));
    case UsageReset::yearly:
        return first_of((date.year() + years(1)) / January);
    default:
        return no_date;
    }
}

Multifactor::Multifactor(const Settings& settings, const Requests& requests)
    : settings_(settings), requests_(requests), accounting_(settings.accounting),
      parameters_(settings.priority), bounds_aging_(AgingJobs::are_bounded(accounting_)),
      usage_(accounting_, n_tres(settings), parameters_.decay_half_life),
      next_(parameters_.first_calculation),
      last_(static_cast<Seconds>(std::floor(parameters_.first_calculation))),
      next_reset_(next_usage_reset(parameters_.usage_reset, last_)) {
    for (const Node& node : settings.nodes) {
        n_cpus_ += node.cpus;
    }
    for (const Partition& partition : settings.partitions) {
        max_job_factor_ = std::max(max_job_factor_, partition.priority_job_factor);
        partition_tres_.push_back(total_tres(settings, partition));
    }
    for (const Qos& qos : accounting_.qos) {
        max_qos_priority_ = std::max(max_qos_priority_, qos.priority);
    }
    for (const Association& association : accounting_.associations) {
        max_association_priority_ = std::max(max_association_priority_, association.priority);
    }
    share_fairly();
}

double Multifactor::size_factor(const Request& request, std::uint32_t tested_cpus) const {
    const auto n_nodes = static_cast<double>(settings_.n_nodes());
    const auto n_cpus = static_cast<double>(n_cpus_);
    const double nodes = std::max(1U, request.min_nodes);
    const double cpus = tested_cpus > 0 ? tested_cpus : requested_cpus(request);
    double factor = (nodes / n_nodes + cpus / n_cpus) / 2;
    if (parameters_.small_relative_to_time) {
        const auto minutes = static_cast<double>(std::max<Minutes>(request.limit, 1));
        factor = std::max(nodes * n_cpus / n_nodes, cpus) / minutes / n_cpus;
        factor = parameters_.favor_small ? 1 - factor : factor;
    } else if (parameters_.favor_small) {
        factor = ((n_nodes - nodes) / n_nodes + (n_cpus - cpus) / n_cpus) / 2;
    }
    return std::clamp(factor, 0.0, 1.0);
}

// Relative to what the job's first partition has.
double Multifactor::tres_part(const Request& request) const {
    if (parameters_.weight_tres.empty()) {
        return 0.0;
    }
    const std::uint32_t partition = request.partitions.front();
    const Tres asked = requested_tres(settings_, request, partition);
    const Tres& all = partition_tres_[partition];
    double sum = 0;
    for (std::size_t k = 0; k < std::min(parameters_.weight_tres.size(), asked.size()); ++k) {
        if (parameters_.no_normal_tres) {
            sum += parameters_.weight_tres[k] * asked[k];
        } else if (all[k] > 0) {
            sum += parameters_.weight_tres[k] * asked[k] / all[k];
        }
    }
    return sum;
}

PriorityParts Multifactor::parts(JobIndex job, std::size_t partition_position, Seconds now) const {
    const Request& request = requests_[job];
    const Pending& pending = pending_.at(job);
    PriorityParts parts;
    if (shares_usage()) {
        const auto since =
            parameters_.accrue_always ? std::optional(pending.submitted) : pending.ages_since;
        if (since && now > *since) {
            const auto age = static_cast<double>(now - *since);
            parts.age = parameters_.weight_age *
                        std::min(1.0, age / static_cast<double>(parameters_.max_age));
        }
        if (request.association != none) {
            parts.fair_share = parameters_.weight_fair_share * fair_share_[request.association];
        }
    }
    if (request.association != none) {
        parts.association =
            parameters_.weight_association *
            normalised(accounting_.associations[request.association].priority,
                       max_association_priority_, parameters_.no_normal_association);
    }
    if (request.qos != none) {
        parts.qos =
            parameters_.weight_qos * normalised(accounting_.qos[request.qos].priority,
                                                max_qos_priority_, parameters_.no_normal_qos);
    }
    const Partition& partition = settings_.partitions[request.partitions[partition_position]];
    parts.size = parameters_.weight_job_size * size_factor(request, pending.tested_cpus);
    parts.partition =
        parameters_.weight_partition *
        normalised(partition.priority_job_factor, max_job_factor_, parameters_.no_normal_partition);
    parts.tres = tres_part(request);
    parts.nice = static_cast<double>(request.nice);
    return parts;
}

bool Multifactor::set_priorities(JobIndex job, Pending& pending, Seconds now, bool at_submission) {
    const Request& request = requests_[job];
    pending.priorities.resize(request.partitions.size(), 0);
    bool changed = false;
    for (std::size_t i = 0; i < pending.priorities.size(); ++i) {
        const std::uint32_t priority =
            request.priority > 0 ? request.priority : whole_priority(parts(job, i, now).sum());
        const bool stays =
            parameters_.incr_only && !at_submission && priority < pending.priorities[i];
        if (!stays && priority != pending.priorities[i]) {
            pending.priorities[i] = priority;
            changed = true;
        }
    }
    return changed;
}

void Multifactor::submit(JobIndex job, Seconds now) {
    skip_idle_calculations(now);
    Pending& pending = pending_[job];
    pending = {.submitted = now};
    set_priorities(job, pending, now, true);
}

std::uint32_t Multifactor::of(JobIndex job, std::size_t partition_position) const {
    return pending_.at(job).priorities[partition_position];
}

void Multifactor::become_eligible(JobIndex job, Seconds now) {
    Pending& pending = pending_.at(job);
    pending.eligible = now;
    if (!bounds_aging_) {
        pending.ages_since = now;
    }
}

void Multifactor::tested(JobIndex job, std::uint32_t cpus) {
    const auto at = pending_.find(job);
    if (at != pending_.end()) {
        at->second.tested_cpus = cpus;
    }
}

void Multifactor::start(JobIndex job, Seconds now, const Choice& choice) {
    const Request& request = requests_[job];
    const std::uint32_t partition =
        choice.shares.partition != none ? choice.shares.partition : request.partitions.front();
    running_[job] = {now, held_tres(settings_, request, partition, choice)};
}

void Multifactor::end(JobIndex job, Seconds now) {
    const auto at = running_.find(job);
    if (at != running_.end()) {
        count_usage(job, at->second, std::max(at->second.start, last_), now);
        running_.erase(at);
        has_new_usage_ = shares_usage();
    }
    pending_.erase(job);
}

void Multifactor::count_usage(JobIndex job, const Running& running, Seconds from, Seconds to) {
    const Request& request = requests_[job];
    usage_.add(request.association, request.qos, to - from, running.tres[tres_billing],
               running.tres);
}

void Multifactor::share_fairly() {
    const auto used = usage_.of_associations();
    fair_share_ = parameters_.fair_tree
                      ? fair_tree(accounting_.associations, used)
                      : classic_fair_share(accounting_.associations, used, parameters_.damping,
                                           parameters_.depth_oblivious);
}

// As many jobs age as the limits allow, in the order of their submission.
void Multifactor::let_age(Seconds now) {
    if (!bounds_aging_) {
        return;
    }
    AgingJobs aging(accounting_);
    for (const auto& [job, pending] : pending_) {
        if (pending.ages_since && !running_.contains(job)) {
            aging.add(requests_[job]);
        }
    }
    for (auto& [job, pending] : pending_) {
        const Request& request = requests_[job];
        if (pending.eligible && !pending.ages_since && !running_.contains(job) &&
            aging.has_room_for(request)) {
            pending.ages_since = now;
            aging.add(request);
        }
    }
}

// While there is no job nothing needs to be computed: usage decays for all alike.
void Multifactor::skip_idle_calculations(Seconds now) {
    const auto period = static_cast<double>(parameters_.calc_period);
    if (next_ < static_cast<double>(now)) {
        next_ += std::ceil((static_cast<double>(now) - next_) / period) * period;
    }
}

std::optional<double> Multifactor::next_recomputation() const {
    const bool has_work = !pending_.empty() || !running_.empty() || has_new_usage_;
    return shares_usage() && has_work ? std::optional(next_) : std::nullopt;
}

bool Multifactor::recompute(double now) {
    const auto second = static_cast<Seconds>(std::floor(now));
    if (second >= next_reset_) {
        usage_.reset();
        next_reset_ = next_usage_reset(parameters_.usage_reset, second);
    }
    usage_.decay(std::max<Seconds>(second - last_, 0));
    for (const auto& [job, running] : running_) {
        count_usage(job, running, std::max(running.start, last_), second);
    }
    last_ = second;
    has_new_usage_ = false;
    while (next_ <= now) {
        next_ += static_cast<double>(parameters_.calc_period);
    }
    share_fairly();
    let_age(second);
    bool changed = false;
    for (auto& [job, pending] : pending_) {
        if (parameters_.calculate_running || !running_.contains(job)) {
            changed = set_priorities(job, pending, second, false) || changed;
        }
    }
    return changed;
}

} // namespace noctule::slurm
