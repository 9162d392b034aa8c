// The plain structs that every unit of the core speaks of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace noctule {

using JobIndex = std::uint32_t;
using HostId = std::uint32_t;

inline constexpr JobIndex no_job = std::numeric_limits<JobIndex>::max();
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_time = std::numeric_limits<double>::quiet_NaN();

// What a job does once started. Delays and computations are alone on their hosts: one timer each.
// All else is a program (program.hpp), or something that no run can do.
enum class ProfileKind : std::uint8_t { delay, compute, program, unsupported };

struct Job {
    double submit_time;
    double walltime; // infinite if the user asked for none
    double amount;   // seconds of a delay, work per host of a computation, 0 of a program
    std::uint32_t n_hosts;
    ProfileKind kind;
    bool failing; // ends with a non-zero return code
};

enum class JobState : std::uint8_t {
    waiting,
    running,
    completed,
    timed_out,
    killed,
    failed,
    rejected,
    cancelled,
    pending, // not yet submitted; never recorded
};

enum class EventKind : std::uint8_t {
    simulation_started,
    job_finished,
    hosts_released,
    job_cancelled,
    job_submitted,
    timer_fired,
    message_sent,        // by a job; the subject is a message
    power_state_changed, // the subject is a request
    host_failed,
    host_restored,
    hosts_unavailable, // the subject is an external event
    hosts_available,
    external_event_occurred,
    external_events_ended,
    submissions_ended,
    jobs_killed,      // the subject is a group of them
    energy_answered,  // the subject is an answer
    window_announced, // the subject is a window
    window_began,
    window_ended,
};

// What a host does about power; only an awake one runs jobs.
enum class HostPhase : std::uint8_t { awake, switching_off, asleep, switching_on, failed };
inline constexpr std::size_t n_host_phases = 5;

using TimerTag = std::uint32_t;

struct Event {
    double time;
    std::uint32_t subject; // a job, or what the kind says: the tag of a timer, a host...
    EventKind kind;
};

// How hosts are chosen for a job whose policy does not name them.
enum class Allocation : std::uint8_t {
    first,
    best_effort_contiguous,
    contiguous,
    best_effort_local,
    local,
};

} // namespace noctule
