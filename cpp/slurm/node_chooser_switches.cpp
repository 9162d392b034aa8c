// topology/tree: nodes below one switch, from as few leaves as possible.
#include "slurm/node_chooser.hpp"

#include <functional>
#include <map>

namespace noctule::slurm {

namespace {

using Switches = std::span<const Settings::Switch>;

// Hops between two switches; nothing if no switch is above both.
std::optional<std::uint32_t> hops(Switches switches, std::uint32_t from, std::uint32_t to) {
    std::uint32_t up = 0;
    for (std::uint32_t a = from; a != none; a = switches[a].parent, ++up) {
        std::uint32_t down = 0;
        for (std::uint32_t b = to; b != none; b = switches[b].parent, ++down) {
            if (a == b) {
                return up + down;
            }
        }
    }
    return std::nullopt;
}

// Positive if leaf `a` suits better: it fits and is the smaller one, or something above it is.
int compare(Switches switches, std::span<const std::int64_t> n_nodes, std::uint32_t a,
            std::uint32_t b, std::int64_t wanted) {
    while (true) {
        const bool a_fits = n_nodes[a] >= wanted;
        const bool b_fits = n_nodes[b] >= wanted;
        if (a_fits != b_fits) {
            return a_fits ? 1 : -1;
        }
        if (a_fits) {
            if (n_nodes[a] != n_nodes[b]) {
                return n_nodes[a] < n_nodes[b] ? 1 : -1;
            }
            break;
        }
        const std::uint32_t above_a = switches[a].parent;
        const std::uint32_t above_b = switches[b].parent;
        if (above_a == none || above_b == none || above_a == above_b) {
            break;
        }
        a = above_a;
        b = above_b;
    }
    if (n_nodes[a] != n_nodes[b]) {
        return n_nodes[a] > n_nodes[b] ? 1 : -1;
    }
    if (switches[a].level != switches[b].level) {
        return switches[a].level < switches[b].level ? 1 : -1;
    }
    return 0;
}

} // namespace

struct NodeChooser::Tree {
    Switches switches;
    std::vector<std::vector<std::size_t>> offers; // usable, below each switch, ascending
    std::vector<bool> is_candidate;               // by offer: of the weights that are used
    std::vector<std::int64_t> n_nodes;            // candidates below each switch
    std::vector<bool> in_use;
    std::vector<std::optional<std::uint32_t>> distance; // of each switch to all those in use

    Tree(Switches all, std::size_t n_offers)
        : switches(all), offers(all.size()), is_candidate(n_offers, false), n_nodes(all.size(), 0),
          in_use(all.size(), false), distance(all.size(), 0) {}

    // Leaves only what is below this switch.
    void prune(std::uint32_t top, const std::vector<Offer>& nodes) {
        for (std::vector<std::size_t>& below : offers) {
            std::erase_if(
                below, [&](std::size_t i) { return !switches[top].nodes.contains(nodes[i].node); });
        }
    }

    void use(std::uint32_t used) {
        in_use[used] = true;
        for (std::uint32_t i = 0; i < switches.size(); ++i) {
            const auto more = hops(switches, used, i);
            distance[i] = distance[i] && more ? std::optional(*distance[i] + *more) : std::nullopt;
        }
    }

    std::optional<std::uint32_t> best_leaf(std::int64_t wanted) const {
        std::optional<std::uint32_t> best;
        for (std::uint32_t i = 0; i < switches.size(); ++i) {
            if (switches[i].level != 0 || in_use[i] || n_nodes[i] == 0 || !distance[i]) {
                continue;
            }
            const int order = best ? compare(switches, n_nodes, i, *best, wanted) : 1;
            if (!best || (distance[i] < distance[*best] && order >= 0) ||
                (distance[i] == distance[*best] && order > 0)) {
                best = i;
            }
        }
        return best;
    }
};

// The highest switch above a required node, or above enough nodes with the lightest among them.
std::optional<std::uint32_t> NodeChooser::top_switch(Tree& tree,
                                                     std::span<const char> usable) const {
    const std::vector<Offer>& nodes = offers_.nodes;
    const bool has_required =
        std::ranges::any_of(nodes, [](const Offer& offer) { return offer.required; });
    std::optional<std::uint32_t> top;
    std::uint32_t top_weight = 0;
    for (std::uint32_t s = 0; s < tree.switches.size(); ++s) {
        std::uint32_t lightest = none;
        bool is_required = false;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (usable[i] != 0 && tree.switches[s].nodes.contains(nodes[i].node)) {
                tree.offers[s].push_back(i);
                is_required = is_required || nodes[i].required;
                lightest = std::min(lightest, nodes[i].weight);
            }
        }
        const auto n = static_cast<std::int64_t>(tree.offers[s].size());
        const std::uint32_t level = tree.switches[s].level;
        const bool suits =
            has_required
                ? is_required && (!top || level > tree.switches[*top].level)
                : n > 0 && are_enough_nodes(n) &&
                      (!top || (level >= tree.switches[*top].level && lightest <= top_weight));
        if (suits) {
            top = s;
            top_weight = lightest;
        }
    }
    return top;
}

// As many weights are used as it takes: all nodes but the heaviest of them are taken at once.
bool NodeChooser::take_lighter_nodes(Tree& tree) {
    const std::vector<Offer>& nodes = offers_.nodes;
    std::map<std::uint32_t, std::vector<std::size_t>> by_weight;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (tree.is_candidate[i] && !taken_[i]) {
            by_weight[nodes[i].weight].push_back(i);
        }
    }
    tree.is_candidate.assign(nodes.size(), false);
    Run pool{0, 0};
    pool.gres.assign(gres_.size(), 0);
    std::vector<std::size_t> lighter;
    const std::vector<std::size_t>* heaviest = nullptr;
    for (const auto& [weight, offers] : by_weight) {
        if (heaviest != nullptr && suffices(pool)) {
            break;
        }
        if (heaviest != nullptr) {
            lighter.insert(lighter.end(), heaviest->begin(), heaviest->end());
        }
        heaviest = &offers;
        for (const std::size_t i : offers) {
            tree.is_candidate[i] = true;
            ++pool.nodes;
            pool.cpus += nodes[i].cpus;
            const std::vector<std::int64_t> more = gres_of(i);
            std::ranges::transform(pool.gres, more, pool.gres.begin(), std::plus<>());
        }
    }
    if (!suffices(pool)) {
        return false;
    }
    std::ranges::sort(lighter);
    for (const std::size_t i : lighter) {
        if (allowed_ <= 0) {
            return false;
        }
        take(i);
    }
    return true;
}

void NodeChooser::take_below(const Tree& tree, std::uint32_t leaf) {
    for (const std::size_t i : tree.offers[leaf]) {
        if (tree.is_candidate[i] && !taken_[i] && allowed_ > 0 && !is_done()) {
            take(i);
        }
    }
}

bool NodeChooser::by_switches(std::span<const char> usable, Switches switches) {
    if (!take_required(usable)) {
        return false;
    }
    Tree tree(switches, offers_.nodes.size());
    const auto top = top_switch(tree, usable);
    if (!top) {
        return false;
    }
    tree.prune(*top, offers_.nodes);
    for (const std::size_t i : tree.offers[*top]) {
        tree.is_candidate[i] = true;
    }
    for (std::size_t i = 0; i < offers_.nodes.size(); ++i) {
        if (taken_[i] && !tree.is_candidate[i]) {
            return false; // required nodes without a switch above all of them
        }
    }
    if (is_done()) {
        return true;
    }
    if (!take_lighter_nodes(tree)) {
        return false;
    }
    for (std::uint32_t s = 0; s < switches.size(); ++s) {
        bool is_used = false;
        for (const std::size_t i : tree.offers[s]) {
            is_used = is_used || taken_[i];
            tree.n_nodes[s] += tree.is_candidate[i] || taken_[i] ? 1 : 0;
        }
        if (is_used) {
            tree.use(s);
        }
    }
    for (std::uint32_t s = 0; s < switches.size(); ++s) {
        if (tree.in_use[s] && switches[s].level == 0) {
            take_below(tree, s);
        }
    }
    while (!is_done() && allowed_ > 0) {
        const auto leaf = tree.best_leaf(wanted_);
        if (!leaf) {
            break;
        }
        tree.use(*leaf);
        take_below(tree, *leaf);
    }
    return is_done() || is_enough();
}

} // namespace noctule::slurm
