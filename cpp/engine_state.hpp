// What the engine remembers of single jobs, of jobs in one state and of calls that were asked for.

#pragma once

#include "host_archive.hpp"
#include "plain_array.hpp"
#include "types.hpp"

#include <cstddef>
#include <cstdint>

namespace noctule::engine_state {

// What the engine remembers of a job.
struct Status {
    double start_time = not_a_time;
    ArchivedHosts hosts = {};
    std::uint32_t submission = 0;
    JobState state = JobState::pending;
    JobState outcome = JobState::completed; // of a running job, at its end event
    bool has_release = false;               // its release is entered
};

// Jobs in the order in which they entered a state. Those that have left it stay until there
// are as many of them as others: leaving touches nothing.
struct Line {
    JobState state;
    PlainArray<JobIndex> jobs = {};
    std::size_t size = 0;
    std::size_t n_looked_at = 0;  // by releases()
    mutable std::size_t head = 0; // all jobs before it have left
};

struct Call {
    TimerTag tag;
    bool live;
};

// Of a running job whose pace was changed: joules and flops left at a date, and its end.
struct Changed {
    double since;
    double flops; // of each host
    double joules = 0.0;
    double end = not_a_time;
};

struct Suspension {
    double since = not_a_time; // not a time while the job runs
    double total = 0.0;        // before that
};

} // namespace noctule::engine_state
