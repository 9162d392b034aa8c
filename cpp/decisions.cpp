// What a policy may decide, and the rules each decision is held to.
#include "engine.hpp"

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
    std::optional<Interval> run;
    if (allocation != Allocation::first) {
        run = free_.find_run(n);
    }
    if (run) {
        free_.take(*run);
        packer_.add(*run);
    } else if (allocation == Allocation::contiguous) {
        refuse("StartJob(job_id=" + describe_job(job) + ")",
               "no " + std::to_string(n) + " neighbouring hosts are free");
    } else {
        free_.take_first(n, [&](Interval part) { packer_.add(part); });
    }
    status_[job].hosts = record_->archive.keep(packer_);
    begin(job);
}

void Engine::start(JobIndex job, const HostSet& hosts) {
    require_waiting(job, "StartJob");
    const std::uint32_t n = table_->jobs[job].n_hosts;
    const auto refuse_hosts = [&](const std::string& why) {
        refuse("StartJob(job_id=" + describe_job(job) + ", hosts=" + hosts.to_string() + ")", why);
    };
    if (hosts.size() != n) {
        refuse_hosts("the job asks for " + std::to_string(n) + " hosts, got " +
                     std::to_string(hosts.size()));
    }
    if (hosts.intervals().back().last >= n_hosts()) {
        refuse_hosts("host " + std::to_string(hosts.intervals().back().last) +
                     " does not exist; hosts are 0-" + std::to_string(n_hosts() - 1));
    }
    for (const Interval& interval : hosts.intervals()) {
        if (free_.contains(interval)) {
            continue;
        }
        HostId busy = interval.first;
        while (free_.contains(busy)) {
            ++busy;
        }
        std::string holder;
        for (JobIndex other = 0; other < status_.size() && holder.empty(); ++other) {
            if (this->hosts(other).contains(busy)) {
                holder = describe_job(other);
            }
        }
        refuse_hosts("host " + std::to_string(busy) + " is busy with job " + holder);
    }
    packer_.begin();
    for (const Interval& interval : hosts.intervals()) {
        free_.take(interval);
        packer_.add(interval);
    }
    status_[job].hosts = record_->archive.keep(packer_);
    begin(job);
}

void Engine::reject(JobIndex job) {
    require_waiting(job, "RejectJob");
    end_without_run(job, JobState::rejected);
}

void Engine::kill(JobIndex job) {
    Status& status = status_[job];
    if (status.state == JobState::waiting || status.state == JobState::pending) {
        refuse("KillJob(job_id=" + describe_job(job) + ")",
               "the job is not running; a waiting job is rejected instead");
    }
    if (status.state == JobState::running && status.outcome != JobState::killed) {
        status.outcome = JobState::killed;
        queue_.add(now_, Rank::end, job);
    }
}

void Engine::call_at(double time, TimerTag tag) {
    if (!(time >= now_) || time == infinity) {
        refuse("CallAt(time=" + format_time(time) + ")", "expected a date from now on");
    }
    cancel_call(tag);
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
    queue_.add(time, Rank::timer, call);
}

void Engine::cancel_call(TimerTag tag) {
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
        refuse("a decision on job " + describe_job(decision.job),
               "dated " + format_time(time) + ", expected a date from now on");
    }
    queue_.add(time, Rank::decision, static_cast<std::uint32_t>(postponed_.size()));
    postponed_.push_back(std::move(decision));
    ++n_postponed_;
}

void Engine::apply_postponed() {
    for (const std::uint32_t decision : due_) {
        const JobState state = status_[postponed_[decision].job].state;
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
    switch (decision.kind) {
    case Decision::Kind::start:
        if (decision.named_hosts) {
            start(decision.job, decision.hosts);
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
    }
}

JobIndex Engine::register_job(Job job, const std::string& id, double cancel_time,
                              double launch_delay, double epilogue_delay) {
    JobTable& table = own_table();
    const std::size_t index = table.jobs.size();
    table.names.push_back(id);
    const auto set = [&](std::vector<double>& column, double value, double usual) {
        if (value != usual || !column.empty()) {
            column.resize(index, usual);
            column.push_back(value);
        }
    };
    set(table.cancel_times, cancel_time, infinity);
    set(table.launch_delays, launch_delay, 0.0);
    set(table.epilogue_delays, epilogue_delay, 0.0);
    table.jobs.push_back(job);
    status_.emplace_back();
    ++n_unfinished_;
    queue_.add(std::max(job.submit_time, now_), Rank::submission, static_cast<JobIndex>(index));
    return static_cast<JobIndex>(index);
}

} // namespace noctule
