// What accounting allows: limits of QOS and associations. Without any, everything.
#pragma once

#include "slurm/limit_check.hpp"
#include "slurm/priority.hpp"

namespace noctule::slurm {

class Limits {
  public:
    virtual ~Limits() = default;

    // Whether they let everything pass, whatever the date.
    virtual bool are_none() const { return true; }
    // Whether a job may be queued at all; otherwise it is refused at its submission.
    virtual bool may_submit(JobIndex, Seconds) { return true; }
    // Whether it may start in a partition as far as that does not depend on nodes.
    virtual bool allows(JobIndex, std::uint32_t /*partition*/, Seconds) { return true; }
    // Whether it may start with these.
    virtual bool allows(JobIndex, std::uint32_t /*partition*/, const Choice&, Seconds) {
        return true;
    }
    // Whether it may start with what it asks for, wherever that is.
    virtual bool allows_request(JobIndex, std::uint32_t /*partition*/, Seconds) { return true; }
    // Bounds of nodes and time within those of the request.
    virtual std::uint32_t max_nodes(JobIndex, std::uint32_t /*partition*/) const {
        return no_bound;
    }
    virtual Minutes max_time(JobIndex, std::uint32_t /*partition*/) const { return no_limit; }
    // Whether backfilling plans nothing for the job (NoReserve, MinPrioThres).
    virtual bool plans_nothing(JobIndex, std::uint32_t /*priority*/) const { return false; }

    // What held a job back when it was last tried; null if nothing did.
    virtual const BlockingLimit* blocked_by(JobIndex) const { return nullptr; }

    virtual void submit(JobIndex, Seconds) {}
    virtual void start(JobIndex, std::uint32_t /*partition*/, const Choice&, Seconds) {}
    virtual void end(JobIndex, Seconds) {}
};

} // namespace noctule::slurm
