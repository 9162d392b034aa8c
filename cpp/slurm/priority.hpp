// Who comes first: a number for each pending job, larger ones first.
#pragma once

#include "slurm/select.hpp"

namespace noctule::slurm {

class Priority {
  public:
    virtual ~Priority() = default;

    // A job is submitted (or requeued): its priority in each of its partitions from now on.
    virtual void submit(JobIndex job, Seconds now) = 0;
    virtual std::uint32_t of(JobIndex job, std::size_t partition_position) const = 0;

    // A job became eligible: it ages from now on.
    virtual void become_eligible(JobIndex, Seconds) {}
    // A scheduler has tested the job on so many CPUs (the size factor's quirk).
    virtual void tested(JobIndex, std::uint32_t) {}
    virtual bool follows_tests() const { return true; } // otherwise nobody tells
    virtual void start(JobIndex, Seconds, const Choice&) {}
    virtual void end(JobIndex, Seconds) {}

    // When priorities are computed afresh next; nothing if they never are. `recompute` says
    // whether any has changed.
    virtual std::optional<double> next_recomputation() const { return std::nullopt; }
    virtual bool recompute(double) { return false; }
};

std::unique_ptr<Priority> make_priority_basic(const Requests& requests);

} // namespace noctule::slurm
