// Licences over time in the plan of a backfill pass (bf_licenses): how many of each are left, in
// stretches that running and planned jobs make.
#pragma once

#include "slurm/requests.hpp"

#include <optional>
#include <span>
#include <vector>

namespace noctule::slurm {

class LicensePlan {
  public:
    // One stretch in which nobody has any.
    void reset(Seconds begin, Seconds end, std::span<const License> licenses);

    // A job has its licences from begin to end, of which the plan's own begin is the least.
    void take(const Request& request, Seconds begin, Seconds end);

    struct Lack {
        std::uint32_t license;
        Seconds until; // the end of the last stretch that has too few
    };
    // What is missing for a job from start to end; a stretch that begins exactly at the end counts.
    std::optional<Lack> lack(const Request& request, Seconds start, Seconds end) const;

  private:
    struct Stretch {
        Seconds begin;
        Seconds end;
        std::vector<std::uint32_t> left; // by licence
    };
    void split_at(Seconds date);

    std::vector<Stretch> stretches_;
};

} // namespace noctule::slurm
