// What happens from outside: hosts that come and go, and events that are only passed on.
#include "engine.hpp"

#include "errors.hpp"

#include <algorithm>

namespace noctule {

// All lists become one, in the order of dates, unless each has a submitter of its own.
void Engine::set_up_external(const std::vector<std::vector<ExternalEvent>>& lists) {
    if (lists.empty()) {
        return;
    }
    for (const std::vector<ExternalEvent>& list : lists) {
        external_.insert(external_.end(), list.begin(), list.end());
    }
    n_external_left_ = external_.size();
    unavailable_.resize(n_hosts() + parts_.storages.size(), 0);
    record_->has_unavailability = true;
    if (parts_.has_latency) {
        return;
    }
    std::ranges::stable_sort(external_, {}, &ExternalEvent::time);
    if (!external_.empty()) {
        queue_.add(external_.front().time, EventRank::external, 0);
    } else if (options_.batsim_events) {
        add_news(EventKind::external_events_ended, 0);
    }
}

void Engine::occur(std::uint32_t number) {
    const ExternalEvent& event = external_[number];
    switch (event.kind) {
    case ExternalEvent::Kind::unavailable:
        make_unavailable(event.hosts);
        events_.push_back({now_, number, EventKind::hosts_unavailable});
        break;
    case ExternalEvent::Kind::available:
        make_available(event.hosts);
        events_.push_back({now_, number, EventKind::hosts_available});
        break;
    case ExternalEvent::Kind::generic:
        events_.push_back({now_, number, EventKind::external_event_occurred});
        break;
    }
    --n_external_left_;
    note_progress();
    if (latency_) {
        return;
    }
    if (n_external_left_ > 0) {
        queue_.add(external_[number + 1].time, EventRank::external, number + 1);
    } else if (options_.batsim_events) {
        events_.push_back({now_, 0, EventKind::external_events_ended});
    }
}

// Jobs on the hosts go on; the hosts stay away when these have ended.
void Engine::make_unavailable(const HostSet& hosts) {
    for (const Interval& run : hosts.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            if (host >= unavailable_.size()) {
                refuse_event(hosts, "there is no host " + std::to_string(host) + "; hosts are 0-" +
                                        std::to_string(unavailable_.size() - 1));
            }
            if (is_unavailable(host)) {
                refuse_event(hosts, "host " + std::to_string(host) +
                                        " becomes unavailable, but already is");
            }
            unavailable_[host] = 1;
            if (host < n_hosts() && free_.contains(host)) {
                free_.take({host, host});
            }
        }
    }
    note_host_states();
}

void Engine::make_available(const HostSet& hosts) {
    for (const Interval& run : hosts.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            if (host >= unavailable_.size() || !is_unavailable(host)) {
                refuse_event(hosts, "host " + std::to_string(host) +
                                        " becomes available, but is not unavailable");
            }
            unavailable_[host] = 0;
            if (host < n_hosts() && counts_as_free(phase(host)) && !is_held(host)) {
                free_.give({host, host}, phase(host));
            }
        }
    }
    note_host_states();
}

void Engine::refuse_event(const HostSet& hosts, const std::string& why) const {
    throw InputError("external events: t=" + format_time(now_) + ", hosts " + hosts.to_string() +
                     ": " + why);
}

HostSet Engine::unavailable_hosts() const {
    HostSet set;
    for (HostId host = 0; host < unavailable_.size(); ++host) {
        if (is_unavailable(host)) {
            set.append({host, host});
        }
    }
    return set;
}

// Hosts that are away are nothing else.
void Engine::count_unavailable(HostCounts& counts) const {
    for (HostId host = 0; host < n_hosts(); ++host) {
        if (!is_unavailable(host)) {
            continue;
        }
        ++counts.unavailable;
        switch (phase(host)) {
        case HostPhase::awake:
            break;
        case HostPhase::switching_off:
            --counts.switching_off;
            break;
        case HostPhase::asleep:
            --counts.sleeping;
            break;
        case HostPhase::switching_on:
            --counts.switching_on;
            break;
        case HostPhase::failed:
            --counts.failed;
            break;
        }
    }
}

} // namespace noctule
