// Hosts that fail by external events, and the jobs that this ends.
#include "engine.hpp"

#include "errors.hpp"

namespace noctule {

void Engine::fail_hosts(const HostSet& hosts) {
    std::vector<HostId> newly;
    for (const Interval& run : hosts.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            if (host >= n_hosts()) {
                refuse_event(hosts, "there is no host " + std::to_string(host) + "; hosts are 0-" +
                                        std::to_string(n_hosts() - 1));
            }
            if (has_failed(host)) {
                refuse_event(hosts, "host " + std::to_string(host) + " fails, but already has");
            }
            if (phase(host) == HostPhase::failed) { // as the platform's file says
                leave(host, absence::failed | absence::broken);
                continue;
            }
            leave(host, absence::failed);
            newly.push_back(host);
            events_.push_back({now_, host, EventKind::host_failed});
        }
    }
    end_jobs_on(hosts, JobState::failed, " failed");
    for (const HostId host : newly) {
        if (parts_.machine) {
            parts_.machine->set_on(host, false);
        }
        if (power_) {
            power_->set_failed(host, true);
        }
    }
    note_host_states();
}

void Engine::restore_hosts(const HostSet& hosts) {
    for (const Interval& run : hosts.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            if (host >= n_hosts() || !has_failed(host)) {
                refuse_event(hosts,
                             "host " + std::to_string(host) + " is restored, but has not failed");
            }
            if (has_reason(host, absence::broken)) { // its platform will restore it
                come_back(host, absence::failed | absence::broken);
                continue;
            }
            if (parts_.machine) {
                parts_.machine->set_on(host, true);
            }
            if (power_) {
                power_->set_failed(host, false);
            }
            come_back(host, absence::failed);
            events_.push_back({now_, host, EventKind::host_restored});
        }
    }
    note_host_states();
}

// A host that has failed by an event stays so, whatever its platform says of it meanwhile.
bool Engine::toggle_failed(HostId host) {
    if (!has_failed(host)) {
        return false;
    }
    if (parts_.machine->is_on(host)) {
        unavailable_[host] &= static_cast<std::uint8_t>(~absence::broken);
        parts_.machine->set_on(host, false);
    } else {
        unavailable_[host] |= absence::broken;
    }
    return true;
}

// In the order of their starts, each with the first of these hosts that it holds as the reason.
void Engine::end_jobs_on(const HostSet& hosts, JobState outcome, const std::string& why) {
    std::vector<std::pair<JobIndex, HostId>> ended;
    std::size_t cursor = 0;
    for (JobIndex job = 0; (job = next(running_, cursor)) != no_job;) {
        const HostSet lost = this->hosts(job).intersected(hosts);
        if (!lost.empty()) {
            ended.emplace_back(job, lost.intervals().front().first);
        }
    }
    for (const auto& [job, host] : ended) {
        interrupt(job, outcome, "host " + std::to_string(host) + why);
    }
}

} // namespace noctule
