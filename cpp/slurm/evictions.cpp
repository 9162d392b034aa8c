#include "slurm/evictions.hpp"

#include <algorithm>

namespace noctule::slurm {

namespace {

std::vector<JobIndex> jobs_of(const std::vector<RunningJob>& running) {
    std::vector<JobIndex> jobs;
    std::ranges::transform(running, std::back_inserter(jobs), &RunningJob::job);
    return jobs;
}

} // namespace

bool Evictions::are_under_way_for(JobIndex job) const {
    return std::ranges::find(preempting_, job) != preempting_.end();
}

void Evictions::look(const QueueRecord& record, JobIndex job, Seconds now) {
    if (!are_possible()) {
        return;
    }
    leaving_.clear();
    suspending_.clear();
    const Preemption& preemption = controller_.preemption();
    std::vector<RunningJob> running;
    controller_.for_each_preemptable([&](const RunningJob& one) { running.push_back(one); });
    for (const RunningJob& victim :
         preemption.candidates({job, record.partition, record.priority}, running, now)) {
        const bool suspends = preemption.mode(victim) == PreemptMode::suspend;
        (suspends ? suspending_ : leaving_).push_back(victim);
    }
    gone_ = jobs_of(leaving_);
    over_ = jobs_of(suspending_);
}

Trial Evictions::named(Trial trial) const {
    trial.gone = gone_;
    trial.over = over_;
    return trial;
}

// Whether jobs that it has sent away may not be gone yet: no others go meanwhile.
bool Evictions::waits_for_others(JobIndex job, Seconds now) const {
    const Parameters& parameters = controller_.parameters();
    const Seconds since = controller_.status(job).preempting;
    return since > 0 && since > now - parameters.kill_wait - parameters.message_timeout;
}

std::optional<Choice> Evictions::start_over(const Trial& trial) {
    Select& select = controller_.select();
    if (suspending_.empty()) {
        return std::nullopt;
    }
    Trial over = trial;
    over.over = over_;
    if (!select.goes_over_nodes()) {
        return select.run_without(over);
    }
    // Whole nodes: of as few jobs as it takes.
    std::optional<Choice> choice;
    const auto fits_over = [&](std::span<const JobIndex> jobs) -> std::optional<NodeSet> {
        over.over = jobs;
        choice = select.run_without(over);
        return choice ? std::optional(choice->nodes) : std::nullopt;
    };
    return choose_victims(suspending_, fits_over, controller_.parameters(), &trial.candidates)
               ? choice
               : std::nullopt;
}

std::optional<Choice> Evictions::make_room(const Moment& moment, const QueueRecord& record,
                                           Trial trial) {
    trial.gone = trial.over = {};
    if (std::optional<Choice> choice = start_over(trial)) {
        return choice;
    }
    if (leaving_.empty()) {
        return std::nullopt;
    }
    Select& select = controller_.select();
    std::optional<Choice> choice;
    const auto fits_without = [&](std::span<const JobIndex> jobs) -> std::optional<NodeSet> {
        trial.gone = jobs;
        choice = select.run_without(trial);
        return choice ? std::optional(choice->nodes) : std::nullopt;
    };
    const auto victims = choose_victims(leaving_, fits_without, controller_.parameters(),
                                        select.goes_over_nodes() ? &trial.candidates : nullptr);
    if (!victims) {
        return std::nullopt;
    }
    if (!controller_.limits().allows(trial.job, record.partition, *choice, moment.now)) {
        return choice;
    }
    if (!waits_for_others(trial.job, moment.now)) {
        for (const JobIndex victim : *victims) {
            controller_.evict(moment, victim);
        }
        controller_.note_preempting(trial.job, moment.now);
        preempting_.push_back(trial.job);
    }
    return std::nullopt;
}

} // namespace noctule::slurm
