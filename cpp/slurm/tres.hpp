// Amounts of trackable resources: what jobs ask for, what they hold, what is billed for it.
#pragma once

#include "slurm/select.hpp"

#include <vector>

namespace noctule::slurm {

using Tres = std::vector<double>; // by number; billing too

inline std::uint32_t n_tres(const Settings& settings) {
    return first_gres_tres +
           static_cast<std::uint32_t>(settings.gres_kinds.size() + settings.licenses.size());
}

// CPUs that a request needs at least.
std::uint32_t requested_cpus(const Request& request);

Tres requested_tres(const Settings& settings, const Request& request, std::uint32_t partition);
Tres held_tres(const Settings& settings, const Request& request, std::uint32_t partition,
               const Choice& choice);
// All that a partition's nodes have.
Tres total_tres(const Settings& settings, const Partition& partition);

} // namespace noctule::slurm
