#include "engine.hpp"

#include "errors.hpp"

#include <algorithm>
#include <charconv>

namespace noctule {

std::string format_time(double time) {
    char text[32];
    const auto [end, failure] = std::to_chars(text, text + sizeof text, time);
    return failure == std::errc{} ? std::string(text, end) : std::string("?");
}

Engine::Engine(std::uint32_t n_hosts, std::shared_ptr<const JobTable> table, const Options& options,
               MachineParts parts, Submitters submitters)
    : table_(std::move(table)), options_(options), free_(n_hosts),
      hierarchy_(n_hosts, options.groups), parts_(std::move(parts)), present_(n_hosts) {
    set_up_machine();
    const std::size_t n = table_->jobs.size();
    arrivals_ = std::move(submitters.arrivals);
    n_unfinished_ = arrivals_ ? 0 : n;
    end_of_arrivals_ = static_cast<JobIndex>(n);
    next_arrival_ = arrivals_ ? end_of_arrivals_ : 0;
    is_registration_open_ = options.open_registration;
    status_.resize(n);
    record_->reserve(n);
    set_up_external(submitters.events);
    set_up_windows();
    if (parts_.has_latency) {
        set_up_latency(std::move(submitters));
    } else if (n == 0 && !submitters.jobs.empty() && options.batsim_events) {
        add_news(EventKind::submissions_ended, 0);
    }
    set_up_dependencies();
}

void Engine::enter(Line& line, JobIndex job) {
    if (line.jobs.size() > 2 * line.size + 64) {
        const auto has_left = [&](JobIndex old) { return status_[old].state != line.state; };
        const JobIndex* end = std::remove_if(line.jobs.begin(), line.jobs.end(), has_left);
        line.jobs.truncate(static_cast<std::size_t>(end - line.jobs.begin()));
        line.head = line.n_looked_at = 0;
    }
    status_[job].state = line.state;
    line.jobs.push_back(job);
    ++line.size;
}

JobIndex Engine::next(const Line& line, std::size_t& cursor) const {
    const auto has_left = [&](JobIndex job) { return status_[job].state != line.state; };
    while (line.head < line.jobs.size() && has_left(line.jobs[line.head])) {
        ++line.head;
    }
    cursor = std::max(cursor, line.head);
    while (cursor < line.jobs.size()) {
        const JobIndex job = line.jobs[cursor++];
        if (!has_left(job)) {
            return job;
        }
    }
    return no_job;
}

double Engine::next_time() {
    double time = queue_.empty() ? infinity : queue_.next().time;
    if (parts_.machine) {
        time = std::min(time, parts_.machine->next_time());
    }
    if (next_arrival_ < end_of_arrivals_ && !latency_) {
        time = std::min(time, std::max(table_->jobs[next_arrival_].submit_time, now_));
    }
    if (arrivals_) {
        time = std::min(time, std::max(arrivals_->next_date(), now_));
    }
    return time;
}

bool Engine::is_over() const {
    return n_unfinished_ == 0 && !(arrivals_ && arrivals_->has_more()) && completing_.empty() &&
           !is_switching() && !(options_.wait_for_timers && n_live_calls_ > 0) && n_news_ == 0 &&
           n_external_left_ == 0 && !is_registration_open_ &&
           !(options_.batsim_events && n_postponed_ > 0);
}

bool Engine::advance() {
    if (latency_) {
        return advance_with_latency();
    }
    events_.clear();
    if (!started_) {
        started_ = true;
        events_.push_back({now_, no_job, EventKind::simulation_started});
        if (next_time() <= now_) {
            collect();
        }
        return true;
    }
    // What happens while the policy is busy waits for it, with its own dates.
    while (now_ < busy_until_) {
        if (!step(busy_until_)) {
            return false;
        }
    }
    while (events_.empty()) {
        if (is_over() || !step(infinity)) {
            return false;
        }
    }
    count_call();
    return true;
}

// To the next date at which something happens, or to the limit; false if the run is to stop before.
bool Engine::step(double limit) {
    discard_dead_events();
    if (!go_to(std::min(next_time(), limit))) {
        return false;
    }
    collect();
    if (!due_.empty()) {
        apply_postponed();
    }
    return true;
}

// False if the run is to stop before that.
bool Engine::go_to(double time) {
    if (record_->has_energy) {
        note_power();
    }
    if (time > options_.until) {
        now_ = std::max(now_, options_.until);
        if (parts_.machine) {
            parts_.machine->advance_to(now_);
        }
        if (book_ != nullptr) {
            book_->go_to(now_);
        }
        return false;
    }
    if (time == infinity) {
        report_deadlock("nothing is left to happen");
    }
    calls_at_now_ = time == now_ ? calls_at_now_ : 0;
    now_ = time;
    if (book_ != nullptr) {
        book_->go_to(now_);
    }
    return true;
}

// Cancelled timers and the ends of killed jobs must not move the clock.
void Engine::discard_dead_events() {
    while (!queue_.empty()) {
        const FutureEvent& event = queue_.next();
        const bool dead_call = event.rank() == EventRank::timer && !calls_[event.subject].live;
        const bool dead_end =
            event.rank() == EventRank::end && (status_[event.subject].state != JobState::running ||
                                               is_void_end(event.subject, event.time));
        if (!dead_call && !dead_end) {
            return;
        }
        handle(queue_.pop());
    }
}

void Engine::collect() {
    const auto handle_until = [&](EventRank last) {
        while (!queue_.empty() && queue_.next().time <= now_ && queue_.next().rank() <= last) {
            handle(queue_.pop());
        }
    };
    if (parts_.machine) {
        run_machine();
    }
    if (book_ != nullptr) {
        handle_until(EventRank::switched);
        settle_switches();
    }
    handle_until(EventRank::external);
    submit_arrivals();
    handle_until(EventRank::decision);
}

void Engine::handle(const FutureEvent& event) {
    switch (event.rank()) {
    case EventRank::switched:
        end_switches(event.subject);
        break;
    case EventRank::launch:
        if (status_[event.subject].state == JobState::running) { // else it was killed before
            book_ != nullptr ? load(event.subject) : launch(event.subject);
        }
        break;
    case EventRank::end:
        if (status_[event.subject].state == JobState::running && // else it was killed before
            !is_void_end(event.subject, event.time)) {
            end_run(event.subject);
        }
        break;
    case EventRank::release:
        release(event.subject);
        break;
    case EventRank::news:
        events_.push_back({now_, news_[event.subject].subject, news_[event.subject].kind});
        if (--n_news_ == 0) {
            news_.clear();
        }
        break;
    case EventRank::cancellation:
        if (status_[event.subject].state == JobState::waiting) {
            events_.push_back({now_, event.subject, EventKind::job_cancelled});
            end_without_run(event.subject, JobState::cancelled);
        }
        break;
    case EventRank::window:
        pass_window(event.subject);
        break;
    case EventRank::external:
        occur(event.subject);
        break;
    case EventRank::submission:
        latency_ ? post_arrival(event.subject) : submit(event.subject);
        break;
    case EventRank::timer:
        fire(event.subject);
        break;
    case EventRank::decision:
        due_.push_back(event.subject);
        break;
    }
}

void Engine::submit_arrivals() {
    if (arrivals_) {
        while (arrivals_->next_date() <= now_) {
            submit(take_arrival());
            tell_submissions_ended();
        }
        return;
    }
    while (next_arrival_ < end_of_arrivals_ && table_->jobs[next_arrival_].submit_time <= now_) {
        const JobIndex job = next_arrival_++;
        if (waited_.empty() || waited_[job].left == 0) {
            submit(job);
        }
    }
}

void Engine::submit(JobIndex job) {
    if (join_queue(job) && is_told(job)) {
        events_.push_back({now_, job, EventKind::job_submitted});
    }
    if (options_.batsim_events && !latency_ && !arrivals_ && job < end_of_arrivals_ &&
        ++n_submitted_ == end_of_arrivals_) {
        events_.push_back({now_, 0, EventKind::submissions_ended});
    }
}

// False if the job is too large to stay there.
bool Engine::join_queue(JobIndex job) {
    const bool keeps_date = latency_ || (options_.batsim_events && job >= end_of_arrivals_);
    if (table_->jobs[job].submit_time != now_ &&
        !keeps_date) { // its dependencies or its policy moved it
        own_table().jobs[job].submit_time = now_;
    }
    status_[job].submission = submissions_++;
    enter(waiting_, job);
    note_progress();
    if (options_.reject_oversized && (table_->jobs[job].n_hosts > n_hosts() ||
                                      (!reservations_.empty() && outlasts_reservation(job)))) {
        end_without_run(job, JobState::rejected);
        return false;
    }
    const double cancel_time = table_->cancel_time(job);
    if (cancel_time != infinity) {
        queue_.add(std::max(cancel_time, now_), EventRank::cancellation, job);
    }
    return true;
}

// Tells something at this instant, once the present decisions are made.
void Engine::add_news(EventKind kind, std::uint32_t subject) {
    queue_.add(now_, EventRank::news, static_cast<std::uint32_t>(news_.size()));
    news_.push_back({now_, subject, kind});
    ++n_news_;
}

// What a decision has led to; with latency that is while a letter is opened.
void Engine::tell(EventKind kind, std::uint32_t subject) {
    if (latency_) {
        events_.push_back({now_, subject, kind});
    } else {
        add_news(kind, subject);
    }
}

// The slowest of a job's hosts sets its pace.
double Engine::speed_of(JobIndex job) const {
    if (book_ != nullptr && holds_hosts(job)) {
        return pace_of(job);
    }
    if (options_.speeds.empty() || !holds_hosts(job)) {
        return options_.speed;
    }
    double slowest = infinity;
    record_->archive.for_each(status_[job].hosts, [&](Interval run) {
        for (HostId host = run.first; host <= run.last; ++host) {
            slowest = std::min(slowest, options_.speeds[host]);
        }
    });
    return slowest;
}

double Engine::duration(JobIndex job) const {
    const Job& what = table_->jobs[job];
    const double work = what.kind == ProfileKind::delay
                            ? what.amount
                            : what.amount * options_.reference_speed / speed_of(job);
    return options_.attempts.lengthen_runs() ? lengthened(job, work) : work;
}

void Engine::begin(JobIndex job) {
    --waiting_.size;
    enter(running_, job);
    if (!wakes_hosts() || !wakes_hosts_of(job)) {
        begin_work(job);
    }
    note_host_states();
    note_progress();
}

void Engine::begin_work(JobIndex job) {
    status_[job].start_time = now_;
    const double launch_delay = launch_delay_of(job);
    if (defers_decisions()) {
        latency_->script.push_back({.kind = Instruction::Kind::begin, .date = now_, .job = job});
    } else if (execution_) {
        begin_on_machine(job, launch_delay);
    } else {
        set_timer(job);
        if (book_ != nullptr) {
            begin_in_book(job, launch_delay);
        }
    }
}

void Engine::set_timer(JobIndex job) {
    const Job& what = table_->jobs[job];
    const double lasts = duration(job);
    // A delay as long as its walltime fails, a computation as long as its walltime succeeds.
    const bool is_late =
        what.kind == ProfileKind::delay ? lasts >= what.walltime : lasts > what.walltime;
    status_[job].outcome = options_.enforce_walltime && is_late ? JobState::timed_out
                           : what.failing                       ? JobState::failed
                                                                : JobState::completed;
    queue_.add(launch_date(job) + timer_length(what, lasts), EventRank::end, job);
}

double Engine::launch_delay_of(JobIndex job) const {
    const auto more = later_launches_.find(job);
    return options_.launch_delay + table_->launch_delay(job) +
           (more == later_launches_.end() ? 0.0 : more->second);
}

double Engine::epilogue_of(JobIndex job) const {
    const auto more = lingering_.find(job);
    return options_.epilogue_delay + table_->epilogue_delay(job) +
           (more == lingering_.end() ? 0.0 : more->second);
}

void Engine::end_run(JobIndex job) {
    if (latency_) {
        end_unheard(job);
    } else {
        finish(job);
    }
}

void Engine::finish(JobIndex job) {
    Latency::End end{now_, not_a_time};
    if (!waking_.empty() && waking_.contains(job)) {
        end_before_work(job);
        end.joules = 0.0;
    } else if (book_ != nullptr) {
        end.joules = end_in_book(job);
    } else if (latency_) {
        execution_->stop(job);
        end = latency_->ends.extract(job).mapped();
    } else if (execution_) {
        end.joules = end_on_machine(job);
    }
    Status& status = status_[job];
    const Job& what = table_->jobs[job];
    events_.push_back({now_, job, EventKind::job_finished});
    --running_.size;
    status.state = status.outcome;
    record_->add_job({.job = job,
                      .state = status.state,
                      .n_hosts = execution_ ? n_held(job) : what.n_hosts,
                      .submit_time = what.submit_time,
                      .start_time = status.start_time,
                      .finish_time = end.date,
                      .hosts = status.hosts,
                      .joules = end.joules,
                      .useful_time = record_->has_attempts ? useful_time(job) : not_a_time,
                      .suspended_time = suspended_so_far(job)});
    suspensions_.erase(job);
    --n_unfinished_;
    withdraw_release(job, status.start_time + what.walltime);
    const double epilogue = epilogue_of(job);
    if (epilogue > 0) {
        completing_[job] = now_;
        enter_release(job, now_); // nobody knows for how long: they are due from now on
        queue_.add(now_ + epilogue, EventRank::release, job);
        note_host_states();
    } else {
        free_allocation(job);
    }
    note_progress();
    settle_dependents(job, end.date);
}

void Engine::release(JobIndex job) {
    events_.push_back({now_, job, EventKind::hosts_released});
    const auto completing = completing_.find(job);
    withdraw_release(job, completing->second);
    completing_.erase(completing);
    free_allocation(job);
    note_progress();
}

void Engine::free_allocation(JobIndex job) {
    note_held(job, -1);
    const bool can_be_free =
        !power_ && unavailable_.empty() && !options_.share_hosts && parts_.storages.empty();
    record_->archive.for_each(
        status_[job].hosts, [&](Interval run) { can_be_free ? free_.give(run) : give_back(run); });
    note_host_states();
}

void Engine::note_host_states() {
    if (record_->tells_phases()) {
        note_host_phases();
    } else {
        record_->add_host_states(now_, free_.count(), n_hosts() - free_.count());
    }
}

void Engine::note_host_phases() {
    HostCounts counts{.idle = free_.awake().count()};
    if (power_) {
        counts.sleeping = power_->count(HostPhase::asleep);
        counts.switching_on = power_->count(HostPhase::switching_on);
        counts.switching_off = power_->count(HostPhase::switching_off);
        counts.failed = power_->count(HostPhase::failed);
    }
    if (!unavailable_.empty()) {
        count_unavailable(counts);
    }
    counts.computing = n_hosts() - counts.idle - counts.sleeping - counts.switching_on -
                       counts.switching_off - counts.failed - counts.unavailable;
    record_->add_host_states(now_, counts);
}

bool Engine::holds_hosts(JobIndex job) const {
    return status_[job].state == JobState::running || completing_.contains(job);
}

void Engine::end_without_run(JobIndex job, JobState state) {
    --waiting_.size;
    status_[job].state = state;
    const Job& what = table_->jobs[job];
    record_->add_job(
        {.job = job, .state = state, .n_hosts = what.n_hosts, .submit_time = what.submit_time});
    --n_unfinished_;
    note_progress();
    settle_dependents(job, now_);
}

JobTable& Engine::own_table() {
    if (!own_table_) {
        own_table_ = std::make_shared<JobTable>(*table_);
        table_ = own_table_;
    }
    return *own_table_;
}

} // namespace noctule
