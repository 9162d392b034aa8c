#include "power.hpp"

#include <algorithm>

namespace noctule {

PowerControl::PowerControl(Machine& machine, std::uint32_t n_hosts, Token token_base)
    : machine_(machine), token_base_(token_base), phases_(n_hosts, HostPhase::awake),
      request_of_(n_hosts, 0) {
    counts_[static_cast<std::size_t>(HostPhase::awake)] = n_hosts;
    for (HostId host = 0; host < n_hosts; ++host) {
        if (kind(host, machine.state(host)) == StateKind::sleeping) {
            set_phase(host, HostPhase::asleep);
        }
    }
}

void PowerControl::set_phase(HostId host, HostPhase phase) {
    --counts_[static_cast<std::size_t>(phases_[host])];
    phases_[host] = phase;
    ++counts_[static_cast<std::size_t>(phase)];
}

std::string PowerControl::obstacle(HostId host, std::uint32_t state, bool is_free) const {
    const HostModel& model = machine_.model(host);
    const std::string who = "host " + std::to_string(host);
    if (state >= model.kinds.size()) {
        return who + " has the power states 0-" + std::to_string(model.kinds.size() - 1) +
               ", not " + std::to_string(state);
    }
    const StateKind wanted = kind(host, state);
    if (wanted == StateKind::switching) {
        return "power state " + std::to_string(state) + " of " + who +
               " is one of switching, which hosts only pass through";
    }
    switch (phases_[host]) {
    case HostPhase::switching_off:
    case HostPhase::switching_on:
        return who + " is switching";
    case HostPhase::failed:
        return who + " has failed";
    case HostPhase::asleep:
        return wanted == StateKind::sleeping ? who + " is already asleep" : "";
    case HostPhase::awake:
        break;
    }
    return wanted == StateKind::sleeping && !is_free ? who + " is busy, and cannot sleep" : "";
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
                machine_.set_state(host, state);
                continue;
            }
            const HostModel& model = machine_.model(host);
            const std::uint32_t asleep = wakes ? machine_.state(host) : state;
            const SleepState& sleep = *std::ranges::find(model.sleeps, asleep, &SleepState::state);
            set_phase(host, wakes ? HostPhase::switching_on : HostPhase::switching_off);
            machine_.switch_state(host, wakes ? sleep.switching_on : sleep.switching_off, state,
                                  token_base_ | host);
            request_of_[host] = number;
            ++request.n_left;
        }
    }
    return number;
}

PowerControl::Switched PowerControl::end_switch(Token token) {
    const auto host = static_cast<HostId>(token & ~token_base_);
    if (phases_[host] != HostPhase::failed) { // else that is what has ended the switch
        const bool woken = phases_[host] == HostPhase::switching_on;
        set_phase(host, woken ? HostPhase::awake : HostPhase::asleep);
    }
    --requests_[request_of_[host]].n_left;
    return {host, request_of_[host]};
}

// A host that comes back is awake, whatever it was in before.
void PowerControl::set_failed(HostId host, bool failed) {
    set_phase(host, failed ? HostPhase::failed : HostPhase::awake);
    if (!failed && kind(host, machine_.state(host)) != StateKind::computing) {
        const std::vector<StateKind>& kinds = machine_.model(host).kinds;
        const auto first = std::ranges::find(kinds, StateKind::computing);
        machine_.set_state(host, static_cast<std::uint32_t>(first - kinds.begin()));
    }
}

} // namespace noctule
