// Power saving: nodes that have been idle for SuspendTime are switched off, some at a time, and
// jobs that are started on such nodes wait until they have booted.
//
// The engine switches hosts and lets jobs wait for them; this says which nodes, and when.
#pragma once

#include "slurm/settings.hpp"

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

    // Nodes get a job: those that are off boot. How many did.
    std::uint32_t use(const NodeSet& nodes, Seconds now);
    // A node has no job any more, or has come back.
    void free(NodeIndex node, Seconds now);
    // A node has gone away.
    void lose(NodeIndex node, Seconds now);

    // The nodes to be switched off now.
    std::vector<NodeIndex> scan(Seconds now);
    // Those whose switching off has ended by now.
    std::vector<NodeIndex> take_off(Seconds now);
    // When either may find any next.
    std::optional<Seconds> next_date() const;

    const NodeSet& off() const { return off_; } // and can be booted

    struct Totals {
        std::uint64_t n_suspended = 0; // switchings off
        std::uint64_t n_resumed = 0;
        double suspended_seconds = 0.0; // of nodes that are off, or on their way there
    };
    Totals totals(Seconds now) const;

  private:
    enum class State : std::uint8_t { on, going_off, off };

    void end_sleep(NodeIndex node, Seconds now);

    const Settings& settings_;
    bool is_used_ = false;
    std::vector<State> state_;
    std::vector<Seconds> since_;                        // idle, or switched off
    std::set<std::pair<Seconds, NodeIndex>> idle_;      // by the date at which they are due
    std::set<std::pair<Seconds, NodeIndex>> going_off_; // by the date at which they are off
    NodeSet off_;
    Seconds last_scan_ = 0;
    double n_recent_ = 0.0; // switched off in the last minute, older ones counting less
    Totals totals_;
};

} // namespace noctule::slurm
