// Jobs that a policy sends away or stops for a while: a requeued job ends, all of its work lost,
// and is submitted again once its hosts are released; a suspended one keeps its hosts and goes on
// where it stopped.
#include "engine.hpp"

#include <cmath>

namespace noctule {

void Engine::require_running(JobIndex job, const char* decision) const {
    if (status_[job].state != JobState::running || elsewhere_.contains(job)) {
        refuse(std::string(decision) + "(job_id=" + describe_job(job) + ")",
               "the job does not run on hosts");
    }
}

void Engine::requeue(JobIndex job, const std::string& why) {
    require_running(job, "RequeueJob");
    if (latency_) {
        refuse("RequeueJob(job_id=" + describe_job(job) + ")",
               "jobs are not requeued in runs with batsim_latency");
    }
    if (status_[job].outcome == JobState::killed || !requeued_.insert(job).second) {
        return; // it ends already
    }
    note_attempts();
    record_->metadata[job] = why;
    kill({job});
}

// From now on runs may be interrupted: what has ended before was of use.
void Engine::note_attempts() {
    if (record_->has_attempts) {
        return;
    }
    record_->has_attempts = true;
    for (std::size_t row = 0; row < record_->size(); ++row) {
        const double begin = record_->start_time[row] + launch_delay_of(record_->job[row]);
        const double away = record_->has_suspensions ? record_->suspended_time[row] : 0.0;
        record_->useful_time.push_back(record_->finish_time[row] - begin - away);
    }
}

void Engine::suspend(JobIndex job) {
    require_running(job, "SuspendJob");
    const bool has_timer = !execution_ && !waking_.contains(job) &&
                           (book_ == nullptr || table_->jobs[job].kind == ProfileKind::delay);
    if (!has_timer) {
        refuse("SuspendJob(job_id=" + describe_job(job) + ")",
               "only jobs with a fixed duration are suspended, on hosts that are awake and without "
               "the option `machine`");
    }
    if (!record_->has_suspensions) {
        record_->has_suspensions = true;
        record_->suspended_time.assign(record_->size(), 0.0);
    }
    Suspension& suspension = suspensions_[job];
    if (std::isnan(suspension.since) && status_[job].outcome != JobState::killed) {
        suspension.since = now_;
    }
}

void Engine::resume(JobIndex job) {
    const auto found = suspensions_.find(job);
    if (found == suspensions_.end() || std::isnan(found->second.since)) {
        refuse("ResumeJob(job_id=" + describe_job(job) + ")", "the job is not suspended");
    }
    Suspension& suspension = found->second;
    suspension.total += now_ - suspension.since;
    suspension.since = not_a_time;
    queue_.add(planned_end(job) + suspension.total, EventRank::end, job);
}

bool Engine::is_suspended(JobIndex job) const {
    const auto found = suspensions_.find(job);
    return found != suspensions_.end() && !std::isnan(found->second.since);
}

double Engine::suspended_so_far(JobIndex job) const {
    const auto found = suspensions_.find(job);
    if (found == suspensions_.end()) {
        return 0.0;
    }
    const Suspension& suspension = found->second;
    return suspension.total + (std::isnan(suspension.since) ? 0.0 : now_ - suspension.since);
}

// Whether an end was planned for this date before the job was suspended.
bool Engine::was_suspended_since(JobIndex job, double date) const {
    const auto found = suspensions_.find(job);
    return found != suspensions_.end() && status_[job].outcome != JobState::killed &&
           (!std::isnan(found->second.since) || date < planned_end(job) + found->second.total);
}

} // namespace noctule
