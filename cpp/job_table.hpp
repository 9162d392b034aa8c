// The jobs of a workload, in order of submission: shared by runs and never changed by them.
#pragma once

#include "program.hpp"
#include "types.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace noctule {

struct Dependency {
    JobIndex job; // submitted once `on` has ended and `think_time` has passed
    JobIndex on;
    double think_time;
};

struct JobTable {
    std::vector<Job> jobs;

    // Ids as the user knows them: the first jobs' are numbers, the others' names.
    std::vector<std::int64_t> numbers;
    std::vector<std::string> names;

    // What few workloads have; empty if none of the jobs has it.
    std::vector<double> cancel_times;
    std::vector<double> launch_delays;
    std::vector<double> epilogue_delays;
    std::vector<Dependency> dependencies;

    // Of jobs whose kind is program: by job, into the table.
    std::vector<ProgramIndex> program_indices;
    std::shared_ptr<const ProgramTable> programs;
    // Where a job says so: the position, among its hosts, of that of each rank of its traces.
    std::map<JobIndex, std::vector<std::uint32_t>> rank_hosts;

    std::string id(JobIndex job) const;
    double cancel_time(JobIndex job) const {
        return job < cancel_times.size() ? cancel_times[job] : infinity;
    }
    double launch_delay(JobIndex job) const {
        return job < launch_delays.size() ? launch_delays[job] : 0.0;
    }
    double epilogue_delay(JobIndex job) const {
        return job < epilogue_delays.size() ? epilogue_delays[job] : 0.0;
    }
    ProgramIndex program_index(JobIndex job) const; // no_program if it is of another kind
    const Program* program(JobIndex job) const;     // the same, or null
    std::span<const std::uint32_t> ranks_of(JobIndex job) const; // empty if they go round

    // A job that waits for itself through others, if there is one.
    std::optional<JobIndex> dependency_cycle() const;
};

} // namespace noctule
