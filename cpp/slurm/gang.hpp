// Gang scheduling: jobs that were given the same cores or nodes take turns.
//
// A job runs if none of its hosts is in use by a job of a higher rank that runs, nor by one of its
// own partition that came before it. Ranks are those of preemption: tiers of partitions, or QOS.
// With each slice of time, those that ran go behind those that did not.
#pragma once

#include "slurm/preemption.hpp"

#include <vector>

namespace noctule::slurm {

class Gang {
  public:
    // Both must outlive it.
    Gang(const Settings& settings, const Requests& requests);

    struct Changes {
        std::vector<JobIndex> stop;
        std::vector<JobIndex> go;
    };

    // A job that has started.
    Changes add(JobIndex job, std::uint32_t partition, const HostSet& hosts);
    // One that has ended.
    Changes remove(JobIndex job);
    // A slice of time is over.
    Changes slice();
    bool has_waiting() const;

  private:
    struct Member {
        JobIndex job;
        std::uint32_t partition;
        std::uint32_t rank; // lower ones go first
        NodeSet hosts;      // bits are hosts of the platform
        bool runs;          // as the engine was told
        bool has_turn;
    };

    std::uint32_t rank(JobIndex job, std::uint32_t partition) const;
    Changes settle();

    const Settings& settings_;
    const Requests& requests_;
    std::uint32_t n_hosts_ = 0;
    std::vector<std::uint32_t> qos_ranks_;
    std::vector<Member> members_;
};

} // namespace noctule::slurm
