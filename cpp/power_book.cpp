#include "power_book.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace noctule {

namespace {

// Of a job that computes at this pace on one core.
double loaded_watts(const HostModel& model, std::uint32_t state, double pace) {
    const double speed = model.speeds[state] * model.cores;
    return model.watts[state].at(speed > 0 ? std::min(1.0, pace / speed) : 1.0);
}

} // namespace

PowerBook::PowerBook(std::shared_ptr<const MachinePlan> plan, std::uint32_t n_hosts)
    : plan_(std::move(plan)), ledger_(n_hosts, 0) {
    for (HostId host = 0; host < n_hosts; ++host) {
        states_.push_back(model(host).state);
        watts_.add(watts(host));
        least_watts_ += least_watts_of(host);
        note(host);
    }
    const std::span<const std::uint32_t> models(plan_->model_of.data(), n_hosts);
    is_uniform_ = n_hosts > 0 &&
                  std::ranges::all_of(models, [&](std::uint32_t m) { return m == models.front(); });
    if (is_uniform_) {
        const HostModel& kind = model(0);
        const std::uint32_t state = computing_state(kind);
        uniform_pace_ = kind.speeds[state];
        uniform_ = {kind.watts[state].idle, loaded_watts(kind, state, uniform_pace_)};
    }
}

void PowerBook::Sum::add(double change) {
    const double sum = value + change;
    error += std::abs(value) >= std::abs(change) ? (value - sum) + change : (change - sum) + value;
    value = sum;
}

void PowerBook::add_watts(double change) {
    if (now_ > since_) {
        joules_ += watts_.get() * (now_ - since_);
        since_ = now_;
    }
    watts_.add(change);
}

Spending PowerBook::spending(HostId host) const {
    const StateKind kind = model(host).kinds[states_[host]];
    return is_off(host)                   ? Spending::sleeping
           : kind == StateKind::sleeping  ? Spending::sleeping
           : kind == StateKind::switching ? Spending::switching
                                          : Spending::idle;
}

// A core of a host that switches is at work.
double PowerBook::watts(HostId host) const {
    const HostModel& kind = model(host);
    if (is_off(host)) {
        return kind.watts_off;
    }
    const bool switches = kind.kinds[states_[host]] == StateKind::switching;
    return kind.watts[states_[host]].at(switches ? 1.0 / kind.cores : 0.0);
}

void PowerBook::note(HostId host) {
    if (tracks_loads() && paces_[host] > 0) {
        ledger_.set(host, now_, loaded_watts(model(host), states_[host], paces_[host]),
                    Spending::computing);
    } else {
        ledger_.set(host, now_, watts(host), spending(host));
    }
}

template <typename Change> void PowerBook::change(HostId host, Change&& apply) {
    const double before = watts(host);
    least_watts_ -= least_watts_of(host);
    apply();
    add_watts(watts(host) - before);
    least_watts_ += least_watts_of(host);
    note(host);
}

void PowerBook::set_state(HostId host, std::uint32_t state) {
    change(host, [&] { states_[host] = state; });
    const HostModel& kind = model(host);
    is_uniform_ &= kind.kinds[state] != StateKind::computing || state == computing_state(kind);
}

void PowerBook::switch_state(HostId host, std::uint32_t through, std::uint32_t state, double end) {
    set_state(host, through);
    for (const Begun& begun : begun_) {
        Switch& known = switches_[begun.group];
        if (known.end == end && known.state == state &&
            known.hosts.intervals().back().last < host) {
            known.hosts.append({host, host});
            return;
        }
    }
    auto group = static_cast<Group>(switches_.size());
    if (spare_.empty()) {
        switches_.emplace_back();
    } else {
        group = spare_.back();
        spare_.pop_back();
    }
    switches_[group] = {end, state, HostSet::from_intervals({{host, host}})};
    begun_.push_back({end, group});
}

HostSet PowerBook::end_switch(Group group) {
    const Switch ended = std::exchange(switches_[group], {});
    spare_.push_back(group);
    for (const Interval& run : ended.hosts.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            set_state(host, ended.state);
        }
    }
    return ended.hosts;
}

std::uint32_t PowerBook::awake_state(HostId host) const {
    const HostModel& kind = model(host);
    const std::uint32_t state = states_[host];
    return kind.kinds[state] == StateKind::computing ? state : computing_state(kind);
}

bool PowerBook::set_on(HostId host, bool is_on) {
    off_.resize(states_.size(), 0);
    change(host, [&] { off_[host] = is_on ? 0 : 1; });
    for (Switch& one : switches_) {
        if (one.hosts.contains(host)) {
            one.hosts = one.hosts.without(HostSet::from_intervals({{host, host}}));
            return true;
        }
    }
    return false;
}

double PowerBook::pace(Interval hosts) const {
    double slowest = infinity;
    for (HostId host = hosts.first; host <= hosts.last; ++host) {
        slowest = std::min(slowest, model(host).speeds[awake_state(host)]);
    }
    return slowest;
}

Draw PowerBook::draw(Interval hosts, double pace) const {
    Draw sum;
    for (HostId host = hosts.first; host <= hosts.last; ++host) {
        const std::uint32_t state = awake_state(host);
        sum.idle += model(host).watts[state].idle;
        sum.computing += loaded_watts(model(host), state, pace);
    }
    return sum;
}

void PowerBook::track_loads(const std::vector<Joules>& by_jobs) {
    paces_.resize(states_.size(), 0.0);
    for (HostId host = 0; host < by_jobs.size(); ++host) {
        ledger_.add(host, by_jobs[host]);
    }
}

void PowerBook::set_pace(HostId host, double pace) {
    paces_[host] = pace;
    note(host);
}

} // namespace noctule
