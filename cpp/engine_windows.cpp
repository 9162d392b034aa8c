// Windows of time: maintenances take their hosts, reservations keep theirs for their jobs.
#include "engine.hpp"

#include "allocation.hpp"
#include "errors.hpp"

#include <algorithm>
#include <tuple>

namespace noctule {

namespace {

// What happens to a window; at one date, ends come first.
enum class Step : std::uint32_t { end, announce, begin };
constexpr std::uint32_t n_steps = 3;

} // namespace

void Engine::set_up_windows() {
    windows_ = options_.windows;
    record_->has_attempts |= options_.attempts.resubmit || options_.attempts.lengthen_runs() ||
                             options_.attempts.resubmit_killed > 0 ||
                             std::ranges::any_of(windows_, &TimeWindow::kills);
    if (windows_.empty()) {
        return;
    }
    track_absences();
    reservations_ = options_.reservations;
    std::vector<std::tuple<double, Step, WindowIndex>> steps;
    for (WindowIndex window = 0; window < windows_.size(); ++window) {
        const TimeWindow& what = windows_[window];
        if (what.announced <= 0) {
            windows_[window].phase = TimeWindow::Phase::announced;
        } else if (what.announced < what.from) {
            steps.emplace_back(what.announced, Step::announce, window);
        }
        steps.emplace_back(what.from, Step::begin, window);
        steps.emplace_back(what.to, Step::end, window);
    }
    std::ranges::sort(steps);
    for (const auto& [time, step, window] : steps) {
        if (time != infinity) {
            queue_.add(time, EventRank::window,
                       window * n_steps + static_cast<std::uint32_t>(step));
        }
    }
}

void Engine::pass_window(std::uint32_t step) {
    const WindowIndex window = step / n_steps;
    EventKind told = EventKind::window_announced;
    switch (static_cast<Step>(step % n_steps)) {
    case Step::announce:
        windows_[window].phase = TimeWindow::Phase::announced;
        break;
    case Step::begin:
        told = EventKind::window_began;
        break;
    case Step::end:
        told = EventKind::window_ended;
        break;
    }
    events_.push_back({now_, window, told});
    if (told == EventKind::window_began) {
        begin_window(window);
    } else if (told == EventKind::window_ended) {
        end_window(window);
    }
    note_progress();
}

void Engine::begin_window(WindowIndex window) {
    TimeWindow& what = windows_[window];
    what.phase = TimeWindow::Phase::active;
    const bool closes = what.kind == TimeWindow::Kind::maintenance;
    for (const Interval& run : what.hosts.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            leave(host, closes ? absence::maintained : absence::reserved);
        }
    }
    if (what.kills) {
        end_jobs_on(what.hosts, JobState::killed, " went into maintenance");
    }
    note_host_states();
}

void Engine::end_window(WindowIndex window) {
    TimeWindow& what = windows_[window];
    what.phase = TimeWindow::Phase::over;
    HostSet back = what.hosts;
    for (const TimeWindow& other : windows_) {
        if (other.phase == TimeWindow::Phase::active && other.kind == what.kind) {
            back = back.without(other.hosts);
        }
    }
    const bool closed = what.kind == TimeWindow::Kind::maintenance;
    for (const Interval& run : back.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            come_back(host, closed ? absence::maintained : absence::reserved);
        }
    }
    cancel_late(window);
    note_host_states();
}

// Jobs that have missed their reservation leave the queue.
void Engine::cancel_late(WindowIndex window) {
    std::size_t cursor = 0;
    for (JobIndex job = 0; !reservations_.empty() && (job = next(waiting_, cursor)) != no_job;) {
        if (reservation(job) == window) {
            events_.push_back({now_, job, EventKind::job_cancelled});
            record_->metadata[job] = "missed its reservation";
            end_without_run(job, JobState::cancelled);
        }
    }
}

// Whether a job can no longer run within its reservation, or never could.
bool Engine::outlasts_reservation(JobIndex job) const {
    const WindowIndex own = reservation(job);
    if (own == no_window) {
        return false;
    }
    const TimeWindow& window = windows_[own];
    const Job& what = table_->jobs[job];
    return what.n_hosts > window.hosts.size() ||
           std::max(now_, window.from) + what.walltime > window.to;
}

bool Engine::is_idle_reserved(HostId host) const {
    return host < n_hosts() && !unavailable_.empty() && unavailable_[host] == absence::reserved &&
           n_holders_[host] == 0 && counts_as_free(phase(host));
}

bool Engine::is_reserved_for(JobIndex job, HostId host) const {
    const WindowIndex own = reservation(job);
    return own != no_window && unavailable_[host] == absence::reserved &&
           windows_[own].hosts.contains(host);
}

FreeHosts Engine::free_in(WindowIndex reservation) const {
    const TimeWindow& window = windows_[reservation];
    FreeHosts hosts(n_hosts());
    if (n_hosts() > 0) {
        hosts.take({0, n_hosts() - 1});
    }
    if (window.phase == TimeWindow::Phase::active) {
        for (const Interval& run : window.hosts.intervals()) {
            for (HostId host = run.first; host <= run.last; ++host) {
                if (is_idle_reserved(host)) {
                    hosts.give({host, host});
                }
            }
        }
    }
    return hosts;
}

Absences Engine::absences() const {
    const bool drains = std::ranges::any_of(external_, [](const ExternalEvent& event) {
        return event.kind == ExternalEvent::Kind::unavailable;
    });
    return drains || !windows_.empty() ? Absences::foreseen
           : record_->has_failures     ? Absences::failures
                                       : Absences::none;
}

HostSet Engine::hosts_that_wake() const {
    return hosts_in(HostPhase::asleep)
        .united(hosts_in(HostPhase::switching_on))
        .united(hosts_in(HostPhase::switching_off));
}

double Engine::longest_waking() const {
    double longest = 0.0;
    for (HostId host = 0; wakes_hosts() && host < n_hosts(); ++host) {
        if (power_->sleep_state(host) != PowerControl::no_state) {
            longest = std::max(longest,
                               power_->switch_on_seconds(host) + power_->switch_off_seconds(host));
        }
    }
    return longest;
}

HostSet Engine::lost_hosts() const {
    HostSet lost;
    const auto add_if_lost = [&](HostId host) {
        const bool is_away = has_reason(host, absence::unavailable | absence::failed);
        if (is_away || !counts_as_free(phase(host))) {
            lost.append({host, host});
        }
    };
    const bool all_count = !power_ || n_hosts_in(HostPhase::awake) == n_hosts() ||
                           (wakes_hosts() && n_hosts_in(HostPhase::failed) == 0);
    if (all_count && n_lost_ > 0) {
        present_.for_each_taken(add_if_lost);
    }
    for (HostId host = 0; !all_count && host < n_hosts(); ++host) {
        add_if_lost(host);
    }
    return lost;
}

HostSet Engine::choose_in_reservation(JobIndex job, Allocation allocation) const {
    FreeHosts among = free_in(reservation(job));
    const std::uint32_t n = table_->jobs[job].n_hosts;
    std::vector<Interval> runs;
    const auto visit = [&](Interval run) { runs.push_back(run); };
    if (n > among.count() || !take_hosts(allocation, n, among, hierarchy_, visit)) {
        refuse("StartJob(job_id=" + describe_job(job) + ")",
               "the job asks for " + std::to_string(n) + (n == 1 ? " host" : " hosts") +
                   " of its reservation '" + windows_[reservation(job)].name + "', " +
                   std::to_string(free_in(reservation(job)).count()) + " of it are free now");
    }
    return HostSet::from_intervals(std::move(runs));
}

// A job of a reservation runs within it, on its hosts.
void Engine::refuse_outside(JobIndex job, const HostSet& hosts) const {
    const WindowIndex own = reservation(job);
    if (own == no_window) {
        return;
    }
    const TimeWindow& window = windows_[own];
    if (window.phase != TimeWindow::Phase::active || !hosts.without(window.hosts).empty()) {
        refuse("StartJob(job_id=" + describe_job(job) + ", hosts=" + hosts.to_string() + ")",
               "the job belongs to the reservation '" + window.name + "', which has the hosts " +
                   window.hosts.to_string() + " from " + format_time(window.from) + " to " +
                   format_time(window.to));
    }
}

} // namespace noctule
