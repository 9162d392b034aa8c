// Append-only columns of what happened, handed to Python without copying.
#pragma once

#include "host_archive.hpp"
#include "plain_array.hpp"
#include "types.hpp"

#include <map>
#include <string>
#include <vector>

namespace noctule {

struct JobRow {
    JobIndex job;
    JobState state;
    std::uint32_t n_hosts; // held, or asked before the start
    double submit_time;
    double start_time = not_a_time;
    double finish_time = not_a_time;
    ArchivedHosts hosts = {};
    double joules = not_a_time; // of its hosts while it ran
    double useful_time = not_a_time;
    double suspended_time = 0.0;
};

struct HostCounts {
    std::uint32_t idle = 0;
    std::uint32_t computing = 0;
    std::uint32_t sleeping = 0;
    std::uint32_t switching_on = 0;
    std::uint32_t switching_off = 0;
    std::uint32_t failed = 0;
    std::uint32_t unavailable = 0; // whatever else they are
};

// Energy of all hosts at an event: a start (s) or an end (e) of a job, or a change of power (p).
struct EnergyRow {
    double time;
    double joules;
    double least_watts; // of the present power states, with hardly any load
    char why;
};

class Record {
  public:
    void reserve(std::size_t n_jobs);

    // Rows come in the order in which jobs end, are rejected or are cancelled.
    void add_job(const JobRow& row) {
        job.push_back(row.job);
        state.push_back(row.state);
        n_hosts.push_back(row.n_hosts);
        submit_time.push_back(row.submit_time);
        start_time.push_back(row.start_time);
        finish_time.push_back(row.finish_time);
        archived.push_back(row.hosts);
        if (has_energy) {
            energy.push_back(row.joules);
        }
        if (has_attempts) {
            useful_time.push_back(row.useful_time);
        }
        if (has_suspensions) {
            suspended_time.push_back(row.suspended_time);
        }
    }

    // A row for every change of the hosts; the shorter one where they only compute or are idle.
    bool tells_phases() const { return has_power_states || has_unavailability || has_failures; }
    void add_host_states(double time, const HostCounts& counts);
    void add_host_states(double time, std::uint32_t idle, std::uint32_t computing) {
        host_state_time.push_back(time);
        host_state_idle.push_back(idle);
        host_state_computing.push_back(computing);
    }
    void add_energy(const EnergyRow& row);
    void add_power_state(double time, const HostSet& hosts, std::int32_t value);

    std::size_t size() const { return job.size(); }
    HostSet hosts(std::size_t row) const;

    PlainArray<JobIndex> job;
    PlainArray<JobState> state;
    PlainArray<std::uint32_t> n_hosts;
    PlainArray<double> submit_time;
    PlainArray<double> start_time;
    PlainArray<double> finish_time;
    PlainArray<ArchivedHosts> archived;
    HostArchive archive;

    PlainArray<double> host_state_time;
    PlainArray<std::uint32_t> host_state_idle;
    PlainArray<std::uint32_t> host_state_computing;
    // Only where hosts have power states: by row of the above.
    bool has_power_states = false;
    std::vector<std::uint32_t> host_state_sleeping() const;
    std::vector<std::uint32_t> host_state_switching_on() const;
    std::vector<std::uint32_t> host_state_switching_off() const;
    // Only where there are external events or windows.
    bool has_unavailability = false;
    std::vector<std::uint32_t> host_state_unavailable;
    // Only where hosts fail by external events.
    bool has_failures = false;
    std::vector<std::uint32_t> host_state_failed;

    // Only where runs may be interrupted: seconds of each that were neither lost nor spent on
    // checkpoints, by row.
    bool has_attempts = false;
    std::vector<double> useful_time;

    // Only where jobs were suspended: seconds of each run in which it was, by row.
    bool has_suspensions = false;
    std::vector<double> suspended_time;

    // Only where energy is counted: joules of each job, by row; of all hosts, at events; watts of
    // all hosts, from each of the dates on.
    bool has_energy = false;
    bool has_bills = false; // joules of all hosts are not what power over time tells
    std::vector<double> energy;
    std::vector<double> energy_time;
    std::vector<double> energy_joules() const;
    std::vector<double> energy_least_watts() const;
    std::vector<std::uint8_t> energy_why;
    std::vector<double> power_time;
    std::vector<double> power_watts;

    // Changes of power states: -1 while hosts are switched on, -2 while they are switched off.
    std::vector<double> power_state_time;
    std::vector<std::int32_t> power_state_value;
    std::vector<HostSet> power_state_hosts;

    // What a policy has written down about jobs.
    std::map<JobIndex, std::string> metadata;

  private:
    // Values that seldom change: each with the first row that has it.
    template <typename T> class Steps {
      public:
        void note(std::size_t row, const T& value) {
            if (steps_.empty() || !(steps_.back().value == value)) {
                steps_.push_back({row, value});
            }
        }
        template <typename Of> auto column(std::size_t n_rows, Of of) const;

      private:
        struct Step {
            std::size_t row;
            T value;
        };
        std::vector<Step> steps_;
    };

    struct Asleep {
        std::uint32_t sleeping;
        std::uint32_t switching_on;
        std::uint32_t switching_off;

        bool operator==(const Asleep&) const = default;
    };

    Steps<Asleep> asleep_;
    Steps<double> least_watts_;
    std::vector<double> billed_joules_; // by row of the energy, where there are bills
};

} // namespace noctule
