// The node choice of select/linear: the tightest run of neighbouring nodes that is enough, else the
// largest one and so on, from the low end of each.
#pragma once

#include "slurm/requests.hpp"

#include <optional>
#include <vector>

namespace noctule::slurm {

struct NodeNeed {
    std::uint32_t min_nodes;
    std::uint32_t wanted_nodes; // at least min_nodes
    std::uint32_t max_nodes;    // never more, whatever CPUs it lacks
    std::int64_t cpus = 0;
    bool contiguous = false;
    const NodeSet* required = nullptr; // a subset of the nodes offered
};

class BestFit {
  public:
    explicit BestFit(const std::vector<Node>& nodes);

    // The nodes to take from those offered; nothing if they are not enough. Written into `chosen`.
    bool choose(const NodeSet& offered, const NodeNeed& need, NodeSet& chosen);

  private:
    struct Stretch {
        NodeRun run;
        std::int64_t cpus;       // of nodes not yet taken
        std::uint32_t nodes;     // not yet taken
        std::uint32_t first_req; // the lowest required node in it, or none
    };
    struct Left {
        std::int64_t nodes;
        std::int64_t most; // nodes that may still be taken
        std::int64_t cpus;
        bool done() const { return nodes <= 0 && cpus <= 0; }
    };

    std::int64_t cpus(NodeIndex node) const {
        return alike_ ? least_cpus_ : std::int64_t{nodes_[node].cpus};
    }
    void find_stretches(const NodeSet& offered, const NodeNeed& need, Left& left, NodeSet& chosen);
    bool enough(std::int64_t nodes, const Left& left, const NodeNeed& need) const;
    Stretch* best(const Left& left, const NodeNeed& need);
    void take(const Stretch& stretch, Left& left, NodeSet& chosen) const;
    void take_first(NodeRun run, Left& left, NodeSet& chosen) const;
    void take(NodeIndex node, Left& left, NodeSet& chosen) const;
    bool needs_largest(const NodeSet& offered, const Left& left) const;
    void take_largest(const NodeSet& offered, Left& left, NodeSet& chosen);

    const std::vector<Node>& nodes_;
    bool alike_ = true; // all nodes have as many CPUs
    std::int64_t least_cpus_ = 1;
    std::vector<Stretch> stretches_; // kept to save allocations
    std::vector<NodeIndex> by_size_;
};

} // namespace noctule::slurm
