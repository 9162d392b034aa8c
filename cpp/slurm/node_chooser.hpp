// One attempt at choosing nodes: what is still needed, and what was taken.
#pragma once

#include "slurm/node_choice.hpp"

#include <algorithm>
#include <map>

namespace noctule::slurm {

class NodeChooser {
  public:
    // Shrinks offers to what is taken of them, also in attempts that fail, as Slurm does.
    NodeChooser(Offers& offers, const Demand& demand)
        : offers_(offers), demand_(demand), taken_(offers.nodes.size(), false), cpus_(demand.cpus),
          most_cpus_(demand.cpus),
          wanted_(demand.gres.empty() ? std::max(demand.min_nodes, demand.wanted_nodes)
                                      : std::min(demand.min_nodes, demand.wanted_nodes)),
          needed_(demand.min_nodes), allowed_(demand.max_nodes),
          gres_(demand.gres.begin(), demand.gres.end()) {}

    // Whether it worked out; the nodes are then in `taken`.
    bool best_fit(std::span<const char> usable);
    bool serial_at_end(std::span<const char> usable);
    bool busy_first(std::span<const char> usable);
    bool least_loaded(std::span<const char> usable);
    bool by_switches(std::span<const char> usable, std::span<const Settings::Switch> switches);

    bool is_taken(std::size_t offer) const { return taken_[offer]; }

  private:
    struct Run {
        std::size_t first, last; // offers
        std::int64_t nodes = 0;  // that are not required
        std::int64_t cpus = 0;
        std::vector<std::int64_t> gres = {};
        std::optional<std::size_t> required = {};
        std::uint32_t weight = 0;
    };

    void shrink(Offer& offer) const;
    void take(std::size_t offer);
    bool take_required(std::span<const char> usable);
    bool is_done() const { return wanted_ <= 0 && cpus_ <= 0 && has_gres(); }
    // A range of nodes was asked for, and what was taken lies within.
    bool is_enough() const { return needed_ <= 0 && cpus_ <= 0 && has_gres(); }
    bool has_gres() const {
        return std::ranges::all_of(gres_, [](std::int64_t left) { return left <= 0; });
    }
    bool gives_gres(std::span<const std::int64_t> gres) const {
        return std::ranges::equal(gres_, gres, [](auto left, auto has) { return left <= has; });
    }
    bool are_enough_nodes(std::int64_t n) const {
        const bool is_range = demand_.wanted_nodes > demand_.min_nodes;
        return n >= (is_range ? wanted_ + demand_.min_nodes - demand_.wanted_nodes : wanted_);
    }
    bool suffices(const Run& run) const {
        return run.cpus >= cpus_ && are_enough_nodes(run.nodes) && gives_gres(run.gres);
    }
    std::vector<std::int64_t> gres_of(std::size_t offer) const;

    std::vector<Run> runs(std::span<const char> usable) const;
    const Run* best_run(const std::vector<Run>& runs) const;
    // Offers that are usable and not taken yet.
    std::map<std::uint32_t, std::vector<std::size_t>>
    left_by_weight(std::span<const char> usable) const;
    std::optional<std::size_t> next_least_loaded(std::span<const std::size_t> among,
                                                 std::uint32_t last_free);
    std::optional<std::size_t> tightest_node(const Run& run, std::span<const char> usable) const;
    void take_around(const Run& run, std::span<const char> usable);
    void take_upwards(const Run& run, std::span<const char> usable);

    struct Tree; // the switches of one attempt
    std::optional<std::uint32_t> top_switch(Tree& tree, std::span<const char> usable) const;
    bool take_lighter_nodes(Tree& tree);
    void take_below(const Tree& tree, std::uint32_t leaf);

    Offers& offers_;
    const Demand& demand_;
    std::vector<bool> taken_;
    std::int64_t cpus_;      // still needed
    std::int64_t most_cpus_; // that the job may still get
    std::int64_t wanted_;    // nodes
    std::int64_t needed_;
    std::int64_t allowed_;
    std::vector<std::int64_t> gres_;
};

} // namespace noctule::slurm
