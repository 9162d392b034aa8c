#include "recorder.hpp"

#include <cmath>

namespace noctule {

void Record::reserve(std::size_t n_jobs) {
    job.reserve(n_jobs);
    state.reserve(n_jobs);
    n_hosts.reserve(n_jobs);
    submit_time.reserve(n_jobs);
    start_time.reserve(n_jobs);
    finish_time.reserve(n_jobs);
    archived.reserve(n_jobs);
    host_state_time.reserve(2 * n_jobs);
    host_state_idle.reserve(2 * n_jobs);
    host_state_computing.reserve(2 * n_jobs);
}

void Record::add_job(const JobRow& row) {
    job.push_back(row.job);
    state.push_back(row.state);
    n_hosts.push_back(row.n_hosts);
    submit_time.push_back(row.submit_time);
    start_time.push_back(row.start_time);
    finish_time.push_back(row.finish_time);
    archived.push_back(row.hosts);
}

void Record::add_host_states(double time, std::uint32_t n_idle, std::uint32_t n_computing) {
    host_state_time.push_back(time);
    host_state_idle.push_back(n_idle);
    host_state_computing.push_back(n_computing);
}

HostSet Record::hosts(std::size_t row) const {
    HostSet set;
    if (!std::isnan(start_time[row])) {
        archive.for_each(archived[row], n_hosts[row], [&](Interval run) { set.append(run); });
    }
    return set;
}

} // namespace noctule
