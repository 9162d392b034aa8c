// Jobs that make way for others: who may preempt whom, in which order candidates go, and which of
// them must.
#pragma once

#include "slurm/requests.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace noctule::slurm {

// A running job, as preemption sees it.
struct RunningJob {
    JobIndex job;
    std::uint32_t partition;
    Seconds start;
    const NodeSet* nodes;
    std::uint32_t priority = 0;
};

class Preemption {
  public:
    // Both must outlive it.
    Preemption(const Settings& settings, const Requests& requests)
        : settings_(settings), requests_(requests) {}

    bool is_on() const { return settings_.parameters.preempt_type != PreemptType::none; }

    // What happens to a job that is preempted; `off`: it never is.
    PreemptMode mode(const RunningJob& victim) const;
    // Seconds between its warning and its end.
    Seconds grace_time(const RunningJob& victim) const;
    // A pending job, in one of its partitions, with its priority there.
    struct Preemptor {
        JobIndex job;
        std::uint32_t partition;
        std::uint32_t priority;
    };
    bool may_preempt(const Preemptor& preemptor, const RunningJob& victim, Seconds now) const;
    // Those that a job may preempt, least important first: by tier or by priority of the QOS, then
    // by nodes; with preempt_youngest_first by start, the last first.
    std::vector<RunningJob> candidates(const Preemptor& preemptor,
                                       std::span<const RunningJob> running, Seconds now) const;

  private:
    bool outranks(const Preemptor& preemptor, const RunningJob& victim) const;
    std::uint32_t rank(const RunningJob& victim) const;

    const Settings& settings_;
    const Requests& requests_;
};

// How many QOS stand above each one in chains of who preempts whom.
std::vector<std::uint32_t> qos_ranks(const std::vector<Qos>& qos);

// The nodes that a job would get if these jobs were gone; nothing if it did not fit.
using FitsWithout = std::function<std::optional<NodeSet>(std::span<const JobIndex> gone)>;

// Takes candidates away one by one until the job fits, then again in an order that spares jobs
// which do not help: the last one taken first, then those with most nodes in common with what it
// would get (or in the same order as before, where that is strict), preempt_reorder_count + 1
// times. Returns those of the last round that are on the nodes it would get.
//
// select/linear has its own rules: it orders them once, by the nodes that they have in common with
// all that are `usable`.
std::optional<std::vector<JobIndex>> choose_victims(std::vector<RunningJob> candidates,
                                                    const FitsWithout& fits_without,
                                                    const Parameters& parameters,
                                                    const NodeSet* usable = nullptr);

} // namespace noctule::slurm
