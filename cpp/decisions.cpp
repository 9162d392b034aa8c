// What a policy may decide, and the rules each decision is held to.
#include "engine.hpp"

#include "allocation.hpp"
#include "errors.hpp"

#include <algorithm>

namespace noctule {

void Engine::refuse(const std::string& decision, const std::string& why) const {
    throw DecisionError("t=" + format_time(now_) + " " + decision + ": " + why);
}

void Engine::require_waiting(JobIndex job, const char* decision) const {
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
    const std::uint32_t n = table_->jobs[job].n_hosts;
    if (n > free_.count()) {
        refuse("StartJob(job_id=" + describe_job(job) + ")",
               "the job asks for " + std::to_string(n) + (n == 1 ? " host, " : " hosts, ") +
                   std::to_string(free_.count()) + (free_.count() == 1 ? " is free" : " are free"));
    }
    packer_.begin();
    if (!take_hosts(allocation, n, free_, hierarchy_, [&](Interval run) { packer_.add(run); })) {
        const bool local = allocation == Allocation::local;
        refuse("StartJob(job_id=" + describe_job(job) + ")",
               "no " + std::to_string(n) + (local ? " hosts of one group" : " neighbouring hosts") +
                   " are free");
    }
    status_[job].hosts = record_->archive.keep(packer_);
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
    for (const Interval& interval : hosts.intervals()) {
        for (HostId host = interval.first; host <= interval.last; ++host) {
            if (const std::string why = why_unusable(host); !why.empty()) {
                refuse_hosts(why);
            }
        }
    }
    packer_.begin();
    for (const Interval& interval : hosts.intervals()) {
        hold(interval);
        packer_.add(interval);
    }
    status_[job].hosts = record_->archive.keep(packer_);
    if (!layout.mapping.empty() || !layout.storages.empty()) {
        layouts_[job] = layout;
    }
    begin(job);
}

// Why a job cannot be laid out so, or nothing.
std::string Engine::misfit(JobIndex job, const HostSet& hosts, const Layout& layout) const {
    const std::uint32_t n = table_->jobs[job].n_hosts;
    const std::size_t n_executors = layout.mapping.empty() ? hosts.size() : layout.mapping.size();
    const Program* program = table_->program(job);
    if (hosts.empty() || (n_executors != n && (program == nullptr || !is_moldable(*program)))) {
        return "the job asks for " + std::to_string(n) + (n == 1 ? " host" : " hosts") + ", got " +
               std::to_string(n_executors);
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
std::string Engine::why_unusable(HostId host) const {
    if (host >= n_hosts()) { // storages serve everybody
        return "";
    }
    static constexpr const char* phases[] = {"", "is being switched off", "is asleep",
                                             "is being switched on", "has failed"};
    const std::string who = "host " + std::to_string(host);
    if (phase(host) != HostPhase::awake) {
        return who + " " + phases[static_cast<std::size_t>(phase(host))];
    }
    if (options_.share_hosts || free_.contains(host)) {
        return "";
    }
    for (JobIndex other = 0; other < status_.size(); ++other) {
        if (hosts(other).contains(host)) {
            return who + " is busy with job " + describe_job(other);
        }
    }
    return who + " is busy";
}

void Engine::reject(JobIndex job) {
    require_waiting(job, "RejectJob");
    end_without_run(job, JobState::rejected);
    if (defers_decisions()) {
        instruct({.kind = Instruction::Kind::nothing, .date = now_});
    }
}

void Engine::kill(JobIndex job) {
    Status& status = status_[job];
    if (status.state == JobState::waiting || status.state == JobState::pending) {
        refuse("KillJob(job_id=" + describe_job(job) + ")",
               "the job is not running; a waiting job is rejected instead");
    }
    if (status.state == JobState::running && status.outcome != JobState::killed) {
        status.outcome = JobState::killed;
        if (execution_) {
            last_progress_[job] = execution_->progress(job);
            execution_->stop(job);
        }
        queue_.add(now_, EventRank::end, job);
    }
}

void Engine::call_at(double time, TimerTag tag) {
    if (!(time >= now_) || time == infinity) {
        refuse("CallAt(time=" + format_time(time) + ")", "expected a date from now on");
    }
    if (defers_decisions()) {
        instruct({.kind = Instruction::Kind::call, .date = now_, .time = time, .tag = tag});
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
    ++n_queued_calls_;
    queue_.add(time, EventRank::timer, call);
}

void Engine::cancel_call(TimerTag tag) {
    if (defers_decisions()) {
        instruct({.kind = Instruction::Kind::nothing, .date = now_});
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
    --n_queued_calls_;
    if (calls_[call].live) {
        const TimerTag tag = calls_[call].tag;
        call_of_tag_[tag] = 0;
        --n_live_calls_;
        events_.push_back({now_, tag, EventKind::timer_fired});
    }
}

void Engine::postpone(double time, Decision decision) {
    if (!(time >= now_) || time == infinity) {
        refuse(decision.job == no_job ? "a decision"
                                      : "a decision on job " + describe_job(decision.job),
               "dated " + format_time(time) + ", expected a date from now on");
    }
    if (latency_) {
        instruct(
            {.kind = Instruction::Kind::decision, .date = time, .decision = std::move(decision)});
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
            state == JobState::pending) {
            apply(postponed_[decision]);
        }
        postponed_[decision].hosts = {};
    }
    n_postponed_ -= due_.size();
    due_.clear();
    if (n_postponed_ == 0) {
        postponed_.clear();
    }
}

void Engine::apply(const Decision& decision) {
    if (defers_decisions()) {
        instruct({.kind = Instruction::Kind::decision, .date = now_, .decision = decision});
        return;
    }
    switch (decision.kind) {
    case Decision::Kind::start:
        if (decision.named_hosts) {
            start(decision.job, decision.hosts, decision.layout);
        } else {
            start(decision.job, decision.allocation);
        }
        break;
    case Decision::Kind::reject:
        reject(decision.job);
        break;
    case Decision::Kind::kill:
        kill(decision.job);
        break;
    case Decision::Kind::set_power_state:
        set_power_state(decision.hosts, decision.state);
        break;
    case Decision::Kind::send_message:
        send_message(decision.job, decision.message);
        break;
    }
}

JobIndex Engine::register_job(Job job, const std::string& id, double cancel_time,
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
    if (latency_) {
        const auto registered = static_cast<JobIndex>(index);
        instruct({.kind = Instruction::Kind::submit, .date = now_, .job = registered});
    } else {
        queue_.add(std::max(job.submit_time, now_), EventRank::submission,
                   static_cast<JobIndex>(index));
    }
    return static_cast<JobIndex>(index);
}

} // namespace noctule
