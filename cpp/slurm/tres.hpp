// Amounts of trackable resources: what jobs ask for, what they hold, what is billed for it.
#pragma once

#include "slurm/accounting.hpp"
#include "slurm/select.hpp"

#include <vector>

namespace noctule::slurm {

using Tres = std::vector<double>; // by number; billing too

// CPUs that a request needs at least.
std::uint32_t requested_cpus(const Request& request);

Tres requested_tres(const Settings& settings, const PriorityParameters& parameters,
                    const Request& request, std::uint32_t partition);
Tres held_tres(const Settings& settings, const PriorityParameters& parameters,
               const Request& request, std::uint32_t partition, const Choice& choice);
// All that a partition's nodes have.
Tres total_tres(const Settings& settings, const Partition& partition);

} // namespace noctule::slurm
