// Users who leave when the system is slow: at the end of each stretch of a user's work it is
// decided, by the mean slowdown of its jobs, whether she goes on.
#pragma once

#include "replay/arrivals.hpp"

#include <cstdint>
#include <vector>

namespace noctule {

struct PopulationPlan {
    std::vector<std::uint32_t> stretch_of_group;
    std::vector<std::uint32_t> n_groups;    // by stretch
    std::vector<std::uint32_t> n_jobs_left; // of the user, behind the stretch
    std::vector<double> luck;               // by stretch, from 0 on and below 1: large ones stay
    // Who has seen a mean slowdown of s leaves with probability 1 / (1 + exp(-steepness x (s -
    // half))).
    double half = 0.0;
    double steepness = 0.0;
    double shortest_run = 10.0; // seconds: shorter ones count as so long

    double leaving_probability(double slowdown) const;
};

class Population {
  public:
    explicit Population(const PopulationPlan& plan);

    void note(std::uint32_t group, const JobEnd& end);
    // How many jobs the user will not submit because she leaves now.
    std::size_t end_group(std::uint32_t group);

  private:
    struct Stretch {
        std::uint32_t n_groups_left;
        std::uint32_t n_jobs = 0;
        double slowdowns = 0.0;
    };

    const PopulationPlan* plan_;
    std::vector<Stretch> stretches_;
};

} // namespace noctule
