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
    if (has_energy) {
        energy.push_back(row.joules);
    }
    if (has_attempts) {
        useful_time.push_back(row.useful_time);
    }
}

void Record::add_host_states(double time, const HostCounts& counts) {
    host_state_time.push_back(time);
    host_state_idle.push_back(counts.idle);
    host_state_computing.push_back(counts.computing);
    if (has_power_states) {
        host_state_sleeping.push_back(counts.sleeping);
        host_state_switching_on.push_back(counts.switching_on);
        host_state_switching_off.push_back(counts.switching_off);
    }
    if (has_unavailability) {
        host_state_unavailable.push_back(counts.unavailable);
    }
    if (has_failures) {
        host_state_failed.push_back(counts.failed);
    }
}

void Record::add_energy(const EnergyRow& row) {
    energy_time.push_back(row.time);
    energy_joules.push_back(row.joules);
    energy_least_watts.push_back(row.least_watts);
    energy_why.push_back(static_cast<std::uint8_t>(row.why));
}

void Record::add_power_state(double time, const HostSet& hosts, std::int32_t value) {
    power_state_time.push_back(time);
    power_state_value.push_back(value);
    power_state_hosts.push_back(hosts);
}

HostSet Record::hosts(std::size_t row) const {
    HostSet set;
    if (!std::isnan(start_time[row])) {
        archive.for_each(archived[row], [&](Interval run) { set.append(run); });
    }
    return set;
}

} // namespace noctule
