// What a schedule tells about jobs that waited: who stood before them, and what was free meanwhile.
#pragma once

#include "types.hpp"

#include <span>
#include <vector>

namespace noctule {

// Jobs in the order of their submissions; each waits from `submit` up to, and not at, `left`.
struct WaitingRows {
    std::span<const double> submit;
    std::span<const double> left;
};

// Until when each job had somebody before it who was submitted earlier and did not leave later;
// minus infinity if nobody was.
std::vector<double> ahead_until(std::span<const double> left);

// The least value among the jobs that wait at each of some ascending dates; infinite without any.
std::vector<double> least_waiting(std::span<const double> dates, const WaitingRows& rows,
                                  std::span<const double> value);

// A step function: `value[i]` from `time[i]` on, `before` until the first date.
struct StepRows {
    std::span<const double> time;
    std::span<const std::int64_t> value;
    std::int64_t before;
};

// Stretches of time, and the value that each of them asks for.
struct StretchRows {
    std::span<const double> begin;
    std::span<const double> end;
    std::span<const std::int64_t> needed;
};

// How many seconds of each stretch the function is at least what the stretch asks for.
std::vector<double> seconds_at_least(const StepRows& steps, const StretchRows& stretches);

// Dates inside of stretches, stretch by stretch, each with the stretch that it is in.
struct Turns {
    std::vector<std::int64_t> stretch;
    std::vector<double> date;
};

// When the function comes to be, or ceases to be, at least what a stretch asks for; those behind
// the first `most` are left out.
Turns turns_of(const StepRows& steps, const StretchRows& stretches, std::size_t most);

// Jobs that each hold hosts side by side, from a start to a finish (NaN: to the end of time).
struct BlockRows {
    std::span<const double> start;
    std::span<const double> finish;
    std::span<const std::uint32_t> first;
    std::span<const std::uint32_t> n_hosts;
};

// The most hosts side by side that no job holds, at each of some ascending dates.
std::vector<std::int64_t> largest_free_block(std::span<const double> dates, const BlockRows& rows,
                                             std::uint32_t n_hosts);

} // namespace noctule
