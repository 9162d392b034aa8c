#include "slurm/het_jobs.hpp"

#include <algorithm>

namespace noctule::slurm {

namespace {

constexpr Seconds a_year = 365 * 86400;

} // namespace

HetJobs::HetJobs(const Requests& requests) : requests_(requests) {
    for (JobIndex job = 0; job < requests.size(); ++job) {
        if (requests[job].het != none) {
            members_[requests[job].het].push_back(job);
        }
    }
}

void HetJobs::begin_pass() {
    if (n_passes_++ % 2 == 0) {
        previous_.clear();
        dates_.clear();
    }
}

Seconds HetJobs::latest(std::uint32_t group, JobIndex other_than) const {
    const auto before = previous_.find(group);
    Seconds latest = before == previous_.end() ? 0 : before->second;
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

std::optional<Seconds> HetJobs::start(std::uint32_t group) {
    if (dates_[group].size() < members_.at(group).size()) {
        return std::nullopt;
    }
    return previous_[group] = latest(group, no_job);
}

void HetJobs::give_up(std::uint32_t group, Seconds now) { previous_[group] = now + a_year; }

std::vector<std::uint32_t> HetJobs::noted_groups() const {
    std::vector<std::uint32_t> groups;
    for (const auto& [group, dates] : dates_) {
        groups.push_back(group);
    }
    return groups;
}

} // namespace noctule::slurm
