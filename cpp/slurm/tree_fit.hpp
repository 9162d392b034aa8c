// The node choice of select/linear with topology/tree: nodes below the lowest switch that has
// enough, from the leaves that fit best.
#pragma once

#include "slurm/best_fit.hpp"
#include "slurm/settings.hpp"

#include <span>

namespace noctule::slurm {

class TreeFit {
  public:
    TreeFit(const std::vector<Node>& nodes, std::span<const Settings::Switch> switches);

    bool has_switches() const { return !switches_.empty(); }
    // The nodes to take from those offered; nothing if they are not enough. Written into `chosen`.
    bool choose(const NodeSet& offered, const NodeNeed& need, NodeSet& chosen);

  private:
    // What a switch still offers.
    struct Below {
        NodeSet nodes;
        std::int64_t n_nodes = 0;
        std::int64_t cpus = 0;
    };

    void count_below(const NodeSet& offered);
    void take_from(const NodeSet& nodes);
    void take_required(const NodeSet& offered, const NodeSet& required);
    bool is_done() const { return wanted_ <= 0 && cpus_ <= 0; }
    bool is_enough(std::int64_t n_nodes) const { return n_nodes >= wanted_ - spare_; }
    bool suffices(const Below& below) const {
        return below.cpus >= cpus_ && is_enough(below.n_nodes);
    }
    const Below* lowest_switch() const;
    const Below* best_leaf(const Below& top) const;

    const std::vector<Node>& nodes_;
    std::span<const Settings::Switch> switches_;
    std::vector<Below> below_; // of each switch
    NodeSet* chosen_ = nullptr;
    std::int64_t wanted_ = 0; // nodes still to take, of which so many are not needed
    std::int64_t spare_ = 0;
    std::int64_t allowed_ = 0;
    std::int64_t cpus_ = 0;
};

} // namespace noctule::slurm
