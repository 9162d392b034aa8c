// What there is to see of a run: releases, hosts, and the record so far.
#include "engine.hpp"

namespace noctule {

// Releases are entered when somebody asks for them: most jobs have ended by then.
const Releases& Engine::releases() {
    for (; running_.n_looked_at < running_.jobs.size(); ++running_.n_looked_at) {
        const JobIndex job = running_.jobs[running_.n_looked_at];
        const Status& status = status_[job];
        if (status.state == JobState::running && !status.has_release && !elsewhere_.contains(job)) {
            enter_release(job, expected_end(job));
        }
    }
    return releases_;
}

void Engine::enter_release(JobIndex job, double date) {
    releases_.add({date, job, table_->jobs[job].n_hosts});
    status_[job].has_release = true;
}

void Engine::withdraw_release(JobIndex job, double date) {
    if (status_[job].has_release) {
        releases_.remove(date, job);
        status_[job].has_release = false;
    }
}

HostSet Engine::hosts(JobIndex job) const {
    HostSet set;
    if (holds_hosts(job)) {
        record_->archive.for_each(status_[job].hosts, [&](Interval run) { set.append(run); });
    }
    return set;
}

HostSet Engine::completing_hosts() const {
    std::vector<Interval> runs;
    for (const auto& [job, since] : completing_) {
        const HostSet held = hosts(job);
        runs.insert(runs.end(), held.intervals().begin(), held.intervals().end());
    }
    return HostSet::from_intervals(std::move(runs));
}

JobRow Engine::live_row(JobIndex job) const {
    const Status& status = status_[job];
    if (waking_.contains(job)) { // it has not begun
        return {.job = job,
                .state = JobState::waiting,
                .n_hosts = table_->jobs[job].n_hosts,
                .submit_time = table_->jobs[job].submit_time};
    }
    return {.job = job,
            .state = status.state,
            .n_hosts = elsewhere_.contains(job) ? 0
                       : execution_ && status.state == JobState::running
                           ? n_held(job)
                           : table_->jobs[job].n_hosts,
            .submit_time = table_->jobs[job].submit_time,
            .start_time = status.start_time,
            .hosts = status.hosts,
            .suspended_time = suspended_so_far(job)};
}

void Engine::add_live_rows(Record& record) const {
    for (const Line* line : {&running_, &waiting_}) {
        std::size_t cursor = 0;
        for (JobIndex job = 0; (job = next(*line, cursor)) != no_job;) {
            record.add_job(live_row(job));
        }
    }
}

std::shared_ptr<const Record> Engine::record(bool final) const {
    if (final && running_.size == 0 && waiting_.size == 0) {
        return record_;
    }
    auto copy = std::make_shared<Record>(*record_);
    add_live_rows(*copy);
    return copy;
}

} // namespace noctule
