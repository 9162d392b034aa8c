// When hosts of a schedule ran no job.
#pragma once

#include "host_set.hpp"

#include <span>
#include <vector>

namespace noctule {

// Columns of equal length, one row a gap; those of a host come in order.
struct HostGaps {
    std::vector<HostId> host;
    std::vector<double> begin;
    std::vector<double> end;
};

// The gaps between two dates of hosts below n_hosts. Jobs may share hosts; those without a start
// held none, and those without a finish hold theirs to the end.
HostGaps host_gaps(std::span<const HostSet* const> hosts, std::span<const double> start_time,
                   std::span<const double> finish_time, std::uint32_t n_hosts, double begin,
                   double end);

} // namespace noctule
