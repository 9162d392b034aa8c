#include "power.hpp"

#include <algorithm>

namespace noctule {

namespace {

std::uint32_t first_computing(const HostModel& model) {
    const auto first = std::ranges::find(model.kinds, StateKind::computing);
    return static_cast<std::uint32_t>(first - model.kinds.begin());
}

} // namespace

std::uint32_t computing_state(const HostModel& model) {
    return model.kinds[model.state] == StateKind::computing ? model.state : first_computing(model);
}

PowerControl::PowerControl(PoweredHosts& hosts, FreePool& free)
    : hosts_(hosts), free_(free), phases_(free.n_hosts(), HostPhase::awake), awake_(free.n_hosts()),
      switch_ends_(free.n_hosts(), 0.0), to_wake_(free.n_hosts(), 0),
      request_of_(free.n_hosts(), 0) {
    counts_[static_cast<std::size_t>(HostPhase::awake)] = free.n_hosts();
    for (HostId host = 0; host < free.n_hosts(); ++host) {
        if (kind(host, hosts.state(host)) == StateKind::sleeping) {
            set_phase(host, HostPhase::asleep);
        }
    }
}

void PowerControl::set_phase(HostId host, HostPhase phase) {
    const HostPhase before = std::exchange(phases_[host], phase);
    if (before == phase) {
        return;
    }
    --counts_[static_cast<std::size_t>(before)];
    ++counts_[static_cast<std::size_t>(phase)];
    if (before == HostPhase::awake) {
        awake_.take({host, host});
    } else if (phase == HostPhase::awake) {
        awake_.give({host, host});
    }
    free_.change(host, before, phase);
}

std::string PowerControl::obstacle(HostId host, std::uint32_t state, bool is_free) const {
    const HostModel& model = hosts_.model(host);
    const auto who = [&] { return "host " + std::to_string(host); };
    if (state >= model.kinds.size()) {
        return who() + " has the power states 0-" + std::to_string(model.kinds.size() - 1) +
               ", not " + std::to_string(state);
    }
    const StateKind wanted = kind(host, state);
    if (wanted == StateKind::switching) {
        return "power state " + std::to_string(state) + " of " + who() +
               " is one of switching, which hosts only pass through";
    }
    switch (phases_[host]) {
    case HostPhase::switching_off:
    case HostPhase::switching_on:
        return who() + " is switching";
    case HostPhase::failed:
        return who() + " has failed";
    case HostPhase::asleep:
        return wanted == StateKind::sleeping ? who() + " is already asleep" : "";
    case HostPhase::awake:
        break;
    }
    return wanted == StateKind::sleeping && !is_free ? who() + " is busy, and cannot sleep" : "";
}

bool PowerControl::puts_to_sleep(HostId host, std::uint32_t state) const {
    return kind(host, state) == StateKind::sleeping;
}

std::uint32_t PowerControl::begin(const HostSet& hosts, std::uint32_t state) {
    const auto number = static_cast<std::uint32_t>(requests_.size());
    requests_.push_back({hosts, state, 0});
    PowerRequest& request = requests_.back();
    for (const Interval& run : hosts.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            const bool wakes = phases_[host] == HostPhase::asleep;
            if (!wakes && !puts_to_sleep(host, state)) {
                hosts_.set_state(host, state);
                continue;
            }
            const SleepState& way = sleep(host, wakes ? hosts_.state(host) : state);
            const std::uint32_t through = wakes ? way.switching_on : way.switching_off;
            set_phase(host, wakes ? HostPhase::switching_on : HostPhase::switching_off);
            switch_ends_[host] = hosts_.now() + seconds_in(host, through);
            hosts_.switch_state(host, through, state, switch_ends_[host]);
            request_of_[host] = number;
            ++request.n_left;
        }
    }
    return number;
}

std::uint32_t PowerControl::end_switch(HostId host) {
    if (phases_[host] != HostPhase::failed) { // else that is what has ended the switch
        const bool woken = phases_[host] == HostPhase::switching_on;
        set_phase(host, woken ? HostPhase::awake : HostPhase::asleep);
    }
    --requests_[request_of_[host]].n_left;
    return request_of_[host];
}

// A host that comes back is awake, whatever it was in before.
void PowerControl::set_failed(HostId host, bool failed) {
    set_phase(host, failed ? HostPhase::failed : HostPhase::awake);
    to_wake_[host] = 0;
    if (!failed && kind(host, hosts_.state(host)) != StateKind::computing) {
        hosts_.set_state(host, first_computing(hosts_.model(host)));
    }
}

const SleepState& PowerControl::sleep(HostId host, std::uint32_t state) const {
    return *std::ranges::find(hosts_.model(host).sleeps, state, &SleepState::state);
}

std::uint32_t PowerControl::sleep_state(HostId host) const {
    const HostModel& model = hosts_.model(host);
    return model.sleeps.empty() ? no_state : model.sleeps.front().state;
}

double PowerControl::switch_on_seconds(HostId host) const {
    return seconds_in(host, sleep(host, sleep_state(host)).switching_on);
}

double PowerControl::switch_off_seconds(HostId host) const {
    return seconds_in(host, sleep(host, sleep_state(host)).switching_off);
}

double PowerControl::awake_date(HostId host) const {
    switch (phases_[host]) {
    case HostPhase::switching_on:
        return switch_ends_[host];
    case HostPhase::asleep:
        return hosts_.now() + seconds_in(host, sleep(host, hosts_.state(host)).switching_on);
    case HostPhase::switching_off:
        return switch_ends_[host] +
               seconds_in(host, sleep(host, requests_[request_of_[host]].state).switching_on);
    default:
        return hosts_.now();
    }
}

} // namespace noctule
