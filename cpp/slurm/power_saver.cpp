#include "slurm/power_saver.hpp"

#include <algorithm>

namespace noctule::slurm {

namespace {

constexpr Seconds scan_period = 10; // of the power thread, where nothing changes

} // namespace

PowerSaver::PowerSaver(const Settings& settings)
    : settings_(settings), state_(settings.nodes.size(), State::on),
      since_(settings.nodes.size(), 0), off_(settings.n_nodes()) {
    is_used_ = std::ranges::any_of(settings.nodes,
                                   [](const Node& node) { return node.suspend_time >= 0; });
}

void PowerSaver::begin(Seconds now) {
    last_scan_ = now;
    for (NodeIndex node = 0; node < settings_.n_nodes(); ++node) {
        free(node, now);
    }
}

void PowerSaver::free(NodeIndex node, Seconds now) {
    const Seconds patience = settings_.nodes[node].suspend_time;
    if (patience >= 0 && state_[node] == State::on) {
        idle_.erase({since_[node] + patience + 1, node});
        since_[node] = now;
        idle_.emplace(now + patience + 1, node); // it must be idle for longer
    }
}

void PowerSaver::end_sleep(NodeIndex node, Seconds now) {
    totals_.suspended_seconds += static_cast<double>(now - since_[node]);
    off_.remove(node);
    state_[node] = State::on;
}

std::uint32_t PowerSaver::use(const NodeSet& nodes, Seconds now) {
    std::uint32_t n_booted = 0;
    nodes.for_each([&](NodeIndex node) {
        if (state_[node] == State::on) {
            idle_.erase({since_[node] + settings_.nodes[node].suspend_time + 1, node});
        } else {
            end_sleep(node, now);
            ++n_booted;
        }
    });
    totals_.n_resumed += n_booted;
    return n_booted;
}

void PowerSaver::lose(NodeIndex node, Seconds now) {
    if (state_[node] == State::on) {
        idle_.erase({since_[node] + settings_.nodes[node].suspend_time + 1, node});
        return;
    }
    going_off_.erase({since_[node] + settings_.parameters.suspend_timeout, node});
    end_sleep(node, now);
}

std::vector<NodeIndex> PowerSaver::scan(Seconds now) {
    std::vector<NodeIndex> chosen;
    const auto rate = settings_.parameters.suspend_rate;
    // Of each scan meanwhile, which found nothing, and of this one.
    for (Seconds left = std::min<Seconds>(now - last_scan_, 600); left > 0; left -= scan_period) {
        n_recent_ *= static_cast<double>(60 - std::min(left, scan_period)) / 60.0;
    }
    last_scan_ = now;
    const std::uint32_t n_allowed =
        rate == 0 ? settings_.n_nodes()
                  : rate - std::min(rate, static_cast<std::uint32_t>(n_recent_ + 0.5));
    // Slurm goes through the nodes in their order.
    for (auto at = idle_.begin(); at != idle_.end() && at->first <= now; ++at) {
        chosen.push_back(at->second);
    }
    std::ranges::sort(chosen);
    chosen.resize(std::min<std::size_t>(chosen.size(), n_allowed));
    for (const NodeIndex node : chosen) {
        idle_.erase({since_[node] + settings_.nodes[node].suspend_time + 1, node});
        state_[node] = State::going_off;
        since_[node] = now;
        going_off_.emplace(now + settings_.parameters.suspend_timeout, node);
    }
    n_recent_ += static_cast<double>(chosen.size());
    totals_.n_suspended += chosen.size();
    return chosen;
}

std::vector<NodeIndex> PowerSaver::take_off(Seconds now) {
    std::vector<NodeIndex> found;
    while (!going_off_.empty() && going_off_.begin()->first <= now) {
        const NodeIndex node = going_off_.begin()->second;
        going_off_.erase(going_off_.begin());
        state_[node] = State::off;
        off_.add(node);
        found.push_back(node);
    }
    return found;
}

std::optional<Seconds> PowerSaver::next_date() const {
    std::optional<Seconds> next;
    if (!idle_.empty()) {
        const Seconds due = idle_.begin()->first;
        const Seconds n_scans = (due - last_scan_ + scan_period - 1) / scan_period;
        next = last_scan_ + std::max<Seconds>(n_scans, 1) * scan_period;
    }
    if (!going_off_.empty() && (!next || going_off_.begin()->first < *next)) {
        next = going_off_.begin()->first;
    }
    return next;
}

PowerSaver::Totals PowerSaver::totals(Seconds now) const {
    Totals totals = totals_;
    for (NodeIndex node = 0; node < settings_.n_nodes(); ++node) {
        if (state_[node] != State::on) {
            totals.suspended_seconds +=
                static_cast<double>(std::max<Seconds>(now - since_[node], 0));
        }
    }
    return totals;
}

} // namespace noctule::slurm
