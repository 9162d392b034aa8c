// What there is to see of a run: releases, hosts, and the record so far.
#include "engine.hpp"

namespace noctule {

const Releases& Engine::releases() {
    if (!track_releases_) {
        track_releases_ = true;
        std::size_t cursor = 0;
        for (JobIndex job = 0; (job = next(running_, cursor)) != no_job;) {
            if (!elsewhere_.contains(job)) {
                releases_.add({expected_end(job), job, table_->jobs[job].n_hosts});
            }
        }
        for (const auto& [job, since] : completing_) {
            releases_.add({since, job, table_->jobs[job].n_hosts});
        }
    }
    return releases_;
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
            .hosts = status.hosts};
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
