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
    if (has_energy) {
        energy.reserve(n_jobs);
        energy_time.reserve(2 * n_jobs);
        energy_why.reserve(2 * n_jobs);
        power_time.reserve(2 * n_jobs);
        power_watts.reserve(2 * n_jobs);
    }
}

void Record::add_host_states(double time, const HostCounts& counts) {
    if (has_power_states) {
        asleep_.note(host_state_time.size(),
                     {counts.sleeping, counts.switching_on, counts.switching_off});
    }
    add_host_states(time, counts.idle, counts.computing);
    if (has_unavailability) {
        host_state_unavailable.push_back(counts.unavailable);
    }
    if (has_failures) {
        host_state_failed.push_back(counts.failed);
    }
}

void Record::add_energy(const EnergyRow& row) {
    least_watts_.note(energy_time.size(), row.least_watts);
    if (has_bills) {
        billed_joules_.push_back(row.joules);
    }
    energy_time.push_back(row.time);
    energy_why.push_back(static_cast<std::uint8_t>(row.why));
}

void Record::add_power_state(double time, const HostSet& hosts, std::int32_t value) {
    power_state_time.push_back(time);
    power_state_value.push_back(value);
    power_state_hosts.push_back(hosts);
}

template <typename T>
template <typename Of>
auto Record::Steps<T>::column(std::size_t n_rows, Of of) const {
    std::vector<decltype(of(steps_.front().value))> values;
    values.reserve(n_rows);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const std::size_t end = i + 1 < steps_.size() ? steps_[i + 1].row : n_rows;
        values.resize(end, of(steps_[i].value));
    }
    return values;
}

std::vector<std::uint32_t> Record::host_state_sleeping() const {
    return asleep_.column(host_state_time.size(), [](const Asleep& now) { return now.sleeping; });
}

std::vector<std::uint32_t> Record::host_state_switching_on() const {
    return asleep_.column(host_state_time.size(),
                          [](const Asleep& now) { return now.switching_on; });
}

std::vector<std::uint32_t> Record::host_state_switching_off() const {
    return asleep_.column(host_state_time.size(),
                          [](const Asleep& now) { return now.switching_off; });
}

std::vector<double> Record::energy_least_watts() const {
    return least_watts_.column(energy_time.size(), [](double watts) { return watts; });
}

std::vector<double> Record::energy_joules() const {
    if (has_bills) {
        return billed_joules_;
    }
    std::vector<double> joules;
    joules.reserve(energy_time.size());
    double before = 0.0;  // up to the present step
    std::size_t step = 0; // of power
    for (const double time : energy_time) {
        for (; step + 1 < power_time.size() && power_time[step + 1] <= time; ++step) {
            before += power_watts[step] * (power_time[step + 1] - power_time[step]);
        }
        joules.push_back(
            power_time.empty() ? 0.0 : before + power_watts[step] * (time - power_time[step]));
    }
    return joules;
}

HostSet Record::hosts(std::size_t row) const {
    HostSet set;
    if (!std::isnan(start_time[row])) {
        archive.for_each(archived[row], [&](Interval run) { set.append(run); });
    }
    return set;
}

} // namespace noctule
