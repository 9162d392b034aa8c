// The liquid load horizon of a schedule, over time.
#pragma once

#include "types.hpp"

#include <span>
#include <vector>

namespace noctule {

// What happened: jobs, which wait from their submission to their start and run to their finish (NaN
// where that never was); how many hosts were idle from each date on; and hosts that were switched
// on, from a date to another.
struct LoadRows {
    std::span<const double> submit_time;
    std::span<const double> start_time;
    std::span<const double> finish_time;
    std::span<const double> walltime;
    std::span<const std::uint32_t> n_hosts;
    std::span<const double> idle_time;
    std::span<const std::uint32_t> n_idle;
    std::span<const double> waking_begin;
    std::span<const double> waking_end;
    std::span<const std::uint32_t> n_waking;
};

// From each date on, up to the next: the mean of the horizon, of which the integral is exact.
struct LoadHistory {
    std::vector<double> time;
    std::vector<double> mean;
};

LoadHistory load_history(const LoadRows& rows);

} // namespace noctule
