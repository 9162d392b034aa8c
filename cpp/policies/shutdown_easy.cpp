#include "policies/shutdown_easy.hpp"

#include "errors.hpp"
#include "policies/opportunistic.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

void ShutdownEasy::require_first(Allocation allocation) {
    if (allocation != Allocation::first) {
        throw InputError("allocation: got another rule than first, which is the only one of "
                         "policies that choose hosts by whether they are awake");
    }
}

ShutdownEasy::Parameters ShutdownEasy::Parameters::of(const PolicySetup& setup) {
    require_first(setup.allocation);
    return {.t_idle = setup.number("t_idle"),
            .period = setup.number("period"),
            .run_on_period = setup.number("run_on_period") != 0};
}

void ShutdownEasy::decide(const View& view, std::span<const Event> events, Decisions& decisions) {
    observe_time(view);
    idle_.follow(view, events);
    if (!has_begun_) {
        has_begun_ = true;
        reserved_.resize(view.n_hosts(), 0);
        begin(view, decisions);
    }
    const bool period_is_over = follow(view, events, decisions);
    timer_is_set_ = timer_is_set_ && !period_is_over;
    if (!period_is_over || events.size() > 1) {
        note_change();
        prepare(view, decisions);
        run_jobs(view, decisions);
    }
    if (period_is_over) {
        end_period(view, decisions);
        if (parameters_.run_on_period && !jobs_are_settled_) {
            run_jobs(view, decisions);
        }
    }
    set_period_timer(view, decisions);
    if (!is_observed_) {
        tidy_up(view, decisions);
    }
    if (period_is_over || parameters_.tests_at_events) {
        test_idleness(view, decisions);
    }
    if (!is_observed_) {
        is_observed_ = true;
        observe_change(view);
    }
}

// Returns whether a period has ended.
bool ShutdownEasy::follow(const View& view, std::span<const Event> events, Decisions& decisions) {
    bool period_is_over = false;
    for (const Event& event : events) {
        switch (event.kind) {
        case EventKind::timer_fired:
            period_is_over = period_is_over || event.subject == period_timer;
            break;
        case EventKind::job_finished:
            if (!view.is_completing(event.subject)) {
                execute_marks(view, event.subject, decisions);
            }
            break;
        case EventKind::hosts_released:
            execute_marks(view, event.subject, decisions);
            break;
        case EventKind::power_state_changed:
            std::erase_if(waking_, [&](const Waking& host) {
                return view.phase(host.host) != HostPhase::switching_on;
            });
            break;
        case EventKind::host_failed:
            drop_reserved(view, HostSet::from_intervals({{event.subject, event.subject}}));
            break;
        case EventKind::hosts_unavailable:
            drop_reserved(view, view.external_event(event.subject).hosts);
            break;
        case EventKind::window_began:
            drop_reserved(view, view.windows()[event.subject].hosts);
            break;
        case EventKind::job_submitted:
            add_load(view, event.subject, 1);
            break;
        case EventKind::job_cancelled:
            add_load(view, event.subject, -1);
            break;
        case EventKind::submissions_ended:
            is_last_ = true;
            break;
        default:
            break;
        }
    }
    if (!period_is_over || events.size() > 1) {
        queue_.follow(view, events);
    }
    return period_is_over;
}

void ShutdownEasy::note_change() {
    is_observed_ = false;
    jobs_are_settled_ = false;
    idleness_is_settled_ = false;
    kept_is_known_ = false;
}

// Hosts that nobody can use are no reserve.
void ShutdownEasy::drop_reserved(const View& view, const HostSet& hosts) {
    for (const Interval& run : hosts.intervals()) {
        for (HostId host = run.first; host <= run.last && host < view.n_hosts(); ++host) {
            if (is_reserved(host) && !view.free_hosts().contains(host)) {
                reserved_[host] = 0;
                --n_reserved_;
            }
        }
    }
}

void ShutdownEasy::execute_marks(const View& view, JobIndex job, Decisions& decisions) {
    const auto marks = marks_.find(job);
    if (marks == marks_.end()) {
        return;
    }
    std::vector<HostId> hosts = std::move(marks->second);
    marks_.erase(marks);
    std::erase_if(hosts, [&](HostId host) { return !idle_.is_idle(view, host); });
    n_executed_marks_ += static_cast<std::uint32_t>(hosts.size());
    reserve_awake(view, hosts, decisions);
}

// Once no job waits, runs or is to come there is nothing left to decide; where that is not told,
// the run ends by itself.
void ShutdownEasy::set_period_timer(const View& view, Decisions& decisions) {
    const bool is_over = is_last_ && queue_.empty() && view.releases().empty();
    if (timer_is_set_ || is_over || parameters_.period == infinity) {
        return;
    }
    if (n_periods_ == 0 && parameters_.from_first_job) {
        if (queue_.empty() && view.releases().empty()) {
            return;
        }
        first_period_ = view.now();
    }
    double end = first_period_ + static_cast<double>(++n_periods_) * parameters_.period;
    if (end < view.now()) { // there was nothing to decide meanwhile
        const double n = std::ceil((view.now() - first_period_) / parameters_.period);
        n_periods_ = static_cast<std::uint64_t>(n);
        end = std::max(first_period_ + n * parameters_.period, view.now());
    }
    decisions.call_at(end, period_timer);
    timer_is_set_ = true;
}

void ShutdownEasy::run_jobs(const View& view, Decisions& decisions) {
    jobs_are_settled_ = true;
    is_observed_ = false;
    kept_is_known_ = false;
    while (!queue_.empty()) {
        const QueuedJob first = queue_.front();
        if (first.n_hosts > n_usable(view)) {
            make_room(view, first.n_hosts, decisions);
            if (first.n_hosts > n_usable(view)) {
                backfill(view, decisions);
                return;
            }
        }
        start(view, first, decisions);
        queue_.remove(queue_.first());
    }
    load_ = 0.0; // sums of fractions have left some
}

// Hosts that are awake come first, then those that will be first; reserved ones never.
void ShutdownEasy::start(const View& view, const QueuedJob& job, Decisions& decisions) {
    add_load(view, job.job, -1);
    if (n_reserved_ == 0 || job.n_hosts <= view.awake_free_hosts().count()) {
        decisions.start(job.job, Allocation::first);
    } else {
        decisions.start(job.job, next_hosts(view, job.n_hosts));
    }
}

void ShutdownEasy::add_load(const View& view, JobIndex job, int sign) {
    const double load = view.n_hosts(job) * view.walltime(job);
    if (load == infinity) {
        n_endless_ += static_cast<std::uint32_t>(sign);
    } else {
        load_ += sign * load;
    }
}

HostSet ShutdownEasy::next_hosts(const View& view, std::uint32_t n) const {
    HostSet usable;
    const HostSet free = view.free_hosts().to_host_set();
    for (const Interval& run : free.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            if (!is_reserved(host)) {
                usable.append({host, host});
            }
        }
    }
    return view.first_free_of(usable, n);
}

// A first job that all hosts out of the reservation are too few for gets what it lacks: marks are
// cancelled, and then reserved hosts are woken, those that sleep before those that are only about
// to, which are woken when it starts.
void ShutdownEasy::make_room(const View& view, std::uint32_t n, Decisions& decisions) {
    std::uint64_t within_reach = n_usable(view);
    view.releases().for_each(
        [&](const Release& release) { within_reach += release.n_hosts - n_marked(release.job); });
    if (within_reach >= n) {
        return;
    }
    for (const auto& [job, hosts] : marks_) {
        within_reach += hosts.size();
    }
    cancel_marks();
    const auto lacking = static_cast<std::uint32_t>(n - std::min<std::uint64_t>(within_reach, n));
    std::vector<HostId> asleep;
    for (HostId host = 0; host < reserved_.size() && asleep.size() < lacking; ++host) {
        if (is_reserved(host) && view.phase(host) == HostPhase::asleep) {
            asleep.push_back(host);
        }
    }
    auto n_left = lacking - static_cast<std::uint32_t>(asleep.size());
    woke_for_first_ = woke_for_first_ || (lacking > 0 && n_reserved_ > 0);
    wake(view, asleep, decisions);
    for (HostId host = 0; host < reserved_.size() && n_left > 0; ++host) {
        if (is_reserved(host)) {
            reserved_[host] = 0;
            --n_reserved_;
            --n_left;
        }
    }
}

void ShutdownEasy::backfill(const View& view, Decisions& decisions) {
    const Shadow first = shadow(view, queue_.front().n_hosts);
    Window window{view.now(), first.time, n_usable(view), first.extra};
    auto position = queue_.find(queue_.after(queue_.first()), window);
    while (queue_.valid(position) && window.n_free > 0) {
        const QueuedJob job = queue_.at(position);
        const bool in_time = window.ends_in_time(job.walltime) &&
                             ready_date(view, job.n_hosts) + job.walltime <= window.shadow;
        if (!in_time && job.n_hosts > window.extra) {
            position = queue_.find(queue_.after(position), window);
            continue;
        }
        start(view, job, decisions);
        window.n_free -= job.n_hosts;
        if (!in_time) {
            window.extra -= job.n_hosts;
        }
        position = queue_.find(queue_.remove(position), window);
    }
}

// When the hosts that a job would get now are awake.
double ShutdownEasy::ready_date(const View& view, std::uint32_t n) const {
    double date = view.now();
    if (n <= view.awake_free_hosts().count()) {
        return date;
    }
    const HostSet hosts = next_hosts(view, n);
    for (const Interval& run : hosts.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            date = std::max(date, view.awake_date(host));
        }
    }
    return date;
}

// As Releases::shadow, with marked hosts left out.
Shadow ShutdownEasy::shadow(const View& view, std::uint32_t n) const {
    const std::uint32_t n_free = n_usable(view);
    if (n <= n_free) {
        return {view.now(), n_free - n};
    }
    if (marks_.empty()) {
        return view.releases().shadow(view.now(), n_free, n);
    }
    std::uint64_t available = n_free;
    double time = infinity;
    view.releases().for_each([&](const Release& release) {
        if (available < n || release.time <= time) {
            available += release.n_hosts - n_marked(release.job);
            if (available >= n && time == infinity) {
                time = std::max(release.time, view.now());
            }
        }
    });
    return {time, static_cast<std::uint32_t>(available < n ? 0 : available - n)};
}

bool ShutdownEasy::is_kept(const View& view, HostId host) {
    if (queue_.empty()) {
        return false;
    }
    if (!kept_is_known_) {
        find_kept(view);
    }
    return all_kept_ || kept_[host] != 0;
}

void ShutdownEasy::find_kept(const View& view) {
    const std::uint32_t n = queue_.front().n_hosts;
    const Shadow first = shadow(view, n);
    kept_is_known_ = true;
    all_kept_ = first.time == infinity;
    if (all_kept_) {
        return;
    }
    std::vector<std::pair<bool, HostId>> free_then; // those that are awake come first
    const HostSet free = view.free_hosts().to_host_set();
    for (const Interval& run : free.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            if (!is_reserved(host)) {
                free_then.emplace_back(view.phase(host) != HostPhase::awake, host);
            }
        }
    }
    view.releases().for_each([&](const Release& release) {
        if (release.time <= first.time) {
            view.for_each_run(release.job, [&](Interval run) {
                for (HostId host = run.first; host <= run.last; ++host) {
                    if (!is_marked(release.job, host)) {
                        free_then.emplace_back(false, host);
                    }
                }
            });
        }
    });
    std::ranges::sort(free_then);
    kept_.assign(view.n_hosts(), 0);
    for (std::size_t i = 0; i < std::min<std::size_t>(n, free_then.size()); ++i) {
        kept_[free_then[i].second] = 1;
    }
}

bool ShutdownEasy::is_off(const View& view, HostId host) const {
    const HostPhase phase = view.phase(host);
    return phase == HostPhase::asleep || phase == HostPhase::switching_off;
}

void ShutdownEasy::reserve_awake(const View& view, std::vector<HostId>& hosts,
                                 Decisions& decisions) {
    for (const HostId host : hosts) {
        steal(host);
    }
    switch_off(view, hosts, decisions);
}

void ShutdownEasy::steal(HostId host) {
    reserved_[host] = 1;
    ++n_reserved_;
    note_change();
}

void ShutdownEasy::wake(const View& view, const std::vector<HostId>& hosts, Decisions& decisions) {
    std::map<std::uint32_t, HostSet> by_state;
    for (const HostId host : hosts) {
        reserved_[host] = 0;
        --n_reserved_;
        waking_.push_back({view.awake_date(host), host});
        by_state[view.computing_state(host)].append({host, host});
    }
    for (const auto& [state, some] : by_state) {
        decisions.set_power_state(some, state);
        note_change();
    }
}

void ShutdownEasy::mark(JobIndex job, HostId host) {
    marks_[job].push_back(host);
    note_change();
}

void ShutdownEasy::cancel_marks() {
    if (!marks_.empty()) {
        marks_.clear();
        note_change();
    }
}

bool ShutdownEasy::is_marked(JobIndex job, HostId host) const {
    const auto marks = marks_.find(job);
    return marks != marks_.end() && std::ranges::find(marks->second, host) != marks->second.end();
}

std::uint32_t ShutdownEasy::n_marked(JobIndex job) const {
    const auto marks = marks_.empty() ? marks_.end() : marks_.find(job);
    return marks == marks_.end() ? 0 : static_cast<std::uint32_t>(marks->second.size());
}

// Hosts that are kept for the first job stay on; as long as hosts are being switched on, all do.
void ShutdownEasy::test_idleness(const View& view, Decisions& decisions) {
    if (parameters_.t_idle == infinity ||
        (!parameters_.tests_while_waking && view.n_hosts_in(HostPhase::switching_on) > 0)) {
        return;
    }
    idle_.take(view, parameters_.t_idle, [&](HostId host) {
        overdue_.push_back({idle_.since(host), host});
        idleness_is_settled_ = false;
    });
    if (idleness_is_settled_ || overdue_.empty()) {
        return;
    }
    idleness_is_settled_ = true;
    std::vector<HostId> tired;
    std::erase_if(overdue_, [&](const Overdue& one) {
        if (!idle_.is_idle(view, one.host) || idle_.since(one.host) != one.since) {
            return true;
        }
        const bool goes = !is_kept(view, one.host);
        if (goes) {
            tired.push_back(one.host);
        }
        return goes;
    });
    if (!tired.empty()) {
        switch_off(view, tired, decisions);
        note_change();
        idleness_is_settled_ = true;
    }
}

} // namespace noctule
