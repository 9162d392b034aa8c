// What a policy may decide, as the engine keeps it until it takes effect.
#pragma once

#include "host_set.hpp"
#include "program.hpp"

#include <map>
#include <string>
#include <vector>

namespace noctule {

// How a policy lays a job out on the hosts that it names.
struct Layout {
    std::vector<std::uint32_t> mapping = {}; // position of each executor's host; empty: as named
    std::map<std::string, HostId> storages = {}; // by label
    ProgramIndex program = no_program;           // that runs instead of the job's own
};

struct Decision {
    enum class Kind : std::uint8_t {
        start,
        reject,
        kill, // several jobs
        requeue,
        change_state,
        set_metadata,
        set_power_state,
        send_message,
        ask_energy,
        call,
        cancel_call,
        submit, // a job that was registered
        finish_registration,
        continue_registration,
        nothing, // but a message
    };
    Kind kind;
    Allocation allocation = Allocation::first;
    JobIndex job = no_job;
    bool named_hosts = false;
    HostSet hosts = {};
    Layout layout = {};
    std::uint32_t state = 0; // of power, or of a job
    std::string text = {};
    std::vector<JobIndex> jobs = {}; // to kill
    double time = 0.0;               // of a call
    double launch_delay = 0.0;       // of a start, beside those of the job and the run
    TimerTag tag = 0;
};

} // namespace noctule
