// Energy and power states where jobs have timers: what jobs draw is entered into a book.
//
// A job keeps its pace and its watts unless one of its hosts is brought to another state in which
// it computes. Only jobs to which that has happened are remembered, with what they have left.
#include "engine.hpp"

#include <algorithm>

namespace noctule {

double Engine::launch_date(JobIndex job) const {
    return status_[job].start_time + launch_delay_of(job);
}

// Whether the job puts load on its hosts, in the book.
bool Engine::is_loading(JobIndex job) const {
    return table_->jobs[job].kind == ProfileKind::compute &&
           status_[job].state == JobState::running && !waking_.contains(job) &&
           launch_date(job) <= now_;
}

double Engine::pace_of(JobIndex job) const {
    if (book_->is_uniform()) {
        return book_->uniform_pace();
    }
    double pace = infinity;
    record_->archive.for_each(status_[job].hosts,
                              [&](Interval run) { pace = std::min(pace, book_->pace(run)); });
    return pace;
}

Draw Engine::draw_of(JobIndex job) const {
    if (book_->is_uniform()) {
        return book_->uniform_draw(table_->jobs[job].n_hosts);
    }
    const double pace = pace_of(job);
    Draw sum;
    record_->archive.for_each(status_[job].hosts, [&](Interval run) {
        const Draw part = book_->draw(run, pace);
        sum.idle += part.idle;
        sum.computing += part.computing;
    });
    return sum;
}

void Engine::set_pace(JobIndex job, double pace) {
    record_->archive.for_each(status_[job].hosts, [&](Interval run) {
        for (HostId host = run.first; host <= run.last; ++host) {
            book_->set_pace(host, pace);
        }
    });
}

void Engine::load(JobIndex job) {
    book_->load(draw_of(job));
    if (book_->tracks_loads()) {
        set_pace(job, pace_of(job));
    }
}

void Engine::unload(JobIndex job, const Draw& draw) {
    book_->unload(draw);
    if (book_->tracks_loads()) {
        set_pace(job, 0.0);
    }
}

void Engine::begin_in_book(JobIndex job, double launch_delay) {
    note_energy('s');
    if (table_->jobs[job].kind != ProfileKind::compute) {
        return;
    }
    if (launch_delay > 0) {
        queue_.add(now_ + launch_delay, EventRank::launch, job);
    } else {
        load(job);
    }
}

// Joules of a running job whose hosts draw so much, from a date up to now.
double Engine::joules_since(JobIndex job, double since, const Draw& draw) const {
    if (!is_loading(job)) {
        return draw.idle * (now_ - since);
    }
    const double loaded_since = std::max(since, launch_date(job));
    return draw.idle * (loaded_since - since) + draw.computing * (now_ - loaded_since);
}

double Engine::end_in_book(JobIndex job) {
    double joules = 0.0;
    double since = status_[job].start_time;
    if (const auto changed = changed_.find(job); changed != changed_.end()) {
        joules = changed->second.joules;
        since = changed->second.since;
        changed_.erase(changed);
    }
    const Draw draw = draw_of(job);
    joules += joules_since(job, since, draw);
    if (is_loading(job)) {
        unload(job, draw);
    }
    note_energy('e');
    return joules;
}

// Bills the jobs whose hosts are about to change their speed, and takes their load off them.
std::vector<JobIndex> Engine::pause_jobs(const HostSet& hosts, std::uint32_t state) {
    std::vector<JobIndex> paused;
    if (!makes_unusual(hosts, state)) {
        return paused;
    }
    if (!book_->tracks_loads()) {
        track_loads();
    }
    std::size_t cursor = 0;
    for (JobIndex job = 0; (job = next(running_, cursor)) != no_job;) {
        if (waking_.contains(job) || this->hosts(job).intersected(hosts).empty()) {
            continue;
        }
        settle_changed(job);
        if (is_loading(job)) {
            unload(job, draw_of(job));
        }
        paused.push_back(job);
    }
    return paused;
}

void Engine::resume_jobs(const std::vector<JobIndex>& paused) {
    for (const JobIndex job : paused) {
        if (is_loading(job)) {
            load(job);
        }
        set_end(job);
    }
}

// Whether a host comes to a state in which it computes, other than its present or its usual one.
bool Engine::makes_unusual(const HostSet& hosts, std::uint32_t state) const {
    for (const Interval& run : hosts.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            const bool is_usual = state == power_->computing_state(host);
            if (!power_->puts_to_sleep(host, state) &&
                (!is_usual || (phase(host) == HostPhase::awake && power_->state(host) != state))) {
                return true;
            }
        }
    }
    return false;
}

double Engine::flops_left(JobIndex job, const Changed& changed) const {
    const double seconds = now_ - std::max(changed.since, launch_date(job));
    return is_loading(job) ? std::max(0.0, changed.flops - pace_of(job) * seconds) : changed.flops;
}

// How much of its work a job has done whose pace was changed.
double Engine::done_of(JobIndex job, const Changed& changed) const {
    const Job& what = table_->jobs[job];
    if (what.kind != ProfileKind::compute) {
        return what.amount > 0 ? std::clamp((now_ - launch_date(job)) / what.amount, 0.0, 1.0)
                               : 1.0;
    }
    const double flops = duration(job) * pace_of(job);
    return flops > 0 ? 1.0 - flops_left(job, changed) / flops : 1.0;
}

// Bills the job, and its work, up to now.
void Engine::settle_changed(JobIndex job) {
    const auto [found, is_new] = changed_.try_emplace(job);
    Changed& changed = found->second;
    if (is_new) {
        changed = {.since = status_[job].start_time, .flops = duration(job) * pace_of(job)};
    }
    changed.joules += joules_since(job, changed.since, draw_of(job));
    changed.flops = flops_left(job, changed);
    changed.since = now_;
}

// When the job ends on hosts as they are now; events that tell an earlier date are void.
void Engine::set_end(JobIndex job) {
    const Job& what = table_->jobs[job];
    Changed& changed = changed_[job];
    if (what.kind != ProfileKind::compute || status_[job].outcome == JobState::killed) {
        return;
    }
    const double limit = options_.enforce_walltime ? launch_date(job) + what.walltime : infinity;
    const double seconds = changed.flops > 0 ? changed.flops / pace_of(job) : 0.0;
    const double end = std::max(now_, launch_date(job)) + seconds;
    changed.end = std::min(end, limit);
    status_[job].outcome = end > limit    ? JobState::timed_out
                           : what.failing ? JobState::failed
                                          : JobState::completed;
    queue_.add(changed.end, EventRank::end, job);
}

bool Engine::was_put_off(JobIndex job, double date) const {
    const auto changed = changed_.find(job);
    return changed != changed_.end() && changed->second.end > date &&
           status_[job].outcome != JobState::killed;
}

void Engine::end_switches(PowerBook::Group group) {
    const HostSet hosts = book_->end_switch(group);
    for (const Interval& run : hosts.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            end_switch(host);
        }
    }
    note_host_states();
    note_progress();
}

// What jobs have drawn more than their hosts would have without them, where loads are not tracked.
std::vector<Joules> Engine::joules_of_loads() const {
    std::vector<Joules> all(n_hosts(), Joules{});
    const auto add = [&](JobIndex job, double seconds) {
        const double pace = pace_of(job);
        record_->archive.for_each(status_[job].hosts, [&](Interval run) {
            for (HostId host = run.first; host <= run.last; ++host) {
                const Draw draw =
                    book_->is_uniform() ? book_->uniform_draw(1) : book_->draw({host, host}, pace);
                all[host][static_cast<std::size_t>(Spending::idle)] -= draw.idle * seconds;
                all[host][static_cast<std::size_t>(Spending::computing)] +=
                    draw.computing * seconds;
            }
        });
    };
    for (std::size_t row = 0; row < record_->size(); ++row) {
        const JobIndex job = record_->job[row];
        const double seconds = record_->finish_time[row] - launch_date(job);
        if (table_->jobs[job].kind == ProfileKind::compute && seconds > 0) { // not if it never ran
            add(job, seconds);
        }
    }
    std::size_t cursor = 0;
    for (JobIndex job = 0; (job = next(running_, cursor)) != no_job;) {
        if (is_loading(job)) {
            add(job, now_ - launch_date(job));
        }
    }
    return all;
}

void Engine::track_loads() {
    book_->track_loads(joules_of_loads());
    std::size_t cursor = 0;
    for (JobIndex job = 0; (job = next(running_, cursor)) != no_job;) {
        if (is_loading(job)) {
            set_pace(job, pace_of(job));
        }
    }
}

std::vector<Joules> Engine::spent_in_book() const {
    std::vector<Joules> all(n_hosts());
    const std::vector<Joules> by_jobs =
        book_->tracks_loads() ? std::vector<Joules>{} : joules_of_loads();
    for (HostId host = 0; host < n_hosts(); ++host) {
        all[host] = book_->spent(host);
        for (std::size_t what = 0; what < n_spendings && !by_jobs.empty(); ++what) {
            all[host][what] = std::max(0.0, all[host][what] + by_jobs[host][what]);
        }
    }
    return all;
}

} // namespace noctule
