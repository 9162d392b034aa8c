// What a request means where nodes are shared; of all nodes alike.
#pragma once

#include "slurm/select_cons.hpp"

namespace noctule::slurm {

struct SelectCons::Needs {
    Demand demand;
    const Request& request;
    std::uint32_t partition;
    std::uint32_t max_cpus_of_a_node;
    std::uint64_t memory_mb = 0; // 0: all of a node
    bool memory_is_per_cpu = false;
    bool counts_memory = false;
    bool whole_sockets = false;
    bool tasks_go_round = false; // from socket to socket
    bool task_per_core = false;
    bool shares = false; // cores, with jobs of other rows
};

} // namespace noctule::slurm
