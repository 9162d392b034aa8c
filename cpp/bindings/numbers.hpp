// A summary as Python gets it.
#pragma once

#include "summary.hpp"

#include <array>
#include <tuple>

namespace noctule {

// Jobs by state, those without a runtime, the totals, and the statistics of the four quantities.
using SummaryNumbers = std::tuple<std::array<std::uint64_t, 8>, std::uint64_t,
                                  std::array<double, 3>, std::array<std::array<double, 6>, 4>>;

SummaryNumbers numbers_of(const Summary& summary);

} // namespace noctule
