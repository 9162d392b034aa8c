#include "slurm/tree_fit.hpp"

namespace noctule::slurm {

TreeFit::TreeFit(const std::vector<Node>& nodes, std::span<const Settings::Switch> switches)
    : nodes_(nodes), switches_(switches), below_(switches.size()) {}

void TreeFit::count_below(const NodeSet& offered) {
    for (std::size_t i = 0; i < switches_.size(); ++i) {
        Below& below = below_[i];
        below = {switches_[i].nodes & offered};
        below.nodes.for_each([&](NodeIndex node) {
            ++below.n_nodes;
            below.cpus += nodes_[node].cpus;
        });
    }
}

// From the lowest node up, as many as are missing.
void TreeFit::take_from(const NodeSet& nodes) {
    nodes.for_each([&](NodeIndex node) {
        if (!is_done() && allowed_ > 0 && !chosen_->contains(node)) {
            chosen_->add(node);
            --wanted_;
            --allowed_;
            cpus_ -= nodes_[node].cpus;
        }
    });
}

// Required nodes, whatever they are below of, then others of their leaves.
void TreeFit::take_required(const NodeSet& offered, const NodeSet& required) {
    required.for_each([&](NodeIndex node) {
        chosen_->add(node);
        --wanted_;
        --allowed_;
        cpus_ -= nodes_[node].cpus;
    });
    for (const Settings::Switch& leaf : switches_) {
        if (leaf.level == 0 && leaf.nodes.intersects(required)) {
            take_from(leaf.nodes & offered);
        }
    }
}

// The lowest one with enough nodes and CPUs below it, and of those the one with the fewest nodes.
const TreeFit::Below* TreeFit::lowest_switch() const {
    std::size_t best = switches_.size();
    for (std::size_t i = 0; i < switches_.size(); ++i) {
        if (suffices(below_[i]) && (best == switches_.size() ||
                                    std::pair(switches_[i].level, below_[i].n_nodes) <
                                        std::pair(switches_[best].level, below_[best].n_nodes))) {
            best = i;
        }
    }
    return best == switches_.size() ? nullptr : &below_[best];
}

// The smallest leaf with enough CPUs, however few nodes they are on, else the largest.
const TreeFit::Below* TreeFit::best_leaf(const Below& top) const {
    const Below* best = nullptr;
    for (std::size_t i = 0; i < switches_.size(); ++i) {
        const Below& leaf = below_[i];
        if (switches_[i].level != 0 || leaf.n_nodes == 0 || !top.nodes.contains(leaf.nodes)) {
            continue;
        }
        const bool fits = leaf.cpus >= cpus_;
        const bool best_fits = best != nullptr && best->cpus >= cpus_;
        if (best == nullptr || (fits && (!best_fits || leaf.cpus < best->cpus)) ||
            (!fits && leaf.cpus > best->cpus)) {
            best = &leaf;
        }
    }
    return best;
}

bool TreeFit::choose(const NodeSet& offered, const NodeNeed& need, NodeSet& chosen) {
    chosen.clear();
    if (need.required != nullptr && !offered.contains(*need.required)) {
        return false;
    }
    chosen_ = &chosen;
    wanted_ = need.wanted_nodes;
    spare_ = std::int64_t{need.wanted_nodes} - need.min_nodes;
    allowed_ = need.max_nodes;
    cpus_ = need.cpus;
    if (need.required != nullptr) {
        take_required(offered, *need.required);
    }
    count_below(offered - chosen);
    if (!is_done()) {
        const Below* const found = lowest_switch();
        if (found == nullptr) {
            return false;
        }
        const Below top = *found; // its leaves are used up
        while (!is_done() && allowed_ > 0) {
            const Below* const leaf = best_leaf(top);
            if (leaf == nullptr) {
                break;
            }
            take_from(leaf->nodes);
            below_[static_cast<std::size_t>(leaf - below_.data())].n_nodes = 0;
        }
    }
    return cpus_ <= 0 && is_enough(0);
}

} // namespace noctule::slurm
