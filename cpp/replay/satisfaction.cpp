#include "replay/satisfaction.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

double PopulationPlan::leaving_probability(double slowdown) const {
    return 1.0 / (1.0 + std::exp(-steepness * (slowdown - half)));
}

Population::Population(const PopulationPlan& plan) : plan_(&plan) {
    for (const std::uint32_t n : plan.n_groups) {
        stretches_.push_back({n});
    }
}

void Population::note(std::uint32_t group, const JobEnd& end) {
    if (std::isnan(end.start_time)) {
        return;
    }
    const double run = std::max(end.finish_time - end.start_time, plan_->shortest_run);
    Stretch& stretch = stretches_[plan_->stretch_of_group[group]];
    ++stretch.n_jobs;
    stretch.slowdowns += std::max(1.0, (end.finish_time - end.submit_time) / run);
}

std::size_t Population::end_group(std::uint32_t group) {
    const std::uint32_t number = plan_->stretch_of_group[group];
    Stretch& stretch = stretches_[number];
    if (--stretch.n_groups_left > 0 || stretch.n_jobs == 0) {
        return 0;
    }
    const double probability = plan_->leaving_probability(stretch.slowdowns / stretch.n_jobs);
    return plan_->luck[number] < probability ? plan_->n_jobs_left[number] : 0;
}

} // namespace noctule
