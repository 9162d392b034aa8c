#include "slurm/account_limits.hpp"

#include <algorithm>

namespace noctule::slurm {

namespace {

// What a limit set says of nodes.
std::uint32_t bound_of_nodes(const TresLimits& limits) {
    std::uint64_t least = no_bound;
    for (const TresLimit& limit : limits) {
        least = limit.tres == tres_node ? std::min(least, limit.amount) : least;
    }
    return static_cast<std::uint32_t>(least);
}

} // namespace

AccountLimits::AccountLimits(const Settings& settings, const Requests& requests,
                             const Multifactor* multifactor)
    : settings_(settings), requests_(requests), accounting_(settings.accounting),
      multifactor_(multifactor), counts_(accounting_, n_tres(settings)) {}

LimitCounts::Owner AccountLimits::owner(const Request& request, std::uint32_t partition) const {
    LimitCounts::Owner owner{.association = request.association, .user = request.user};
    const std::uint32_t of_partition = settings_.partitions[partition].qos;
    const bool is_over = request.qos != none && accounting_.qos[request.qos].over_part_qos;
    for (const std::uint32_t qos :
         {is_over ? request.qos : of_partition, is_over ? of_partition : request.qos}) {
        if (qos != none && std::ranges::find(owner.qos, qos) == owner.qos.end()) {
            owner.qos.push_back(qos);
        }
    }
    return owner;
}

// Of its limit, as limits on minutes count them.
double AccountLimits::counted_minutes(const Request& request) const {
    const auto limit = static_cast<double>(request.limit);
    const bool is_weighed = request.qos != none && accounting_.qos[request.qos].usage_factor_safe;
    return is_weighed ? limit * accounting_.qos[request.qos].usage_factor : limit;
}

AccountLimits::Case AccountLimits::make_case(JobIndex job, std::uint32_t partition,
                                             Seconds now) const {
    const Request& request = requests_[job];
    return {request, owner(request, partition), requested_tres(settings_, request, partition),
            counted_minutes(request), now};
}

double AccountLimits::left_to_run(const Case& one, std::uint32_t tres, std::uint32_t association,
                                  std::uint32_t qos) const {
    double sum = 0;
    for (const auto& [job, running] : running_) {
        const LimitCounts::Owner& owned = submitted_.at(job);
        bool counts = std::ranges::find(owned.qos, qos) != owned.qos.end();
        for (std::uint32_t i = owned.association; i != none && association != none;
             i = accounting_.associations[i].parent) {
            counts = counts || i == association;
        }
        const double elapsed = static_cast<double>(one.now - running.start) / 60;
        sum += counts ? running.tres[tres] * std::max(0.0, running.minutes - elapsed) : 0.0;
    }
    return sum;
}

bool AccountLimits::note(JobIndex job, const LimitCheck& check) {
    if (check.found()) {
        blocked_[job] = *check.found();
        return false;
    }
    blocked_.erase(job);
    return true;
}

const BlockingLimit* AccountLimits::blocked_by(JobIndex job) const {
    const auto at = blocked_.find(job);
    return at == blocked_.end() ? nullptr : &at->second;
}

bool AccountLimits::may_submit(JobIndex job, Seconds now) {
    if (!accounting_.enforces_limits) {
        return true;
    }
    const Case one = make_case(job, requests_[job].partitions.front(), now);
    LimitCheck check(settings_);
    check_submission(check, one);
    if (!note(job, check)) {
        return false;
    }
    if (one.request.qos == none || !accounting_.qos[one.request.qos].deny_on_limit) {
        return true;
    }
    LimitCheck alone(settings_);
    check_alone(alone, one);
    return note(job, alone);
}

bool AccountLimits::allows(JobIndex job, std::uint32_t partition, Seconds now) {
    if (!accounting_.enforces_limits) {
        return true;
    }
    LimitCheck check(settings_);
    check_before_nodes(check, make_case(job, partition, now));
    return note(job, check);
}

bool AccountLimits::allows(JobIndex job, std::uint32_t partition, const Choice& choice,
                           Seconds now) {
    if (!accounting_.enforces_limits) {
        return true;
    }
    Case one = make_case(job, partition, now);
    one.tres = held_tres(settings_, one.request, partition, choice);
    LimitCheck check(settings_);
    check_with_nodes(check, one, choice);
    return note(job, check);
}

bool AccountLimits::allows_request(JobIndex job, std::uint32_t partition, Seconds now) {
    if (!accounting_.enforces_limits) {
        return true;
    }
    LimitCheck check(settings_);
    check_with_nodes(check, make_case(job, partition, now), {});
    return note(job, check);
}

std::uint32_t AccountLimits::max_nodes(JobIndex job, std::uint32_t partition) const {
    if (!accounting_.enforces_limits) {
        return no_bound;
    }
    const LimitCounts::Owner owned = owner(requests_[job], partition);
    std::uint32_t most = no_bound;
    for (const std::uint32_t i : owned.qos) {
        const Qos& qos = accounting_.qos[i];
        most = std::min({most, bound_of_nodes(qos.limits.grp_tres),
                         bound_of_nodes(qos.limits.max_tres_per_job),
                         bound_of_nodes(qos.per_user.max_tres)});
    }
    if (most < no_bound || owned.association == none) {
        return most;
    }
    most = bound_of_nodes(nearest(owned.association, &LimitSet::max_tres_per_job).max_tres_per_job);
    for (std::uint32_t i = owned.association; i != none; i = accounting_.associations[i].parent) {
        most = std::min(most, bound_of_nodes(accounting_.associations[i].limits.grp_tres));
    }
    return most;
}

bool AccountLimits::plans_nothing(JobIndex job, std::uint32_t priority) const {
    const Request& request = requests_[job];
    if (request.qos != none) {
        const Qos& qos = accounting_.qos[request.qos];
        if (qos.no_reserve || priority < qos.limits.min_prio_threshold) {
            return true;
        }
    }
    return request.association != none &&
           priority < accounting_.associations[request.association].limits.min_prio_threshold;
}

void AccountLimits::submit(JobIndex job, Seconds) {
    const Request& request = requests_[job];
    LimitCounts::Owner& owned = submitted_[job] = owner(request, request.partitions.front());
    counts_.submit(owned);
}

void AccountLimits::start(JobIndex job, std::uint32_t partition, const Choice& choice,
                          Seconds now) {
    const Request& request = requests_[job];
    LimitCounts::Owner& owned = submitted_.at(job);
    counts_.withdraw(owned);
    owned = owner(request, partition); // its QOS may be another partition's now
    counts_.submit(owned);
    const Running& running =
        running_
            .emplace(job, Running{held_tres(settings_, request, partition, choice),
                                  counted_minutes(request), now})
            .first->second;
    counts_.start(owned, running.tres);
    blocked_.erase(job);
}

void AccountLimits::end(JobIndex job, Seconds) {
    const auto submitted = submitted_.find(job);
    if (submitted == submitted_.end()) {
        return;
    }
    if (const auto running = running_.find(job); running != running_.end()) {
        counts_.end(submitted->second, running->second.tres);
        running_.erase(running);
    }
    counts_.withdraw(submitted->second);
    submitted_.erase(submitted);
    blocked_.erase(job);
}

} // namespace noctule::slurm
