#include "policies/idle_hosts.hpp"

#include <algorithm>

namespace noctule {

namespace {

bool is_awake(const View& view, HostId host) { return view.phase(host) == HostPhase::awake; }

} // namespace

void IdleHosts::follow(const View& view, std::span<const Event> events) {
    if (since_.empty()) {
        since_.resize(view.n_hosts(), not_a_time);
        asleep_.resize(view.n_hosts(), 0);
    }
    for (const Event& event : events) {
        switch (event.kind) {
        case EventKind::simulation_started:
            for (HostId host = 0; host < view.n_hosts(); ++host) {
                asleep_[host] = is_awake(view, host) ? 0 : 1;
            }
            add(view, {0, view.n_hosts() - 1});
            break;
        case EventKind::job_finished:
            if (!view.is_completing(event.subject)) {
                view.for_each_run(event.subject, [&](Interval run) { add(view, run); });
            }
            break;
        case EventKind::hosts_released:
            view.for_each_run(event.subject, [&](Interval run) { add(view, run); });
            break;
        case EventKind::power_state_changed:
            add_woken(view, view.power_request(event.subject).hosts);
            break;
        case EventKind::host_restored:
            add(view, {event.subject, event.subject});
            break;
        case EventKind::hosts_available:
            add(view, view.external_event(event.subject).hosts);
            break;
        case EventKind::window_ended:
            add(view, view.windows()[event.subject].hosts);
            break;
        default:
            break;
        }
    }
}

void IdleHosts::add(const View& view, Interval hosts) {
    bool some = false;
    hosts.last = std::min(hosts.last, view.n_hosts() - 1); // behind them are storages
    for (HostId host = hosts.first; host <= hosts.last; ++host) {
        if (is_idle(view, host)) {
            since_[host] = view.now();
            some = true;
        }
    }
    if (some) {
        line_.push_back({view.now(), hosts});
    }
}

void IdleHosts::add(const View& view, const HostSet& hosts) {
    for (const Interval& run : hosts.intervals()) {
        add(view, run);
    }
}

// A change between states that compute ends no idleness.
void IdleHosts::add_woken(const View& view, const HostSet& hosts) {
    for (const Interval& run : hosts.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            const bool was_asleep = asleep_[host] != 0;
            asleep_[host] = is_awake(view, host) ? 0 : 1;
            if (was_asleep && asleep_[host] == 0) {
                add(view, {host, host});
            }
        }
    }
}

double IdleHosts::oldest(const View& view) {
    for (; !line_.empty(); line_.pop_front()) {
        const Stretch& stretch = line_.front();
        for (HostId host = stretch.hosts.first; host <= stretch.hosts.last; ++host) {
            if (lasts(view, stretch, host)) {
                return stretch.since;
            }
        }
    }
    return infinity;
}

} // namespace noctule
