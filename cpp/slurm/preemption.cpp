#include "slurm/preemption.hpp"

#include <algorithm>

namespace noctule::slurm {

PreemptMode Preemption::mode(const RunningJob& victim) const {
    const Parameters& parameters = settings_.parameters;
    if (parameters.preempt_type == PreemptType::partition_prio) {
        return settings_.partitions[victim.partition].preempt_mode;
    }
    const std::uint32_t qos = requests_[victim.job].qos;
    if (parameters.preempt_type == PreemptType::qos && qos != none) {
        return settings_.accounting.qos[qos].preempt_mode.value_or(parameters.preempt_mode);
    }
    return PreemptMode::off;
}

Seconds Preemption::grace_time(const RunningJob& victim) const {
    const std::uint32_t qos = requests_[victim.job].qos;
    return settings_.parameters.preempt_type == PreemptType::qos && qos != none
               ? settings_.accounting.qos[qos].grace_time
               : settings_.partitions[victim.partition].grace_time;
}

bool Preemption::may_preempt(JobIndex job, std::uint32_t partition, const RunningJob& victim,
                             Seconds now) const {
    const Parameters& parameters = settings_.parameters;
    const Partition& mine = settings_.partitions[partition];
    if (mode(victim) == PreemptMode::off || !victim.nodes->intersects(mine.nodes)) {
        return false;
    }
    const std::uint32_t qos = requests_[job].qos;
    const std::uint32_t other = requests_[victim.job].qos;
    Seconds exempt = parameters.preempt_exempt_time;
    if (other != none) {
        exempt = settings_.accounting.qos[other].preempt_exempt_time.value_or(exempt);
    }
    if (now - victim.start < exempt) {
        return false;
    }
    if (parameters.preempt_type == PreemptType::partition_prio) {
        return settings_.partitions[victim.partition].priority_tier < mine.priority_tier;
    }
    if (qos == none || other == none) {
        return false;
    }
    const std::vector<std::uint32_t>& lower = settings_.accounting.qos[qos].preempts;
    return std::ranges::find(lower, other) != lower.end();
}

std::uint32_t Preemption::rank(const RunningJob& victim) const {
    const std::uint32_t qos = requests_[victim.job].qos;
    const bool by_qos = settings_.parameters.preempt_type == PreemptType::qos && qos != none;
    const std::uint32_t importance = by_qos ? settings_.accounting.qos[qos].priority
                                            : settings_.partitions[victim.partition].priority_tier;
    return std::min(importance, 0xffffU) << 16 | std::min(victim.nodes->count(), 0xffffU);
}

std::vector<RunningJob> Preemption::candidates(JobIndex job, std::uint32_t partition,
                                               std::span<const RunningJob> running,
                                               Seconds now) const {
    std::vector<RunningJob> found;
    std::ranges::copy_if(running, std::back_inserter(found), [&](const RunningJob& victim) {
        return may_preempt(job, partition, victim, now);
    });
    if (settings_.parameters.preempt_youngest_first) {
        std::ranges::stable_sort(found, std::greater<>(), &RunningJob::start);
    } else {
        std::ranges::stable_sort(found, std::less<>(),
                                 [this](const RunningJob& victim) { return rank(victim); });
    }
    return found;
}

std::optional<std::vector<JobIndex>> choose_victims(std::vector<RunningJob> candidates,
                                                    const FitsWithout& fits_without,
                                                    const Parameters& parameters) {
    for (std::size_t round = 0;; ++round) {
        std::vector<JobIndex> gone;
        std::optional<NodeSet> nodes;
        std::size_t last = 0;
        for (; last < candidates.size() && !nodes; ++last) {
            gone.push_back(candidates[last].job);
            nodes = fits_without(gone);
        }
        if (!nodes) {
            return std::nullopt;
        }
        if (round > parameters.preempt_reorder_count || candidates.size() <= round + 1) {
            std::vector<JobIndex> victims;
            for (std::size_t i = 0; i < last; ++i) {
                if (candidates[i].nodes->intersects(*nodes)) {
                    victims.push_back(candidates[i].job);
                }
            }
            return victims;
        }
        const auto helped = candidates.begin() + static_cast<std::ptrdiff_t>(last);
        std::rotate(candidates.begin(), helped - 1, helped);
        if (!parameters.preempt_strict_order) {
            std::ranges::stable_sort(
                candidates.begin() + 1, helped, std::greater<>(),
                [&](const RunningJob& candidate) { return candidate.nodes->count_common(*nodes); });
        }
    }
}

} // namespace noctule::slurm
