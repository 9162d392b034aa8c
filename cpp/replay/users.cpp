#include "replay/users.hpp"

#include <algorithm>
#include <span>

namespace noctule {

double Thinking::factor(double recorded_response, double response) const {
    const double before = base + slope * recorded_response;
    const double after = base + slope * response;
    return before > 0 && before < infinity ? std::clamp(after / before, 0.0, most) : 1.0;
}

Users::Users(std::shared_ptr<const GroupPlan> plan)
    : plan_(std::move(plan)), groups_(plan_->n_groups()), group_of_(plan_->jobs.size()),
      n_left_(plan_->jobs.size()) {
    if (plan_->population) {
        population_.emplace(*plan_->population);
    }
    for (GroupIndex group = 0; group < plan_->n_groups(); ++group) {
        const std::uint32_t first = plan_->first_job[group], last = plan_->first_job[group + 1];
        const bool keeps_date = !plan_->keeps_date.empty() && plan_->keeps_date[group] != 0;
        groups_[group] = {plan_->n_dependencies[group], last - first, keeps_date ? 0.0 : -infinity};
        for (std::uint32_t i = first; i < last; ++i) {
            group_of_[plan_->jobs[i]] = group;
        }
    }
    for (GroupIndex group = 0; group < plan_->n_groups(); ++group) {
        if (groups_[group].n_missing == 0) {
            groups_[group].shift = 0.0;
            begin(group, 0.0);
        }
    }
}

JobIndex Users::take(double now) {
    const JobIndex job = agenda_.take(now);
    n_left_ -= job != no_job;
    return job;
}

void Users::job_ended(const JobEnd& end) {
    if (end.job >= group_of_.size()) { // registered by the policy
        return;
    }
    const GroupIndex group = group_of_[end.job];
    if (population_) {
        population_->note(group, end);
    }
    if (--groups_[group].n_unfinished == 0) {
        this->end(group, end.finish_time);
    }
}

// All that the group waits for has ended: its jobs follow at their recorded distances.
void Users::begin(GroupIndex group, double now) {
    const double recorded = plan_->start_time[group];
    double& shift = groups_[group].shift;
    if (plan_->calendar) {
        const double date = std::max(recorded + shift, now);
        const double allowed = plan_->calendar->next(plan_->user[group], group, date);
        shift = allowed == date ? shift : allowed - recorded;
    }
    for (std::uint32_t i = plan_->first_job[group]; i < plan_->first_job[group + 1]; ++i) {
        const JobIndex job = plan_->jobs[i];
        agenda_.add(std::max(plan_->submit_time[job] + shift, now), job);
    }
}

void Users::end(GroupIndex group, double now) {
    if (population_) {
        const std::size_t n_withdrawn = population_->end_group(group);
        n_left_ -= n_withdrawn;
        if (n_withdrawn > 0) {
            return;
        }
    }
    const auto& first = plan_->first_waiting;
    for (std::uint32_t i = first[group]; i < first[group + 1]; ++i) {
        const Waiting& waiting = plan_->waiting[i];
        Group& other = groups_[waiting.group];
        other.shift = std::max(other.shift, shift_of(group, waiting, now));
        if (--other.n_missing == 0) {
            begin(waiting.group, now);
        }
    }
}

double Users::shift_of(GroupIndex ended, const Waiting& waiting, double now) const {
    const double later = now - waiting.due;
    switch (plan_->thinking.kind) {
    case Thinking::Kind::kept:
        break;
    case Thinking::Kind::dropped:
        return now - plan_->start_time[waiting.group];
    case Thinking::Kind::reacting: {
        const double response = now - (plan_->start_time[ended] + groups_[ended].shift);
        const double factor = plan_->thinking.factor(plan_->response_time[ended], response);
        return later + waiting.think_time * (factor - 1.0);
    }
    }
    return later;
}

} // namespace noctule
