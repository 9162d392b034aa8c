// Jobs that wait for others to end before they are submitted.
#include "engine.hpp"

#include <algorithm>

namespace noctule {

void Engine::set_up_dependencies() {
    const std::size_t n = table_->jobs.size();
    if (table_->dependencies.empty()) {
        return;
    }
    waited_.resize(n);
    dependents_ = table_->dependencies;
    std::ranges::stable_sort(dependents_, {}, &Dependency::on);
    first_dependent_.resize(n + 1, 0);
    for (const Dependency& dependency : dependents_) {
        ++waited_[dependency.job].left;
        ++first_dependent_[dependency.on + 1];
    }
    for (std::size_t job = 0; job < n; ++job) {
        first_dependent_[job + 1] += first_dependent_[job];
    }
}

// However a job ended, those that wait for it may go on.
void Engine::settle_dependents(JobIndex job, double end) {
    const JobIndex last = job;
    if (record_->has_attempts) {
        if (is_tried_again(job)) {
            if (job != interrupted_) { // else who interrupted it knows what is left of it
                submit_again(job, 0.0);
            }
            return;
        }
        job = attempt(job).origin;
    }
    if (arrivals_) {
        arrivals_->job_ended({.job = job,
                              .submit_time = table_->jobs[job].submit_time,
                              .start_time = status_[last].start_time,
                              .finish_time = end});
        tell_submissions_ended();
        return;
    }
    if (job + std::size_t{1} >= first_dependent_.size()) {
        return;
    }
    for (std::uint32_t d = first_dependent_[job]; d < first_dependent_[job + 1]; ++d) {
        const JobIndex dependent = dependents_[d].job;
        Waited& waited = waited_[dependent];
        waited.ready_time = std::max(waited.ready_time, now_ + dependents_[d].think_time);
        const bool has_arrived =
            latency_ ? latency_->arrived[dependent] : dependent < next_arrival_;
        if (--waited.left == 0 && has_arrived && latency_ && waited.ready_time <= now_) {
            submit(dependent); // the letter that told of the end tells of it as well
        } else if (waited.left == 0 && has_arrived) {
            queue_.add(std::max(waited.ready_time, now_), EventRank::submission, dependent);
        } else if (waited.left == 0 && waited.ready_time > table_->jobs[dependent].submit_time) {
            // Its own date comes before its user has thought: take it out of the arrivals.
            waited.left = 1;
            queue_.add(waited.ready_time, EventRank::submission, dependent);
        }
    }
}

} // namespace noctule
