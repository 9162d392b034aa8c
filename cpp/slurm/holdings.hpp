// What a job holds of nodes that it may share with others.
#pragma once

#include "slurm/settings.hpp"

#include <vector>

namespace noctule::slurm {

struct Holding {
    NodeIndex node;
    std::uint32_t cpus = 0;
    std::uint64_t memory_mb = 0;
};

struct Holdings {
    std::vector<Holding> nodes = {};       // ascending
    std::vector<std::uint64_t> cores = {}; // by node: a bitmap of cores, in the words of NodeBook
    std::vector<std::uint32_t> gres = {};  // by node, then by kind; empty: none
    std::uint32_t partition = none;        // in which it runs
    std::uint32_t row = 0;                 // jobs of one partition and row share no cores
    bool shares = false;                   // its cores with jobs of other rows
};

} // namespace noctule::slurm
