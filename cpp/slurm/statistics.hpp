// What `sdiag` tells: how often the schedulers ran and what they did.
#pragma once

#include "slurm/settings.hpp"

#include <vector>

namespace noctule::slurm {

enum class PassKind : std::uint8_t { quick, full, backfill };

struct PassRecord {
    double time;
    PassKind kind;
    std::uint32_t n_queued; // jobs
    std::uint32_t n_tested;
    std::uint32_t n_started;
    double seconds; // that it took, by the cost model
};

struct PassTotals {
    std::uint64_t n_passes = 0;
    std::uint64_t n_queued = 0; // summed over passes
    std::uint64_t n_tested = 0;
    std::uint64_t n_started = 0;
    std::uint32_t longest_queue = 0;
    double seconds = 0.0;
    double longest = 0.0;

    void add(const PassRecord& pass) {
        ++n_passes;
        n_queued += pass.n_queued;
        n_tested += pass.n_tested;
        n_started += pass.n_started;
        longest_queue = pass.n_queued > longest_queue ? pass.n_queued : longest_queue;
        seconds += pass.seconds;
        longest = pass.seconds > longest ? pass.seconds : longest;
    }
};

struct Statistics {
    PassTotals quick, full, backfill;
    std::uint64_t n_yields = 0;
    std::uint64_t n_abandoned = 0; // backfill passes given up after a yield, or out of time
    std::uint64_t n_timed_out = 0; // jobs killed at their limits
    std::uint64_t n_preempted = 0; // jobs cancelled or requeued for others
    std::uint64_t n_suspended = 0; // times that a job was
    bool keeps_passes = false;
    std::vector<PassRecord> passes = {}; // where somebody asked for them

    void add(const PassRecord& pass) {
        (pass.kind == PassKind::quick  ? quick
         : pass.kind == PassKind::full ? full
                                       : backfill)
            .add(pass);
        if (keeps_passes) {
            passes.push_back(pass);
        }
    }
};

} // namespace noctule::slurm
