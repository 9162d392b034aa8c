// Jobs whose dates follow from what happens (replay/arrivals.hpp).
#include "engine.hpp"

namespace noctule {

// The next job whose date has come; that of its cancellation moves with it.
JobIndex Engine::take_arrival() {
    const JobIndex job = arrivals_->take(now_);
    if (job == no_job) {
        return job;
    }
    ++n_unfinished_;
    if (table_->jobs[job].submit_time != now_) {
        JobTable& table = own_table();
        if (table.cancel_time(job) != infinity) {
            table.cancel_times[job] += now_ - table.jobs[job].submit_time;
        }
        table.jobs[job].submit_time = now_;
    }
    return job;
}

// With Batsim's latency, a letter tells of each job.
void Engine::post_arrivals() {
    for (JobIndex job = 0; (job = take_arrival()) != no_job;) {
        post_arrival(job);
    }
    tell_submissions_ended();
}

void Engine::post_arrival(JobIndex job) {
    latency_->courier.post({Letter::Kind::arrival, latency_->courier.master(), job});
}

// Once, as soon as nothing is left to be submitted.
void Engine::tell_submissions_ended() {
    if (has_told_submissions_ended_ || arrivals_->has_more()) {
        return;
    }
    has_told_submissions_ended_ = true;
    if (latency_) {
        latency_->courier.post({Letter::Kind::bye, latency_->courier.master(), 0});
    } else if (options_.batsim_events) {
        events_.push_back({now_, 0, EventKind::submissions_ended});
    }
}

} // namespace noctule
