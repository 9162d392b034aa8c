// What happens from outside: hosts that come and go, and events that are only passed on.
#include "engine.hpp"

#include "errors.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

namespace noctule {

// All lists become one, in the order of dates, unless each has a submitter of its own.
void Engine::set_up_external(const std::vector<std::vector<ExternalEvent>>& lists) {
    if (lists.empty()) {
        return;
    }
    for (const std::vector<ExternalEvent>& list : lists) {
        external_.insert(external_.end(), list.begin(), list.end());
    }
    const auto fails = [](const ExternalEvent& event) {
        return event.kind == ExternalEvent::Kind::failed ||
               event.kind == ExternalEvent::Kind::restored;
    };
    // Failures do not keep a run alive: lists of them go on for as long as somebody drew them.
    n_external_left_ =
        static_cast<std::size_t>(std::ranges::count_if(external_, std::not_fn(fails)));
    record_->has_failures = n_external_left_ < external_.size();
    record_->has_attempts |= record_->has_failures;
    track_absences();
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
    case ExternalEvent::Kind::failed:
        fail_hosts(event.hosts);
        break;
    case ExternalEvent::Kind::restored:
        restore_hosts(event.hosts);
        break;
    case ExternalEvent::Kind::unavailable:
        make_unavailable(event.hosts);
        events_.push_back({now_, number, EventKind::hosts_unavailable});
        --n_external_left_;
        break;
    case ExternalEvent::Kind::available:
        make_available(event.hosts);
        events_.push_back({now_, number, EventKind::hosts_available});
        --n_external_left_;
        break;
    case ExternalEvent::Kind::generic:
        events_.push_back({now_, number, EventKind::external_event_occurred});
        --n_external_left_;
        break;
    }
    note_progress();
    if (latency_) {
        return;
    }
    if (number + std::size_t{1} < external_.size()) {
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
            if (has_reason(host, absence::unavailable)) {
                refuse_event(hosts, "host " + std::to_string(host) +
                                        " becomes unavailable, but already is");
            }
            leave(host, absence::unavailable);
        }
    }
    note_host_states();
}

void Engine::make_available(const HostSet& hosts) {
    for (const Interval& run : hosts.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            if (host >= unavailable_.size() || !has_reason(host, absence::unavailable)) {
                refuse_event(hosts, "host " + std::to_string(host) +
                                        " becomes available, but is not unavailable");
            }
            come_back(host, absence::unavailable);
        }
    }
    note_host_states();
}

// From then on it is known which hosts are away, and which of them jobs hold.
void Engine::track_absences() {
    const std::size_t n = n_hosts() + parts_.storages.size();
    unavailable_.resize(n, 0);
    n_holders_.resize(n, 0);
    record_->has_unavailability = true;
}

void Engine::set_reasons(HostId host, std::uint8_t reasons) {
    const std::uint8_t before = std::exchange(unavailable_[host], reasons);
    if (host >= n_hosts()) {
        return;
    }
    const auto change = [&](std::uint8_t among) {
        return std::uint32_t{(reasons & among) != 0} - std::uint32_t{(before & among) != 0};
    };
    n_away_ += change(absence::unavailable | absence::maintained);
    n_lost_ += change(absence::unavailable | absence::failed);
    if (before == 0 && reasons != 0) {
        present_.take({host, host});
    } else if (before != 0 && reasons == 0) {
        present_.give({host, host});
    }
}

void Engine::leave(HostId host, std::uint8_t reason) {
    set_reasons(host, unavailable_[host] | reason);
    if (host < n_hosts() && free_.contains(host)) {
        free_.take({host, host});
    }
}

void Engine::come_back(HostId host, std::uint8_t reason) {
    set_reasons(host, unavailable_[host] & static_cast<std::uint8_t>(~reason));
    if (host < n_hosts() && unavailable_[host] == 0 && counts_as_free(phase(host)) &&
        !is_held(host)) {
        free_.give({host, host}, phase(host));
    }
}

// By one more job, or one less.
void Engine::note_held(JobIndex job, int change) {
    if (n_holders_.empty()) {
        return;
    }
    record_->archive.for_each(status_[job].hosts, [&](Interval run) {
        for (std::uint16_t& n : std::span(n_holders_).subspan(run.first, run.size())) {
            n = static_cast<std::uint16_t>(n + change);
        }
    });
}

void Engine::refuse_event(const HostSet& hosts, const std::string& why) const {
    throw InputError("external events: t=" + format_time(now_) + ", hosts " + hosts.to_string() +
                     ": " + why);
}

HostSet Engine::unavailable_hosts() const {
    HostSet set;
    for (HostId host = 0; host < unavailable_.size(); ++host) {
        if (has_reason(host, absence::unavailable | absence::maintained)) {
            set.append({host, host});
        }
    }
    return set;
}

// Hosts that are away are nothing else; reserved ones are idle or computing.
void Engine::count_unavailable(HostCounts& counts) const {
    if (!power_ && n_away_ == n_hosts() - present_.count()) {
        counts.unavailable = n_away_;
        return;
    }
    present_.for_each_taken([&](HostId host) {
        if (!has_reason(host, absence::unavailable | absence::maintained)) {
            counts.failed += !power_ && has_failed(host) ? 1 : 0;
            counts.idle += is_idle_reserved(host) && phase(host) == HostPhase::awake ? 1 : 0;
            return;
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
            counts.failed -= power_ ? 1 : 0;
            break;
        }
    });
}

} // namespace noctule
