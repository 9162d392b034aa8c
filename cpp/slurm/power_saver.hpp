// Power saving: nodes that have been idle for SuspendTime are switched off, some at a time, and
// jobs that are started on such nodes wait until they have booted. Nodes that take too long for
// that are set down.
//
// The engine switches hosts and lets jobs wait for them; this says which nodes, and when.
#pragma once

#include "slurm/settings.hpp"

#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace noctule::slurm {

class PowerSaver {
  public:
    explicit PowerSaver(const Settings& settings);

    // Whether any node is ever switched off.
    bool is_used() const { return is_used_; }
    // Nodes are idle from the beginning.
    void begin(Seconds now);

    // Nodes get a job: those that are off boot, for as long as `seconds_of` says of each.
    struct Boots {
        std::uint32_t n = 0;
        bool fails = false; // one of them never ends
    };
    Boots use(const NodeSet& nodes, Seconds now,
              const std::function<Seconds(NodeIndex)>& seconds_of);
    // A node has no job any more, or has come back.
    void free(NodeIndex node, Seconds now);
    // A node has gone away.
    void lose(NodeIndex node, Seconds now);

    // The nodes to be switched off now.
    std::vector<NodeIndex> scan(Seconds now);
    // Those whose switching off has ended by now.
    std::vector<NodeIndex> take_off(Seconds now);
    // Those that should have booted by now and have not: they are down.
    std::vector<NodeIndex> give_up(Seconds now);
    // Those that are no longer down.
    std::vector<NodeIndex> take_back(Seconds now);
    // When any of these may find some next.
    std::optional<Seconds> next_date() const;

    const NodeSet& off() const { return off_; } // and can be booted
    // Whether a node is on its way, but will not get there.
    bool boots_in_vain(NodeIndex node) const { return booted_[node] == no_date; }

    struct Totals {
        std::uint64_t n_suspended = 0; // switchings off
        std::uint64_t n_resumed = 0;
        std::uint64_t n_failed = 0;     // boots that took too long
        double suspended_seconds = 0.0; // of nodes that are off, or on their way there
    };
    Totals totals(Seconds now) const;

  private:
    enum class State : std::uint8_t { on, going_off, off, down };
    using Dates = std::set<std::pair<Seconds, NodeIndex>>;

    static std::vector<NodeIndex> take_due(Dates& dates, Seconds now);
    void end_sleep(NodeIndex node, Seconds now);
    // From when on it may be switched off.
    Seconds idle_too_long(NodeIndex node) const {
        return since_[node] + settings_.nodes[node].suspend_time + 1;
    }
    void end_idling(NodeIndex node);
    NodeSet kept_on() const;
    std::vector<NodeIndex> take_tired(Seconds now);
    bool draw_failure(NodeIndex node);
    Seconds give_up_date(NodeIndex node) const {
        return resumed_[node] + settings_.nodes[node].resume_timeout + 1;
    }
    Seconds next_scan(Seconds due) const;

    const Settings& settings_;
    bool is_used_ = false;
    std::vector<State> state_;
    std::vector<Seconds> since_;   // idle, or switched off
    std::vector<Seconds> resumed_; // when it was last switched on
    std::vector<Seconds> booted_;  // when that was to be over; no_date: never
    std::vector<std::uint32_t> n_resumed_;
    Dates idle_;         // by the date at which they are due
    Dates going_off_;    // by the date at which they are off
    Dates late_;         // boots that take too long, by the date at which that is seen
    Dates returning_;    // nodes that are down, by the date at which they come back
    NodeSet idle_nodes_; // that are on, and not lost
    NodeSet held_back_;  // that would be due, but stay on while no other of their list is idle
    NodeSet off_;
    Seconds last_scan_ = 0;
    double n_recent_ = 0.0; // switched off in the last minute, older ones counting less
    Totals totals_;
};

} // namespace noctule::slurm
