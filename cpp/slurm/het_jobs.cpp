#include "slurm/het_jobs.hpp"

#include <algorithm>

namespace noctule::slurm {

HetJobs::HetJobs(const Requests& requests) : requests_(requests) {
    for (JobIndex job = 0; job < requests.size(); ++job) {
        if (requests[job].het != none) {
            members_[requests[job].het].push_back(job);
        }
    }
}

Seconds HetJobs::latest(std::uint32_t group, JobIndex other_than) const {
    Seconds latest = 0;
    if (const auto found = dates_.find(group); found != dates_.end()) {
        for (const auto& [job, date] : found->second) {
            latest = job == other_than ? latest : std::max(latest, date.start);
        }
    }
    return latest;
}

Seconds HetJobs::earliest(JobIndex job) const {
    return requests_[job].het == none ? 0 : latest(requests_[job].het, job);
}

void HetJobs::note(JobIndex job, std::uint32_t partition, Seconds start) {
    const auto [at, is_new] = dates_[requests_[job].het].try_emplace(job, Date{start, partition});
    if (!is_new && start < at->second.start) {
        at->second = {start, partition};
    }
}

std::optional<Seconds> HetJobs::start(std::uint32_t group) const {
    const auto found = dates_.find(group);
    const bool all_noted =
        found != dates_.end() && found->second.size() == members_.at(group).size();
    return all_noted ? std::optional(latest(group, no_job)) : std::nullopt;
}

std::vector<std::uint32_t> HetJobs::noted_groups() const {
    std::vector<std::uint32_t> groups;
    for (const auto& [group, dates] : dates_) {
        groups.push_back(group);
    }
    return groups;
}

} // namespace noctule::slurm
