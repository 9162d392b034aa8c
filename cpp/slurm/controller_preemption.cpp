// Running jobs that make way: they end, wait again, or are suspended; and nodes that belong to one
// user.
#include "slurm/controller.hpp"

#include <algorithm>

namespace noctule::slurm {

RunningJob Controller::running_job(JobIndex job, const NodeSet& nodes) const {
    const JobStatus& status = status_[job];
    const std::vector<std::uint32_t>& asked = requests_[job].partitions;
    const auto position = std::ranges::find(asked, status.partition) - asked.begin();
    return {job, status.partition, status.start, &nodes,
            priority_->of(job, static_cast<std::size_t>(position))};
}

// What is told to end by a signal ends at once, unless it ignores it for as long as it can.
void Controller::terminate(const Moment& moment, JobIndex job) {
    status_[job].killed = true;
    if (requests_[job].ignores_term) {
        moment.decisions.prolong_epilogue(job, static_cast<double>(parameters().kill_wait));
    }
}

void Controller::evict(const Moment& moment, JobIndex job) {
    const RunningJob victim = running_job(job, nodes_held(job));
    if (status_[job].warned == 0) {
        const Seconds grace = preemption_.grace_time(victim);
        change_end(job, [&](JobStatus& status) {
            status.warned = moment.now;
            status.last_second = moment.now + grace;
        });
        touch(moment.now);
    }
    if (is_evicted(job) || expected_end(job) > moment.now) {
        return; // it ends already, or will once its grace time is over
    }
    terminate(moment, job);
    ++statistics.n_preempted;
    const bool comes_back =
        preemption_.mode(victim) == PreemptMode::requeue && requests_[job].requeue;
    send_away(moment, job, comes_back, "preempted");
}

void Controller::send_away(const Moment& moment, JobIndex job, bool comes_back, const char* why) {
    if (comes_back) {
        requeued_.insert(moment.view.origin(job));
        moment.decisions.requeue(job, why);
    } else {
        moment.decisions.set_metadata(job, why);
        moment.decisions.kill(job);
    }
}

void Controller::end_late(const Moment& moment, JobIndex job) {
    if (is_evicted(job)) {
        return;
    }
    if (status_[job].warned > 0) {
        evict(moment, job);
        return;
    }
    terminate(moment, job);
    ++statistics.n_timed_out;
    moment.decisions.kill(job);
}

void Controller::take_turns(const Moment& moment, const Gang::Changes& changes) {
    for (const JobIndex job : changes.stop) {
        change_end(job, [&](JobStatus& status) { status.suspended_since = moment.now; });
        moment.decisions.suspend(job);
        ++statistics.n_suspended;
    }
    for (const JobIndex job : changes.go) {
        change_end(job, [&](JobStatus& status) {
            status.suspended_seconds += moment.now - status.suspended_since;
            status.suspended_since = 0;
        });
        moment.decisions.resume(job);
    }
    if (!changes.stop.empty() || !changes.go.empty()) {
        touch(moment.now);
    }
}

JobIndex Controller::last_attempt(JobIndex job) const {
    const auto found = last_attempts_.find(job);
    return found == last_attempts_.end() ? job : found->second;
}

void Controller::keep_own(JobIndex job, std::uint32_t index, NodeSet& nodes) const {
    if (!has_owners_) {
        return;
    }
    const bool mine = partition(index).exclusive_user || requests_[job].exclusive_user;
    for (const auto& [other, held] : held_) {
        const bool theirs =
            partition(status_[other].partition).exclusive_user || requests_[other].exclusive_user;
        if ((mine || theirs) && requests_[other].user != requests_[job].user) {
            nodes -= held.nodes;
        }
    }
}

} // namespace noctule::slurm
