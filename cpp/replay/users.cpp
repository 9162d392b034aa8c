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
    group.resize(jobs.size());
    for (GroupIndex g = 0; g < n_groups(); ++g) {
        for (std::uint32_t i = first_job[g]; i < first_job[g + 1]; ++i) {
            group[jobs[i]] = g;
        }
    }
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

Users::Users(std::shared_ptr<const GroupPlan> plan) : plan_(std::move(plan)) {
    n_left_ = plan_->jobs.size();
    if (plan_->population) {
        population_.emplace(*plan_->population);
    }
    const GroupIndex n_groups = plan_->n_groups();
    groups_.reserve(n_groups + std::size_t{1});
    for (GroupIndex group = 0; group < n_groups; ++group) {
        const std::uint32_t first = plan_->first_job[group];
        const bool keeps_date = !plan_->keeps_date.empty() && plan_->keeps_date[group] != 0;
        groups_.push_back({.shift = keeps_date ? 0.0 : -infinity,
                           .end_time = plan_->end_time[group],
                           .n_missing = plan_->n_dependencies[group],
                           .n_unfinished = plan_->first_job[group + 1] - first,
                           .first_job = first,
                           .first_waiting = plan_->first_waiting[group]});
    }
    groups_.push_back({.shift = 0.0,
                       .end_time = 0.0,
                       .n_missing = 0,
                       .n_unfinished = 0,
                       .first_job = plan_->first_job[n_groups],
                       .first_waiting = plan_->first_waiting[n_groups]});
    for (GroupIndex group = 0; group < n_groups; ++group) {
        if (groups_[group].n_missing == 0) {
            groups_[group].shift = 0.0;
            begin(group, 0.0);
        }
    }
    next_date_ = agenda_.next_date();
}

JobIndex Users::take(double now) {
    const JobIndex job = agenda_.take(now);
    if (job != no_job) {
        --n_left_;
        next_date_ = agenda_.next_date();
    }
    return job;
}

void Users::job_ended(const JobEnd& end) {
    if (end.job >= plan_->group.size()) { // registered by the policy
        return;
    }
    const GroupIndex group = plan_->group[end.job];
    if (population_) {
        population_->note(group, end);
    }
    if (--groups_[group].n_unfinished == 0) {
        this->end(group, end.finish_time);
        next_date_ = agenda_.next_date();
    }
}

// All that the group waits for has ended: its jobs follow at their recorded distances.
void Users::begin(GroupIndex group, double now) {
    double& shift = groups_[group].shift;
    if (plan_->calendar) {
        const double recorded = plan_->start_time[group];
        const double date = std::max(recorded + shift, now);
        const double allowed = plan_->calendar->next(plan_->user[group], group, date);
        shift = allowed == date ? shift : allowed - recorded;
    }
    for (std::uint32_t i = groups_[group].first_job; i < groups_[group + 1].first_job; ++i) {
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
    const std::uint32_t last = groups_[group + 1].first_waiting;
    const bool is_usual = plan_->thinking.kind == Thinking::Kind::kept && plan_->due.empty();
    const double later = now - groups_[group].end_time;
    for (std::uint32_t i = groups_[group].first_waiting; i < last; ++i) {
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
