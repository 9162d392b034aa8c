#include "slurm/best_fit.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace noctule::slurm {

BestFit::BestFit(const std::vector<Node>& nodes) : nodes_(nodes) {
    if (!nodes.empty()) {
        const auto [least, most] = std::ranges::minmax_element(nodes, {}, &Node::cpus);
        least_cpus_ = least->cpus;
        alike_ = least->cpus == most->cpus;
    }
}

void BestFit::find_stretches(const NodeSet& offered, const NodeNeed& need, Left& left,
                             NodeSet& chosen) {
    stretches_.clear();
    offered.for_each_run([&](NodeRun run) {
        Stretch stretch{run, 0, 0, none};
        if (alike_ && need.required == nullptr) {
            stretch.cpus = least_cpus_ * run.size;
            stretch.nodes = run.size;
        } else {
            for (NodeIndex node = run.first; node < run.first + run.size; ++node) {
                if (need.required != nullptr && need.required->contains(node)) {
                    stretch.first_req = std::min(stretch.first_req, node);
                    take(node, left, chosen);
                } else {
                    stretch.cpus += cpus(node);
                    ++stretch.nodes;
                }
            }
        }
        stretches_.push_back(stretch);
    });
}

bool BestFit::enough(std::int64_t nodes, const Left& left, const NodeNeed& need) const {
    return nodes >= left.nodes - (std::int64_t{need.wanted_nodes} - need.min_nodes);
}

// The comparison is Slurm's own, with what it does for nodes of different sizes.
BestFit::Stretch* BestFit::best(const Left& left, const NodeNeed& need) {
    Stretch* best = nullptr;
    bool best_suffices = false;
    for (Stretch& stretch : stretches_) {
        if (stretch.nodes == 0) {
            continue;
        }
        const bool suffices = stretch.cpus >= left.cpus && enough(stretch.nodes, left, need);
        if (best == nullptr || (best->first_req == none && stretch.first_req != none) ||
            (suffices && !best_suffices) || (suffices && stretch.cpus < best->cpus) ||
            (!suffices && stretch.cpus > best->cpus)) {
            best = &stretch;
            best_suffices = suffices;
        }
    }
    return best;
}

void BestFit::take(NodeIndex node, Left& left, NodeSet& chosen) const {
    chosen.add(node);
    --left.nodes;
    --left.most;
    left.cpus -= cpus(node);
}

// The same for nodes that are all alike, of which none is required: all at once.
void BestFit::take_first(NodeRun run, Left& left, NodeSet& chosen) const {
    const std::int64_t for_cpus = (left.cpus + least_cpus_ - 1) / least_cpus_;
    const std::int64_t n =
        std::min({std::int64_t{run.size}, left.most, std::max(left.nodes, for_cpus)});
    chosen.add(NodeRun{run.first, static_cast<std::uint32_t>(n)});
    left.nodes -= n;
    left.most -= n;
    left.cpus -= n * least_cpus_;
}

void BestFit::take(const Stretch& stretch, Left& left, NodeSet& chosen) const {
    if (alike_ && stretch.nodes == stretch.run.size) {
        take_first(stretch.run, left, chosen);
        return;
    }
    const NodeIndex end = stretch.run.first + stretch.run.size;
    const NodeIndex from = stretch.first_req == none ? stretch.run.first : stretch.first_req;
    for (NodeIndex node = from; node < end && left.most > 0 && !left.done(); ++node) {
        if (!chosen.contains(node)) {
            take(node, left, chosen);
        }
    }
    for (NodeIndex node = from; node > stretch.run.first && left.most > 0 && !left.done();) {
        if (!chosen.contains(--node)) {
            take(node, left, chosen);
        }
    }
}

bool BestFit::choose(const NodeSet& offered, const NodeNeed& need, NodeSet& chosen) {
    chosen.clear();
    if (need.required != nullptr && !offered.contains(*need.required)) {
        return false;
    }
    Left left{need.wanted_nodes, need.max_nodes, need.cpus};
    find_stretches(offered, need, left, chosen);
    if (!alike_ && needs_largest(offered, left)) {
        take_largest(offered, left, chosen);
        return left.cpus <= 0 && enough(0, left, need);
    }
    while (!left.done() && left.most > 0) {
        Stretch* const stretch = best(left, need);
        if (stretch == nullptr || (need.contiguous && (stretch->cpus < left.cpus ||
                                                       !enough(stretch->nodes, left, need)))) {
            break;
        }
        take(*stretch, left, chosen);
        if (need.contiguous) {
            break;
        }
        stretch->nodes = 0;
    }
    return left.cpus <= 0 && enough(0, left, need);
}

// Whether nodes have different sizes, and the smallest would not meet the need for CPUs.
bool BestFit::needs_largest(const NodeSet& offered, const Left& left) const {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t most = 0;
    offered.for_each([&](NodeIndex node) {
        least = std::min(least, cpus(node));
        most = std::max(most, cpus(node));
    });
    return least < most && left.cpus > least * left.nodes;
}

// Of those of one size the last.
void BestFit::take_largest(const NodeSet& offered, Left& left, NodeSet& chosen) {
    by_size_.clear();
    offered.for_each([&](NodeIndex node) {
        if (!chosen.contains(node)) {
            by_size_.push_back(node);
        }
    });
    std::ranges::sort(by_size_, std::greater{},
                      [&](NodeIndex node) { return std::pair(cpus(node), node); });
    for (const NodeIndex node : by_size_) {
        if (left.most <= 0 || left.done()) {
            break;
        }
        take(node, left, chosen);
    }
}

} // namespace noctule::slurm
