// The jobs of a workload, in order of submission: shared by runs and never changed by them.
#pragma once

#include "types.hpp"

#include <optional>
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

    std::string id(JobIndex job) const;
    double cancel_time(JobIndex job) const;
    double launch_delay(JobIndex job) const;
    double epilogue_delay(JobIndex job) const;

    // A job that waits for itself through others, if there is one.
    std::optional<JobIndex> dependency_cycle() const;
};

} // namespace noctule
