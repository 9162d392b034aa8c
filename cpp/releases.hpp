// When running jobs are expected to give their hosts back: start + walltime, sorted.
//
// Chunks of bounded size with their sums keep an insertion short with 10^5 running jobs, and a
// search from walking over all of them; with few jobs it is one sorted vector.
#pragma once

#include "types.hpp"

#include <cstddef>
#include <vector>

namespace noctule {

struct Release {
    double time;
    JobIndex job;
    std::uint32_t n_hosts;

    bool operator<(const Release& other) const {
        return time != other.time ? time < other.time : job < other.job;
    }
};

// The first instant at which a job fits, and the hosts it would leave free then.
struct Shadow {
    double time;
    std::uint32_t extra;
};

class Releases {
  public:
    void add(const Release& release);
    void remove(double time, JobIndex job);
    bool empty() const { return chunks_.empty() || chunks_.front().releases.empty(); }

    // For a job that needs more hosts than the `n_free` of now. Releases whose date has passed
    // (hosts in an epilogue, jobs nobody stops at their walltime) count as due now. Every release
    // dated no later than the shadow counts in `extra`.
    Shadow shadow(double now, std::uint32_t n_free, std::uint32_t needed) const;

    std::uint64_t n_hosts() const; // held by all jobs

    template <typename Visit> void for_each(Visit&& visit) const {
        for (const Chunk& chunk : chunks_) {
            for (const Release& release : chunk.releases) {
                visit(release);
            }
        }
    }

  private:
    struct Chunk {
        std::vector<Release> releases; // never empty, but for an only chunk
        std::uint64_t n_hosts = 0;
    };

    // The first chunk whose last release is not before this one; the end if there is none.
    std::size_t chunk_of(const Release& release) const;

    std::vector<Chunk> chunks_;
};

} // namespace noctule
