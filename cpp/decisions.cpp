// What a policy may decide, and the rules each decision is held to.
#include "engine.hpp"

#include "allocation.hpp"
#include "errors.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

void Engine::refuse(const std::string& decision, const std::string& why) const {
    throw DecisionError("t=" + format_time(now_) + " " + decision + ": " + why);
}

void Engine::refuse_unless_waiting(JobIndex job, const char* decision) const {
    static constexpr const char* why[] = {
        "",
        "the job is already running",
        "the job has already completed",
        "the job has already ended, at its walltime",
        "the job has already ended, killed",
        "the job has already ended, failed",
        "the job was rejected",
        "the job was cancelled",
        "the job has not been submitted yet",
    };
    const JobState state = status_[job].state;
    if (state != JobState::waiting) {
        refuse(std::string(decision) + "(job_id=" + describe_job(job) + ")",
               why[static_cast<std::size_t>(state)]);
    }
}

void Engine::start(JobIndex job, Allocation allocation) {
    require_waiting(job, "StartJob");
    if (reservation(job) != no_window) {
        start(job, choose_in_reservation(job, allocation));
        return;
    }
    const std::uint32_t n = table_->jobs[job].n_hosts;
    if (n > free_.count()) {
        refuse("StartJob(job_id=" + describe_job(job) + ")",
               "the job asks for " + std::to_string(n) + (n == 1 ? " host, " : " hosts, ") +
                   std::to_string(free_.count()) + (free_.count() == 1 ? " is free" : " are free"));
    }
    HostArchive& archive = record_->archive;
    archive.begin();
    const auto visit = [&](Interval run) {
        archive.add(run);
        if (options_.share_hosts) {
            for (HostId host = run.first; host <= run.last; ++host) {
                ++n_jobs_on_[host];
            }
        }
    };
    if (!free_.take(allocation, n, hierarchy_, visit)) {
        const bool local = allocation == Allocation::local;
        refuse("StartJob(job_id=" + describe_job(job) + ")",
               "no " + std::to_string(n) + (local ? " hosts of one group" : " neighbouring hosts") +
                   " are free");
    }
    status_[job].hosts = archive.keep();
    note_held(job, 1);
    begin(job);
}

void Engine::start(JobIndex job, const HostSet& hosts, const Layout& layout) {
    require_waiting(job, "StartJob");
    const auto refuse_hosts = [&](const std::string& why) {
        refuse("StartJob(job_id=" + describe_job(job) + ", hosts=" + hosts.to_string() + ")", why);
    };
    if (const std::string why = misfit(job, hosts, layout); !why.empty()) {
        refuse_hosts(why);
    }
    refuse_outside(job, hosts);
    for (const Interval& interval : hosts.intervals()) {
        if (interval.last < n_hosts() && free_.all().contains(interval)) {
            continue;
        }
        for (HostId host = interval.first; host <= interval.last; ++host) {
            if (const std::string why = why_unusable(host, job); !why.empty()) {
                refuse_hosts(why);
            }
        }
    }
    HostArchive& archive = record_->archive;
    archive.begin();
    for (const Interval& interval : hosts.intervals()) {
        hold(interval);
        archive.add(interval);
    }
    status_[job].hosts = archive.keep();
    note_held(job, 1);
    if (!layout.mapping.empty() || !layout.storages.empty() || layout.program != no_program) {
        layouts_[job] = layout;
    }
    begin(job);
}

// Why a job cannot be laid out so, or nothing.
std::string Engine::misfit(JobIndex job, const HostSet& hosts, const Layout& layout) const {
    const std::uint32_t n = table_->jobs[job].n_hosts;
    const std::size_t n_executors = layout.mapping.empty() ? hosts.size() : layout.mapping.size();
    const Program* program = table_->program(job);
    const bool is_fixed =
        layout.program == no_program && (program == nullptr || !is_moldable(*program));
    if (hosts.empty() || (n_executors != n && is_fixed)) {
        return "the job asks for " + std::to_string(n) + (n == 1 ? " host" : " hosts") + ", got " +
               std::to_string(n_executors);
    }
    if (book_ != nullptr &&
        std::set(layout.mapping.begin(), layout.mapping.end()).size() != layout.mapping.size()) {
        return "executors that share a host need a machine; the option `machine` makes one";
    }
    const HostId last = hosts.intervals().back().last;
    const auto n_known = static_cast<HostId>(n_hosts() + parts_.storages.size());
    if (last >= n_known) {
        return "host " + std::to_string(last) + " does not exist; hosts are 0-" +
               std::to_string(n_known - 1);
    }
    for (const std::uint32_t position : layout.mapping) {
        if (position >= hosts.size()) {
            return "the mapping names host " + std::to_string(position) + " of the allocation, " +
                   "which has " + std::to_string(hosts.size());
        }
    }
    for (const auto& [label, host] : layout.storages) {
        if (std::ranges::find(parts_.storages, host) == parts_.storages.end()) {
            return "storage '" + label + "' is mapped to host " + std::to_string(host) +
                   ", which is no storage";
        }
    }
    return "";
}

// Why a host cannot run another job now, or nothing.
std::string Engine::why_unusable(HostId host, JobIndex job) const {
    static constexpr const char* phases[] = {"", "is being switched off", "is asleep",
                                             "is being switched on", "has failed"};
    const auto who = [&] { return "host " + std::to_string(host); };
    if (has_failed(host)) {
        return who() + " has failed";
    }
    if (is_unavailable(host) && !is_reserved_for(job, host)) {
        return who() +
               (unavailable_[host] == absence::reserved ? " is reserved" : " is unavailable");
    }
    if (host >= n_hosts()) {
        const bool is_used = !options_.share_storages && storages_used_[host - n_hosts()] != 0;
        return is_used ? who() + ", a storage, is used by another job" : "";
    }
    if (!counts_as_free(phase(host))) {
        return who() + " " + phases[static_cast<std::size_t>(phase(host))];
    }
    if (options_.share_hosts || free_.contains(host) || is_idle_reserved(host)) {
        return "";
    }
    for (JobIndex other = 0; other < status_.size(); ++other) {
        if (hosts(other).contains(host)) {
            return who() + " is busy with job " + describe_job(other);
        }
    }
    return who() + " is busy";
}

void Engine::reject(JobIndex job) {
    require_waiting(job, "RejectJob");
    end_without_run(job, JobState::rejected);
    if (defers_decisions()) {
        instruct(now_, {.kind = Decision::Kind::nothing});
    }
}

// A job that has ended by itself is left alone, one that was asked to end before is not told of.
void Engine::kill(const std::vector<JobIndex>& jobs) {
    std::vector<JobIndex> asked;
    for (const JobIndex job : jobs) {
        Status& status = status_[job];
        if (status.state == JobState::waiting || status.state == JobState::pending) {
            refuse("KillJob(job_id=" + describe_job(job) + ")",
                   "the job is not running; a waiting job is rejected instead");
        }
        if (elsewhere_.contains(job)) {
            refuse("KillJob(job_id=" + describe_job(job) + ")",
                   "the job runs without hosts; ChangeJobState ends it");
        }
        if (!asked_to_end_.insert(job).second) {
            continue;
        }
        asked.push_back(job);
        if (status.state == JobState::running && !(latency_ && latency_->ends.contains(job))) {
            last_progress_[job] = progress(job);
            status.outcome = JobState::killed;
            if (execution_) {
                execution_->stop(job);
            }
            queue_.add(now_, EventRank::end, job);
        }
    }
    if (asked.empty()) {
        return;
    }
    const auto group = static_cast<std::uint32_t>(kills_.size());
    kills_.push_back(std::move(asked));
    if (latency_) {
        latency_->spawned.push_back({Letter::Kind::killed, latency_->courier.master(), group});
    } else if (options_.batsim_events) {
        add_news(EventKind::jobs_killed, group);
    }
}

void Engine::change_state(JobIndex job, JobState state) {
    const std::string what = "ChangeJobState(job_id=" + describe_job(job) + ")";
    Status& status = status_[job];
    if (status.state == JobState::waiting && state == JobState::rejected) {
        end_without_run(job, state);
    } else if (status.state == JobState::waiting && state == JobState::running) {
        status.hosts = {};
        status.start_time = now_;
        --waiting_.size;
        enter(running_, job);
        elsewhere_.insert(job);
        note_progress();
    } else if (elsewhere_.contains(job) && state >= JobState::completed &&
               state <= JobState::failed) {
        elsewhere_.erase(job);
        --running_.size;
        status.state = status.outcome = state;
        record_->add_job({.job = job,
                          .state = state,
                          .n_hosts = 0,
                          .submit_time = table_->jobs[job].submit_time,
                          .start_time = status.start_time,
                          .finish_time = now_,
                          .hosts = status.hosts,
                          .joules = 0.0});
        --n_unfinished_;
        note_progress();
        settle_dependents(job, now_);
    } else if (status.state == JobState::waiting) {
        refuse(what, "a waiting job can only become running or rejected");
    } else if (elsewhere_.contains(job)) {
        refuse(what, "a running job can only become completed, failed, timed_out or killed");
    } else if (status.state == JobState::running) {
        refuse(what, "the job runs on hosts, where it ends by itself or by KillJob");
    } else {
        require_waiting(job, "ChangeJobState");
    }
}

void Engine::set_metadata(JobIndex job, const std::string& text) { record_->metadata[job] = text; }

void Engine::ask_energy() {
    if (!record_->has_energy) {
        refuse("AskEnergy()", "the run counts no energy");
    }
    answers_.push_back(joules());
    tell(EventKind::energy_answered, static_cast<std::uint32_t>(answers_.size() - 1));
}

void Engine::finish_registration() {
    is_registration_open_ = false;
    is_registration_finished_ = true;
}

void Engine::continue_registration() {
    if (!options_.open_registration) {
        refuse("ContinueRegistration()", "the run does not have the option open_registration");
    }
    is_registration_open_ = true;
    is_registration_finished_ = false;
}

void Engine::call_at(double time, TimerTag tag) {
    if (!(time >= now_) || time == infinity) {
        refuse("CallAt(time=" + format_time(time) + ")", "expected a date from now on");
    }
    if (defers_decisions()) {
        instruct(now_, {.kind = Decision::Kind::call, .time = time, .tag = tag});
        return;
    }
    forget_call(tag);
    std::uint32_t call = 0;
    if (spare_calls_.empty()) {
        call = static_cast<std::uint32_t>(calls_.size());
        calls_.push_back({tag, true});
    } else {
        call = spare_calls_.back();
        spare_calls_.pop_back();
        calls_[call] = {tag, true};
    }
    if (tag >= call_of_tag_.size()) {
        call_of_tag_.resize(tag + std::size_t{1}, 0);
    }
    call_of_tag_[tag] = call + 1;
    ++n_live_calls_;
    if (latency_) {
        latency_->courier.sleep_until(time, Courier::Alarm::call, call);
    } else {
        ++n_queued_calls_;
        queue_.add(time, EventRank::timer, call);
    }
}

void Engine::cancel_call(TimerTag tag) {
    if (defers_decisions()) {
        instruct(now_, {.kind = Decision::Kind::nothing});
    }
    forget_call(tag);
}

void Engine::forget_call(TimerTag tag) {
    if (tag < call_of_tag_.size() && call_of_tag_[tag] != 0) {
        calls_[call_of_tag_[tag] - 1].live = false;
        call_of_tag_[tag] = 0;
        --n_live_calls_;
    }
}

void Engine::fire(std::uint32_t call) {
    spare_calls_.push_back(call);
    n_queued_calls_ -= latency_ ? 0 : 1;
    if (calls_[call].live) {
        const TimerTag tag = calls_[call].tag;
        call_of_tag_[tag] = 0;
        --n_live_calls_;
        events_.push_back({now_, tag, EventKind::timer_fired});
    }
}

void Engine::postpone(double time, Decision decision) {
    const bool takes_past = latency_ || options_.batsim_events;
    if (!(time >= now_ || (takes_past && time < now_)) || time == infinity) {
        refuse(decision.job == no_job ? "a decision"
                                      : "a decision on job " + describe_job(decision.job),
               "dated " + format_time(time) + ", expected a date from now on");
    }
    if (latency_) {
        instruct(time, std::move(decision));
        return;
    }
    time = std::max(time, busy_until_);
    if (time <= now_) {
        perform(decision);
        return;
    }
    queue_.add(time, EventRank::decision, static_cast<std::uint32_t>(postponed_.size()));
    postponed_.push_back(std::move(decision));
    ++n_postponed_;
}

void Engine::apply_postponed() {
    for (const std::uint32_t decision : due_) {
        const JobIndex job = postponed_[decision].job;
        const JobState state = job == no_job ? JobState::running : status_[job].state;
        if (state == JobState::waiting || state == JobState::running ||
            state == JobState::pending ||
            postponed_[decision].kind == Decision::Kind::set_metadata) {
            perform(postponed_[decision]);
        }
        postponed_[decision] = {.kind = Decision::Kind::nothing};
    }
    n_postponed_ -= due_.size();
    due_.clear();
    if (n_postponed_ == 0) {
        postponed_.clear();
    }
}

void Engine::be_busy_until(double time) {
    if (std::isnan(time) || time == infinity) {
        refuse("BusyUntil(time=" + format_time(time) + ")", "expected a date");
    }
    if (latency_) {
        latency_->script.push_back({.kind = Instruction::Kind::wait, .date = time});
    } else {
        busy_until_ = std::max(busy_until_, time);
    }
}

void Engine::apply(const Decision& decision) {
    if (defers_decisions()) {
        instruct(now_, decision);
    } else if (busy_until_ > now_) {
        postpone(busy_until_, decision);
    } else {
        perform(decision);
    }
}

void Engine::perform(const Decision& decision) {
    using Kind = Decision::Kind;
    switch (decision.kind) {
    case Kind::start:
        if (decision.launch_delay > 0.0) {
            later_launches_[decision.job] = decision.launch_delay;
        }
        if (decision.named_hosts) {
            start(decision.job, decision.hosts, decision.layout);
        } else {
            start(decision.job, decision.allocation);
        }
        break;
    case Kind::reject:
        reject(decision.job);
        break;
    case Kind::kill:
        kill(decision.jobs);
        break;
    case Kind::requeue:
        requeue(decision.job, decision.text);
        break;
    case Kind::change_state:
        change_state(decision.job, static_cast<JobState>(decision.state));
        break;
    case Kind::set_metadata:
        set_metadata(decision.job, decision.text);
        break;
    case Kind::set_power_state:
        set_power_state(decision.hosts, decision.state);
        break;
    case Kind::send_message:
        send_message(decision.job, decision.text);
        break;
    case Kind::ask_energy:
        ask_energy();
        break;
    case Kind::call:
        call_at(std::max(decision.time, now_), decision.tag);
        break;
    case Kind::cancel_call:
        cancel_call(decision.tag);
        break;
    case Kind::submit:
        refuse_late_registration(decision.job);
        submit(decision.job);
        break;
    case Kind::finish_registration:
        finish_registration();
        break;
    case Kind::continue_registration:
        continue_registration();
        break;
    case Kind::nothing:
        break;
    }
}

JobIndex Engine::register_job(Job job, const std::string& id, double date, double cancel_time,
                              double launch_delay, double epilogue_delay, ProgramIndex program,
                              std::shared_ptr<const ProgramTable> programs,
                              std::vector<std::uint32_t> rank_hosts) {
    JobTable& table = own_table();
    const std::size_t index = table.jobs.size();
    table.names.push_back(id);
    const auto set = [&](auto& column, auto value, auto usual) {
        if (value != usual || !column.empty()) {
            column.resize(index, usual);
            column.push_back(value);
        }
    };
    set(table.cancel_times, cancel_time, infinity);
    set(table.launch_delays, launch_delay, 0.0);
    set(table.epilogue_delays, epilogue_delay, 0.0);
    set(table.program_indices, program, no_program);
    if (program != no_program) {
        table.programs = std::move(programs);
    }
    if (!rank_hosts.empty()) {
        table.rank_hosts[static_cast<JobIndex>(index)] = std::move(rank_hosts);
    }
    table.jobs.push_back(job);
    status_.emplace_back();
    ++n_unfinished_;
    const auto registered = static_cast<JobIndex>(index);
    if (latency_) {
        instruct(date, {.kind = Decision::Kind::submit, .job = registered});
        return registered;
    }
    refuse_late_registration(registered);
    date = std::max({date, now_, busy_until_});
    const double submission = options_.batsim_events ? date : std::max(job.submit_time, date);
    if (submission > now_) {
        queue_.add(submission, EventRank::submission, registered);
    } else if (join_queue(registered) && is_told(registered)) {
        add_news(EventKind::job_submitted, registered);
    }
    return registered;
}

void Engine::refuse_late_registration(JobIndex job) const {
    if (is_registration_finished_) {
        refuse("RegisterJob(job_id=" + describe_job(job) + ")", "registration is finished");
    }
}

} // namespace noctule
