// Jobs that wake their hosts: these are held from the decision on, and the job begins when the last
// of them is awake.
#include "engine.hpp"

#include "errors.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace noctule {

// Whether hosts that do so are free if no job holds them.
bool Engine::counts_as_free(HostPhase phase) const {
    return phase == HostPhase::awake || (wakes_hosts() && phase != HostPhase::failed);
}

// False if all hosts of the job are awake. Otherwise it is to begin when they are, which is known
// from now on unless hosts fail.
bool Engine::wakes_hosts_of(JobIndex job) {
    std::vector<HostId> late;
    record_->archive.for_each(status_[job].hosts, [&](Interval run) {
        for (HostId host = run.first; host <= run.last && !power_->are_awake(run); ++host) {
            if (phase(host) != HostPhase::awake) {
                late.push_back(host);
            }
        }
    });
    if (late.empty()) {
        return false;
    }
    double date = now_;
    std::vector<HostId> sleepers;
    for (const HostId host : late) {
        waiter_[host] = job;
        date = std::max(date, power_->awake_date(host));
        if (phase(host) == HostPhase::asleep) {
            sleepers.push_back(host);
        } else if (phase(host) == HostPhase::switching_off) {
            power_->wake_when_off(host);
        }
    }
    waking_[job] = static_cast<std::uint32_t>(late.size());
    status_[job].start_time = date;
    switch_on(sleepers);
    return true;
}

// One request for the hosts that are to come to the same state.
void Engine::switch_on(const std::vector<HostId>& hosts) {
    std::map<std::uint32_t, HostSet> hosts_by_state;
    for (const HostId host : hosts) {
        hosts_by_state[power_->computing_state(host)].append({host, host});
    }
    for (const auto& [state, some] : hosts_by_state) {
        request_power_state(some, state, being_switched_on);
    }
}

// A switch has ended: the host goes on if a job wants it awake, or the job has one less to wait
// for.
void Engine::follow_switch(HostId host) {
    if (phase(host) == HostPhase::asleep && power_->take_wish_to_wake(host)) {
        to_wake_.push_back(host);
    } else if (phase(host) == HostPhase::awake && waiter_[host] != no_job) {
        const JobIndex job = std::exchange(waiter_[host], no_job);
        if (--waking_[job] == 0) {
            woken_.push_back(job);
        }
    }
}

// What the switches of this instant have led to.
void Engine::settle_switches() {
    if (!to_wake_.empty()) {
        std::ranges::sort(to_wake_);
        switch_on(std::exchange(to_wake_, {}));
    }
    for (const JobIndex job : std::exchange(woken_, {})) {
        stop_waking(job);
        begin_work(job);
        enter_release(job, expected_end(job));
        note_host_states();
        note_progress();
    }
}

// The job no longer waits for hosts, which go on without it.
void Engine::stop_waking(JobIndex job) {
    waking_.erase(job);
    record_->archive.for_each(status_[job].hosts, [&](Interval run) {
        for (HostId host = run.first; host <= run.last; ++host) {
            waiter_[host] = waiter_[host] == job ? no_job : waiter_[host];
        }
    });
    withdraw_release(job, expected_end(job));
}

// A job that ends while its hosts still wake has begun and ended at this instant.
void Engine::end_before_work(JobIndex job) {
    stop_waking(job);
    status_[job].start_time = now_;
    note_energy('s');
    note_energy('e');
}

void Engine::fail_waking_jobs(HostId failed) {
    std::vector<JobIndex> lost;
    for (const auto& [job, n_left] : waking_) {
        if (hosts(job).contains(failed)) {
            lost.push_back(job);
        }
    }
    for (const JobIndex job : lost) {
        interrupt(job, JobState::failed, "host " + std::to_string(failed) + " failed");
    }
}

const PowerControl& Engine::power() const {
    if (!power_) {
        throw DecisionError("t=" + format_time(now_) +
                            " power: the run counts no energy, so that its hosts have no power "
                            "states");
    }
    return *power_;
}

std::uint32_t Engine::sleep_state(HostId host) const {
    const std::uint32_t state = power().sleep_state(host);
    if (state == PowerControl::no_state) {
        throw DecisionError("t=" + format_time(now_) + " host " + std::to_string(host) +
                            ": the platform gives it no power state to sleep in, expected one with "
                            "those of switching off and on");
    }
    return state;
}

std::uint32_t Engine::computing_state(HostId host) const { return power().computing_state(host); }

double Engine::switch_on_seconds(HostId host) const {
    sleep_state(host);
    return power_->switch_on_seconds(host);
}

double Engine::switch_off_seconds(HostId host) const {
    sleep_state(host);
    return power_->switch_off_seconds(host);
}

} // namespace noctule
