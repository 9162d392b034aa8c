#include "slurm/node_choice.hpp"

#include "slurm/node_chooser.hpp"

namespace noctule::slurm {

namespace {

bool attempt(NodeChooser& chooser, const Demand& demand, std::span<const char> usable,
             std::span<const Settings::Switch> switches) {
    switch (demand.rule) {
    case ChoiceRule::best_fit:
        return chooser.best_fit(usable);
    case ChoiceRule::switches:
        return chooser.by_switches(usable, switches);
    case ChoiceRule::least_loaded:
        return chooser.least_loaded(usable);
    case ChoiceRule::serial_at_end:
        return chooser.serial_at_end(usable);
    case ChoiceRule::busy_first:
        return chooser.busy_first(usable);
    }
    return false;
}

// Tasks on nodes: what must be on each, then whole tasks from the lowest node up. Tasks that fit
// nowhere as a whole get what is left of a node, so that the job has fewer CPUs than it asked for:
// Slurm does so too.
void place_tasks(std::vector<NodeShare>& shares, const Demand& demand) {
    const std::int64_t a_task = demand.cpus_of_a_task;
    std::int64_t left = (demand.cpus + a_task - 1) / a_task;
    std::vector<std::int64_t> cpus;
    for (const NodeShare& share : shares) {
        cpus.push_back(std::min<std::int64_t>(share.cpus, demand.cpus_of_a_node));
        left -= demand.cpus_of_a_node / a_task;
    }
    for (std::size_t i = 0; i < shares.size() && left > 0; ++i) {
        const std::int64_t more = std::min(left, (shares[i].cpus - cpus[i]) / a_task);
        cpus[i] += more * a_task;
        left -= more;
    }
    for (std::size_t i = 0; i < shares.size(); ++i) {
        if (left > 0 && cpus[i] < shares[i].cpus) {
            cpus[i] = shares[i].cpus;
            --left;
        }
        shares[i].cpus = static_cast<std::uint32_t>(cpus[i]);
    }
}

std::vector<NodeShare> shares(const Offers& offers, const NodeChooser& chooser,
                              const Demand& demand) {
    std::vector<NodeShare> chosen;
    for (std::size_t i = 0; i < offers.nodes.size(); ++i) {
        if (chooser.is_taken(i)) {
            chosen.push_back({offers.nodes[i].node, offers.nodes[i].cpus});
        }
    }
    if (!demand.whole_nodes) {
        place_tasks(chosen, demand);
    }
    return chosen;
}

} // namespace

std::optional<std::vector<NodeShare>> choose_nodes(Offers offers, Demand demand,
                                                   std::span<const Settings::Switch> switches) {
    auto n_left = static_cast<std::int64_t>(offers.nodes.size());
    if (n_left < demand.min_nodes) {
        return std::nullopt;
    }
    const bool has_other_rule =
        demand.rule != ChoiceRule::best_fit && demand.rule != ChoiceRule::switches;
    // a single task needs to be told that it has one node only where GPUs could be on several
    if (demand.tasks > (has_other_rule || !demand.gres.empty() ? 0 : 1)) {
        demand.max_nodes = std::min(demand.max_nodes, std::max(demand.tasks, demand.min_nodes));
    }
    std::vector<char> usable(offers.nodes.size(), 1);
    std::uint32_t least = 0; // offers up to this size are left out
    while (true) {
        NodeChooser chooser(offers, demand);
        if (attempt(chooser, demand, usable, switches)) {
            return shares(offers, chooser, demand);
        }
        if (n_left <= demand.min_nodes) {
            return std::nullopt;
        }
        // The next size that leaves anything out, short of the largest.
        std::uint32_t next = 0;
        std::uint32_t largest = 0;
        for (std::size_t i = 0; i < offers.nodes.size(); ++i) {
            const std::uint32_t size = offers.nodes[i].cpus + offers.nodes[i].gpus;
            largest = std::max(largest, size);
            if (usable[i] != 0 && !offers.nodes[i].required && (next == 0 || size < next)) {
                next = size;
            }
        }
        least = std::max(least, next);
        if (next == 0 || least >= largest) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i < offers.nodes.size() && n_left > demand.min_nodes; ++i) {
            const Offer& offer = offers.nodes[i];
            if (usable[i] != 0 && !offer.required && offer.cpus + offer.gpus <= least) {
                usable[i] = 0;
                --n_left;
            }
        }
    }
}

std::vector<std::int64_t> NodeChooser::gres_of(std::size_t offer) const {
    const std::size_t n = gres_.size();
    const auto first = offers_.gres.begin() + static_cast<std::ptrdiff_t>(offer * n);
    return {first, first + static_cast<std::ptrdiff_t>(n)};
}

// The last node gets what is left, and each node leaves something for the nodes still to come.
void NodeChooser::shrink(Offer& offer) const {
    const std::int64_t kept = std::max<std::int64_t>(needed_ - 1, 0) * offer.cpus_kept;
    if (!demand_.whole_nodes && offer.cpus > most_cpus_ - kept) {
        offer.cpus =
            static_cast<std::uint32_t>(std::max(most_cpus_ - kept, demand_.cpus_of_a_node));
    }
}

void NodeChooser::take(std::size_t i) {
    Offer& offer = offers_.nodes[i];
    shrink(offer);
    taken_[i] = true;
    cpus_ -= offer.cpus;
    most_cpus_ -= offer.cpus;
    --wanted_;
    --needed_;
    --allowed_;
    for (std::size_t k = 0; k < gres_.size(); ++k) {
        gres_[k] -= offers_.gres[i * gres_.size() + k];
    }
}

// False if there are more of them than nodes allowed.
bool NodeChooser::take_required(std::span<const char> usable) {
    for (std::size_t i = 0; i < offers_.nodes.size(); ++i) {
        if (offers_.nodes[i].required) {
            if (usable[i] == 0 || allowed_ <= 0) {
                return false;
            }
            take(i);
        }
    }
    return true;
}

// Neighbours of equal weight (of any weight where they must be contiguous).
std::vector<NodeChooser::Run> NodeChooser::runs(std::span<const char> usable) const {
    std::vector<Run> found;
    const Offer* previous = nullptr;
    for (std::size_t i = 0; i < offers_.nodes.size(); ++i) {
        const Offer& offer = offers_.nodes[i];
        if (usable[i] == 0) {
            continue;
        }
        const bool continues = previous != nullptr && previous->node + 1 == offer.node &&
                               (demand_.contiguous || previous->weight == offer.weight);
        if (!continues) {
            found.push_back({i, i});
            found.back().gres.assign(gres_.size(), 0);
        }
        previous = &offer;
        Run& run = found.back();
        run.last = i;
        run.weight = offer.weight;
        if (offer.required) {
            run.required = run.required.value_or(i);
            continue;
        }
        ++run.nodes;
        run.cpus += offer.cpus;
        for (std::size_t k = 0; k < gres_.size(); ++k) {
            run.gres[k] += offers_.gres[i * gres_.size() + k];
        }
    }
    return found;
}

const NodeChooser::Run* NodeChooser::best_run(const std::vector<Run>& runs) const {
    const Run* best = nullptr;
    bool best_suffices = false;
    const bool has_required =
        std::ranges::any_of(runs, [](const Run& run) { return run.required.has_value(); });
    for (const Run& run : runs) {
        if (run.nodes == 0 || (demand_.contiguous && has_required && !run.required)) {
            continue;
        }
        const bool run_suffices = suffices(run);
        bool is_better =
            best == nullptr || (!best->required && run.required) || run.weight < best->weight;
        if (!is_better && run.weight == best->weight) {
            is_better =
                run_suffices ? !best_suffices || run.cpus < best->cpus : run.cpus > best->cpus;
        }
        if (is_better || (demand_.contiguous && run_suffices && !best_suffices)) {
            best = &run;
            best_suffices = run_suffices;
        }
    }
    return demand_.contiguous && !best_suffices ? nullptr : best;
}

// From the first required node up, then down.
void NodeChooser::take_around(const Run& run, std::span<const char> usable) {
    const auto take_if_needed = [&](std::size_t i) {
        if (allowed_ > 0 && !is_done() && usable[i] != 0 && !taken_[i]) {
            take(i);
        }
    };
    for (std::size_t i = *run.required; i <= run.last; ++i) {
        take_if_needed(i);
    }
    for (std::size_t i = *run.required; i > run.first; --i) {
        take_if_needed(i - 1);
    }
}

// The node with the fewest CPUs that are enough for all that is left.
std::optional<std::size_t> NodeChooser::tightest_node(const Run& run,
                                                      std::span<const char> usable) const {
    std::optional<std::size_t> best;
    for (std::size_t i = run.first; i <= run.last; ++i) {
        const Offer& offer = offers_.nodes[i];
        if (usable[i] == 0 || taken_[i] || offer.cpus < cpus_ ||
            (best && offer.cpus >= offers_.nodes[*best].cpus) || !gives_gres(gres_of(i))) {
            continue;
        }
        best = i;
    }
    return best;
}

void NodeChooser::take_upwards(const Run& run, std::span<const char> usable) {
    if (wanted_ <= 1) {
        if (const auto only = tightest_node(run, usable)) {
            take(*only);
            return;
        }
    }
    for (std::size_t i = run.first; i <= run.last && allowed_ > 0 && !is_done(); ++i) {
        const bool is_last = allowed_ == 1;
        if (usable[i] != 0 && !taken_[i] && !(is_last && offers_.nodes[i].cpus < cpus_)) {
            take(i);
        }
    }
}

bool NodeChooser::best_fit(std::span<const char> usable) {
    if (!take_required(usable)) {
        return false;
    }
    std::vector<Run> left = runs(usable);
    while (!is_done() && allowed_ > 0) {
        const Run* best = best_run(left);
        if (best == nullptr) {
            break;
        }
        if (best->required) {
            take_around(*best, usable);
        } else {
            take_upwards(*best, usable);
        }
        left[static_cast<std::size_t>(best - left.data())].nodes = 0;
    }
    return is_done() || (cpus_ <= 0 && has_gres() && are_enough_nodes(0));
}

std::map<std::uint32_t, std::vector<std::size_t>>
NodeChooser::left_by_weight(std::span<const char> usable) const {
    std::map<std::uint32_t, std::vector<std::size_t>> found;
    for (std::size_t i = 0; i < offers_.nodes.size(); ++i) {
        if (usable[i] != 0 && !taken_[i]) {
            found[offers_.nodes[i].weight].push_back(i);
        }
    }
    return found;
}

// Lightest nodes first, and among them the last.
bool NodeChooser::serial_at_end(std::span<const char> usable) {
    if (!take_required(usable)) {
        return false;
    }
    for (const auto& [weight, among] : left_by_weight(usable)) {
        for (auto i = among.rbegin(); i != among.rend() && !is_done() && allowed_ > 0; ++i) {
            take(*i);
        }
    }
    return is_done() || is_enough();
}

// Lightest nodes first, and among them those with jobs. Slurm does not look whether these were
// enough before it takes the first idle one of their weight.
bool NodeChooser::busy_first(std::span<const char> usable) {
    if (!take_required(usable)) {
        return false;
    }
    for (const auto& [weight, among] : left_by_weight(usable)) {
        if (is_done() || allowed_ <= 0) {
            break;
        }
        for (const bool idle : {false, true}) {
            for (const std::size_t i : among) {
                if (offers_.nodes[i].idle != idle) {
                    continue;
                }
                take(i);
                if (is_done() || allowed_ <= 0) {
                    break;
                }
            }
        }
    }
    return is_done() || is_enough();
}

// Lightest nodes first, and among them the least loaded.
bool NodeChooser::least_loaded(std::span<const char> usable) {
    if (!take_required(usable)) {
        return false;
    }
    for (const auto& [weight, among] : left_by_weight(usable)) {
        std::uint32_t last_free = none;
        while (!is_done() && allowed_ > 0) {
            const auto next = next_least_loaded(among, last_free);
            if (!next) {
                break;
            }
            take(*next);
            last_free = offers_.nodes[*next].free_cpus;
        }
    }
    return is_done() || is_enough();
}

// The one of which the largest part is free. All that are looked at shrink to what the job could
// take of them now; the first that is better than those before it and has as many free CPUs as the
// last one that was taken ends the search.
std::optional<std::size_t> NodeChooser::next_least_loaded(std::span<const std::size_t> among,
                                                          std::uint32_t last_free) {
    std::optional<std::size_t> best;
    for (const std::size_t i : among) {
        if (taken_[i]) {
            continue;
        }
        Offer& offer = offers_.nodes[i];
        shrink(offer);
        if (best && std::uint64_t{offers_.nodes[*best].free_cpus} * offer.all_cpus >=
                        std::uint64_t{offer.free_cpus} * offers_.nodes[*best].all_cpus) {
            continue;
        }
        best = i;
        if (offer.free_cpus == last_free) {
            break;
        }
    }
    return best;
}

} // namespace noctule::slurm
