// The numbers that sum up a schedule: counts, totals, and statistics of what its jobs went through.
#pragma once

#include "types.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace noctule {

// Columns of equal length, one row a job; dates are NaN where nothing happened. The last three may
// be empty: then they are the differences of the dates, and not what a file has printed for them.
struct JobRows {
    std::span<const std::uint8_t> state;
    std::span<const std::uint32_t> n_hosts;
    std::span<const double> submit_time;
    std::span<const double> start_time;
    std::span<const double> finish_time;
    std::span<const double> waiting_time;
    std::span<const double> turnaround_time;
    std::span<const double> runtime;
};

struct Statistics {
    double mean;
    double median;
    double p90;
    double p95;
    double p99;
    double max;
};

struct Summary {
    std::array<std::uint64_t, 8> n_of_state; // by the numbers of JobState
    std::uint64_t n_zero_runtime;
    double makespan;
    double utilisation;
    double throughput;
    Statistics waiting_time;
    Statistics turnaround_time;
    Statistics slowdown;
    Statistics bounded_slowdown;
};

// Jobs are counted if they were submitted in the window, which is the time from the first
// submission to the latest finish of ended jobs, less what is cut off at both ends.
Summary summarise(const JobRows& rows, std::uint32_t n_hosts, double warm_up, double cool_down,
                  double threshold);

// The sum of the values, rounded once: it does not depend on their order.
double exact_sum(std::span<const double> values);

} // namespace noctule
