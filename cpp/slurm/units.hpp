// Numbers that all of the model counts in.
#pragma once

#include <cstdint>
#include <limits>

namespace noctule::slurm {

using Seconds = std::int64_t; // dates are those of the epoch, as Slurm compares them
using Minutes = std::int64_t;

inline constexpr Seconds no_date = std::numeric_limits<Seconds>::max();
inline constexpr Minutes no_limit = std::numeric_limits<Minutes>::max() / 120;
inline constexpr std::uint32_t no_bound = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

enum class PreemptMode : std::uint8_t { off, cancel, requeue, suspend };

} // namespace noctule::slurm
