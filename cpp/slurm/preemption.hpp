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
    bool may_preempt(JobIndex job, std::uint32_t partition, const RunningJob& victim,
                     Seconds now) const;
    // Those that a job may preempt, least important first: by tier or by priority of the QOS, then
    // by nodes; with preempt_youngest_first by start, the last first.
    std::vector<RunningJob> candidates(JobIndex job, std::uint32_t partition,
                                       std::span<const RunningJob> running, Seconds now) const;

  private:
    std::uint32_t rank(const RunningJob& victim) const;

    const Settings& settings_;
    const Requests& requests_;
};

// The nodes that a job would get if these jobs were gone; nothing if it did not fit.
using FitsWithout = std::function<std::optional<NodeSet>(std::span<const JobIndex> gone)>;

// Takes candidates away one by one until the job fits, then again in an order that spares jobs
// which do not help: the last one taken first, then those with most nodes in common with what it
// would get (or in the same order as before, where that is strict), preempt_reorder_count + 1
// times. Returns those of the last round that are on the nodes it would get.
std::optional<std::vector<JobIndex>> choose_victims(std::vector<RunningJob> candidates,
                                                    const FitsWithout& fits_without,
                                                    const Parameters& parameters);

} // namespace noctule::slurm
