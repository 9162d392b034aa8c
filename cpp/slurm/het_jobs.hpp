// Heterogeneous jobs: components that start together. Backfilling notes from when on each could
// start; one waits for the latest of the others, and once all could start now, they do.
#pragma once

#include "slurm/requests.hpp"

#include <map>
#include <optional>
#include <vector>

namespace noctule::slurm {

class HetJobs {
  public:
    explicit HetJobs(const Requests& requests);

    bool empty() const { return members_.empty(); }
    const std::vector<JobIndex>& members(std::uint32_t group) const { return members_.at(group); }

    // A pass begins: what was noted before is forgotten.
    void begin_pass() { dates_.clear(); }

    // From when on a component may start, by the dates of the others; 0 if none is known.
    Seconds earliest(JobIndex job) const;
    // When a component could start, in which partition; of several partitions the earliest counts.
    void note(JobIndex job, std::uint32_t partition, Seconds start);

    // When all of a group could start together; nothing if a component has no date.
    std::optional<Seconds> start(std::uint32_t group) const;
    std::uint32_t partition(JobIndex job) const {
        return dates_.at(requests_[job].het).at(job).partition;
    }
    void forget(std::uint32_t group) { dates_.erase(group); }
    std::vector<std::uint32_t> noted_groups() const;

  private:
    struct Date {
        Seconds start;
        std::uint32_t partition;
    };
    Seconds latest(std::uint32_t group, JobIndex other_than) const;

    const Requests& requests_;
    std::map<std::uint32_t, std::vector<JobIndex>> members_;
    std::map<std::uint32_t, std::map<JobIndex, Date>> dates_;
};

} // namespace noctule::slurm
