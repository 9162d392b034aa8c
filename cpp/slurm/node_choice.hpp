// Which nodes a job gets of those that could serve it, and how many CPUs of each, by the rules of
// select/cons_tres. Pure: what nodes could give is counted elsewhere.
#pragma once

#include "slurm/settings.hpp"

#include <optional>
#include <span>
#include <vector>

namespace noctule::slurm {

// What a node could give a job.
struct Offer {
    NodeIndex node;
    std::uint32_t cpus;      // for its tasks; at least one
    std::uint32_t free_cpus; // whoever they would serve
    std::uint32_t all_cpus;  // of the node
    std::uint32_t gpus = 0;  // counted with CPUs where small offers are left out
    std::uint32_t weight = 1;
    std::uint32_t cpus_kept = 1; // for each node still to come: those of a core, or of a socket
    bool required = false;
    bool idle = true;
};

struct Offers {
    std::vector<Offer> nodes;        // in ascending order
    std::vector<std::uint32_t> gres; // by offer, then as in Demand::gres
};

enum class ChoiceRule : std::uint8_t {
    best_fit,
    least_loaded,  // CR_LLN
    serial_at_end, // pack_serial_at_end
    busy_first,    // bf_busy_nodes, in predictions
    switches,      // topology/tree
};

struct Demand {
    std::int64_t cpus = 1;           // of the whole job
    std::int64_t cpus_of_a_node = 1; // at least, on each of its nodes
    std::int64_t cpus_of_a_task = 1;
    std::int64_t min_nodes = 1;
    std::int64_t wanted_nodes = 1;
    std::int64_t max_nodes = 1;
    std::int64_t tasks = 0;          // 0: not said
    std::vector<std::uint32_t> gres; // asked for by the whole job, whichever nodes give them
    bool whole_nodes = false;
    bool contiguous = false;
    ChoiceRule rule = ChoiceRule::best_fit;
};

struct NodeShare {
    NodeIndex node;
    std::uint32_t cpus;

    bool operator==(const NodeShare&) const = default;
};

// The nodes in ascending order, or nothing. A choice that fails is repeated without the nodes
// that have one CPU to give, then two, and so on: a few large nodes may do where small ones used
// up the number of nodes allowed.
std::optional<std::vector<NodeShare>> choose_nodes(Offers offers, Demand demand,
                                                   std::span<const Settings::Switch> switches);

} // namespace noctule::slurm
