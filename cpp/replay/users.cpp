#include "replay/users.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

namespace {

// Dates that differ by less are the same: sums are rounded.
constexpr double same_date = 1e-6;

} // namespace

double Thinking::factor(double recorded_response, double response) const {
    const double before = base + slope * recorded_response;
    const double after = base + slope * response;
    return before > 0 && before < infinity ? std::clamp(after / before, 0.0, most) : 1.0;
}

// The edges the other way, as a run follows them when groups end.
void GroupPlan::set_dependencies(std::span<const std::uint32_t> first_dependency,
                                 std::span<const GroupIndex> dependency,
                                 std::span<const double> think_times) {
    first_waiting.assign(n_groups() + std::size_t{1}, 0);
    for (const GroupIndex on : dependency) {
        ++first_waiting[on + std::size_t{1}];
    }
    for (std::size_t group = 0; group < n_groups(); ++group) {
        first_waiting[group + 1] += first_waiting[group];
    }
    // Calls use(group, number of the dependency, its place among the waiting) for each edge.
    const auto visit = [&](auto&& use) {
        std::vector<std::uint32_t> next = first_waiting;
        for (GroupIndex group = 0; group < n_groups(); ++group) {
            for (std::uint32_t i = first_dependency[group]; i < first_dependency[group + 1]; ++i) {
                use(group, i, next[dependency[i]]++);
            }
        }
    };
    const auto told = [&](GroupIndex group, std::uint32_t i) {
        const double date = start_time[group] - think_times[i], end = end_time[dependency[i]];
        return std::abs(date - end) <= same_date ? end : date;
    };
    n_dependencies.resize(n_groups());
    waiting.resize(dependency.size());
    bool is_usual = true;
    visit([&](GroupIndex group, std::uint32_t i, std::uint32_t place) {
        ++n_dependencies[group];
        waiting[place] = group;
        is_usual = is_usual && told(group, i) == end_time[dependency[i]];
    });
    if (thinking.kind == Thinking::Kind::reacting) {
        think_time.resize(dependency.size());
        visit([&](GroupIndex, std::uint32_t i, std::uint32_t place) {
            think_time[place] = think_times[i];
        });
    }
    if (!is_usual) {
        due.resize(dependency.size());
        visit([&](GroupIndex group, std::uint32_t i, std::uint32_t place) {
            due[place] = told(group, i);
        });
    }
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
    const bool is_usual = plan_->thinking.kind == Thinking::Kind::kept && plan_->due.empty();
    const double later = now - plan_->end_time[group];
    for (std::uint32_t i = first[group]; i < first[group + 1]; ++i) {
        Group& other = groups_[plan_->waiting[i]];
        other.shift = std::max(other.shift, is_usual ? later : shift_of(group, i, now));
        if (--other.n_missing == 0) {
            begin(plan_->waiting[i], now);
        }
    }
}

double Users::shift_of(GroupIndex ended, std::uint32_t waiting, double now) const {
    const double later = now - (plan_->due.empty() ? plan_->end_time[ended] : plan_->due[waiting]);
    switch (plan_->thinking.kind) {
    case Thinking::Kind::kept:
        break;
    case Thinking::Kind::dropped:
        return now - plan_->start_time[plan_->waiting[waiting]];
    case Thinking::Kind::reacting: {
        const double recorded = plan_->end_time[ended] - plan_->start_time[ended];
        const double response = now - (plan_->start_time[ended] + groups_[ended].shift);
        const double factor = plan_->thinking.factor(recorded, response);
        return later + plan_->think_time[waiting] * (factor - 1.0);
    }
    }
    return later;
}

} // namespace noctule
