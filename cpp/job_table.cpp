#include "job_table.hpp"

namespace noctule {

std::string JobTable::id(JobIndex job) const {
    return job < numbers.size() ? std::to_string(numbers[job]) : names[job - numbers.size()];
}

ProgramIndex JobTable::program_index(JobIndex job) const {
    return job < program_indices.size() ? program_indices[job] : no_program;
}

const Program* JobTable::program(JobIndex job) const {
    const ProgramIndex index = program_index(job);
    return index == no_program ? nullptr : &(*programs)[index];
}

std::span<const std::uint32_t> JobTable::ranks_of(JobIndex job) const {
    const auto found = rank_hosts.find(job);
    return found == rank_hosts.end() ? std::span<const std::uint32_t>() : found->second;
}

std::optional<JobIndex> JobTable::dependency_cycle() const {
    std::vector<std::uint32_t> left(jobs.size(), 0);
    std::vector<std::vector<JobIndex>> dependents(jobs.size());
    for (const Dependency& dependency : dependencies) {
        ++left[dependency.job];
        dependents[dependency.on].push_back(dependency.job);
    }
    std::vector<JobIndex> ready;
    for (JobIndex job = 0; job < jobs.size(); ++job) {
        if (left[job] == 0) {
            ready.push_back(job);
        }
    }
    while (!ready.empty()) {
        const JobIndex done = ready.back();
        ready.pop_back();
        for (const JobIndex job : dependents[done]) {
            if (--left[job] == 0) {
                ready.push_back(job);
            }
        }
    }
    for (JobIndex job = 0; job < jobs.size(); ++job) {
        if (left[job] > 0) {
            return job;
        }
    }
    return std::nullopt;
}

} // namespace noctule
