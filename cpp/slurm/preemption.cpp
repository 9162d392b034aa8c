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

bool Preemption::outranks(const Preemptor& preemptor, const RunningJob& victim) const {
    const Parameters& parameters = settings_.parameters;
    if (parameters.preempt_type == PreemptType::partition_prio) {
        return settings_.partitions[victim.partition].priority_tier <
               settings_.partitions[preemptor.partition].priority_tier;
    }
    const std::uint32_t qos = requests_[preemptor.job].qos;
    const std::uint32_t other = requests_[victim.job].qos;
    if (qos == none || other == none) {
        return false;
    }
    const Qos& mine = settings_.accounting.qos[qos];
    if (qos == other) {
        return (mine.preempts_within || parameters.preempts_within) &&
               preemptor.priority > victim.priority;
    }
    return std::ranges::find(mine.preempts, other) != mine.preempts.end();
}

bool Preemption::may_preempt(const Preemptor& preemptor, const RunningJob& victim,
                             Seconds now) const {
    const Parameters& parameters = settings_.parameters;
    if (mode(victim) == PreemptMode::off || !outranks(preemptor, victim) ||
        victim.priority > parameters.min_exempt_priority ||
        !victim.nodes->intersects(settings_.partitions[preemptor.partition].nodes)) {
        return false;
    }
    Seconds exempt = parameters.preempt_exempt_time;
    if (const std::uint32_t qos = requests_[victim.job].qos; qos != none) {
        exempt = settings_.accounting.qos[qos].preempt_exempt_time.value_or(exempt);
    }
    return now - victim.start >= exempt;
}

std::uint32_t Preemption::rank(const RunningJob& victim) const {
    const std::uint32_t qos = requests_[victim.job].qos;
    const bool by_qos = settings_.parameters.preempt_type == PreemptType::qos && qos != none;
    const std::uint32_t importance = by_qos ? settings_.accounting.qos[qos].priority
                                            : settings_.partitions[victim.partition].priority_tier;
    return std::min(importance, 0xffffU) << 16 | std::min(victim.nodes->count(), 0xffffU);
}

std::vector<RunningJob> Preemption::candidates(const Preemptor& preemptor,
                                               std::span<const RunningJob> running,
                                               Seconds now) const {
    std::vector<RunningJob> found;
    std::ranges::copy_if(running, std::back_inserter(found), [&](const RunningJob& victim) {
        return may_preempt(preemptor, victim, now);
    });
    if (settings_.parameters.preempt_youngest_first) {
        std::ranges::stable_sort(found, std::greater<>(), &RunningJob::start);
    } else {
        std::ranges::stable_sort(found, std::less<>(),
                                 [this](const RunningJob& victim) { return rank(victim); });
    }
    return found;
}

std::vector<std::uint32_t> qos_ranks(const std::vector<Qos>& qos) {
    std::vector<std::uint32_t> ranks(qos.size(), 0);
    // Longest chains: at most as many rounds as there are QOS, also where they go in circles.
    bool changed = true;
    for (std::size_t round = 0; changed && round < qos.size(); ++round) {
        changed = false;
        for (std::size_t above = 0; above < qos.size(); ++above) {
            for (const std::uint32_t below : qos[above].preempts) {
                if (below != above && ranks[below] <= ranks[above]) {
                    ranks[below] = ranks[above] + 1;
                    changed = true;
                }
            }
        }
    }
    return ranks;
}

std::optional<std::vector<JobIndex>> choose_victims(std::vector<RunningJob> candidates,
                                                    const FitsWithout& fits_without,
                                                    const Parameters& parameters,
                                                    const NodeSet* usable) {
    const std::uint32_t n_orders = usable != nullptr ? 0 : parameters.preempt_reorder_count;
    const bool keeps_order = usable == nullptr && parameters.preempt_strict_order;
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
        if (round > n_orders || candidates.size() <= round + 1) {
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
        if (!keeps_order) {
            const NodeSet& helpful = usable != nullptr ? *usable : *nodes;
            std::ranges::stable_sort(candidates.begin() + 1, helped, std::greater<>(),
                                     [&](const RunningJob& candidate) {
                                         return candidate.nodes->count_common(helpful);
                                     });
        }
    }
}

} // namespace noctule::slurm
