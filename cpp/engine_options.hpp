// What a run is told before it begins.
#pragma once

#include "execution.hpp"
#include "power_book.hpp"
#include "types.hpp"
#include "windows.hpp"

#include <memory>
#include <set>
#include <vector>

namespace noctule {

// What becomes of jobs that a failure or a maintenance has ended, and what they do about it.
struct AttemptOptions {
    bool resubmit = false;
    std::uint32_t max_attempts = std::numeric_limits<std::uint32_t>::max();
    double checkpoint_every = infinity; // seconds of work
    double checkpoint_cost = 0.0;
    double restart_cost = 0.0; // of every attempt but the first
    // How often a job that was killed is submitted again by its user.
    std::uint32_t resubmit_killed = 0;
    std::set<JobIndex> only_once = {}; // jobs that a failure ends, though others are tried again

    bool lengthen_runs() const { return checkpoint_every != infinity || restart_cost > 0; }
};

struct Options {
    double speed = 1.0;                     // of every host, unless each has its own
    std::vector<double> speeds = {};        // by host; empty if they are all the same
    std::vector<std::uint32_t> groups = {}; // by host: which lie close together; empty if all do
    double reference_speed = 1.0;           // what a unit of a computation's amount stands for
    bool enforce_walltime = true;
    bool reject_oversized = true; // jobs that can never fit are refused on submission
    bool wait_for_timers = false; // calls asked by the policy keep the run alive
    double launch_delay = 0.0;    // added to each job's own
    double epilogue_delay = 0.0;
    double until = infinity;
    bool share_hosts = false;           // hosts that a policy names may run other jobs
    bool share_storages = true;         // the same of storages
    bool wake_for_jobs = false;         // hosts that sleep or switch are free, and jobs wake them
    bool batsim_events = false;         // tell what Batsim tells, and take what it takes
    bool open_registration = false;     // the run goes on until the policy registers no more jobs
    bool acknowledge_registered = true; // tell when jobs of the policy are submitted
    AttemptOptions attempts = {};
    std::vector<TimeWindow> windows = {};
    std::vector<WindowIndex> reservations = {}; // by job; empty if none has one
};

// The machine that jobs run on, where one timer a job is not enough; or a book of their hosts'
// power, where it is.
struct MachineParts {
    std::unique_ptr<Machine> machine = nullptr;
    std::unique_ptr<PowerBook> book = nullptr;
    std::vector<HostId> storages = {};
    ExecutionOptions execution = {};
    bool has_latency = false; // Batsim's own, for which the last host is the master
};

} // namespace noctule
