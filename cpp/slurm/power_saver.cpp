#include "slurm/power_saver.hpp"

#include <algorithm>

namespace noctule::slurm {

namespace {

constexpr Seconds scan_period = 10; // of the power thread, where nothing changes

// A number in [0, 1) that depends on all three, as if it was drawn (splitmix64).
double fraction_of(std::uint64_t seed, std::uint64_t one, std::uint64_t other) {
    std::uint64_t bits = seed * 0x9e3779b97f4a7c15 + (one << 32 | other) + 1;
    for (const std::uint64_t factor : {0xbf58476d1ce4e5b9, 0x94d049bb133111eb}) {
        bits = (bits ^ bits >> 30) * factor;
    }
    return static_cast<double>((bits ^ bits >> 31) >> 11) * 0x1p-53;
}

} // namespace

PowerSaver::PowerSaver(const Settings& settings)
    : settings_(settings), state_(settings.nodes.size(), State::on),
      since_(settings.nodes.size(), 0), resumed_(settings.nodes.size(), 0),
      booted_(settings.nodes.size(), 0), n_resumed_(settings.nodes.size(), 0),
      idle_nodes_(settings.n_nodes()), held_back_(settings.n_nodes()), off_(settings.n_nodes()) {
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
    if (state_[node] != State::on) {
        return;
    }
    end_idling(node);
    since_[node] = now;
    idle_nodes_.add(node);
    if (settings_.nodes[node].suspend_time >= 0) {
        idle_.emplace(idle_too_long(node), node);
    }
    // It may stay on in place of one that did.
    held_back_.for_each([&](NodeIndex other) { idle_.emplace(idle_too_long(other), other); });
    held_back_.clear();
}

void PowerSaver::end_idling(NodeIndex node) {
    idle_.erase({idle_too_long(node), node});
    idle_nodes_.remove(node);
    held_back_.remove(node);
}

void PowerSaver::end_sleep(NodeIndex node, Seconds now) {
    totals_.suspended_seconds += static_cast<double>(now - since_[node]);
    off_.remove(node);
    state_[node] = State::on;
}

bool PowerSaver::draw_failure(NodeIndex node) {
    const Parameters& parameters = settings_.parameters;
    return fraction_of(parameters.boot_seed, node, n_resumed_[node]++) < parameters.boot_failures;
}

PowerSaver::Boots PowerSaver::use(const NodeSet& nodes, Seconds now,
                                  const std::function<Seconds(NodeIndex)>& seconds_of) {
    Boots boots;
    nodes.for_each([&](NodeIndex node) {
        if (state_[node] == State::on) {
            end_idling(node);
            return;
        }
        end_sleep(node, now);
        ++boots.n;
        const bool fails = draw_failure(node);
        boots.fails |= fails;
        resumed_[node] = now;
        booted_[node] = fails ? no_date : now + seconds_of(node);
        if (booted_[node] >= give_up_date(node)) {
            late_.emplace(give_up_date(node), node);
        }
    });
    totals_.n_resumed += boots.n;
    return boots;
}

void PowerSaver::lose(NodeIndex node, Seconds now) {
    late_.erase({give_up_date(node), node});
    booted_[node] = 0;
    switch (state_[node]) {
    case State::on:
        end_idling(node);
        break;
    case State::down:
        std::erase_if(returning_, [&](const auto& due) { return due.second == node; });
        state_[node] = State::on;
        break;
    default:
        going_off_.erase({since_[node] + settings_.nodes[node].suspend_timeout, node});
        end_sleep(node, now);
    }
}

// The first idle ones of each list of nodes of which some stay on.
NodeSet PowerSaver::kept_on() const {
    NodeSet kept(settings_.n_nodes());
    for (const Settings::KeptNodes& list : settings_.kept_nodes) {
        std::uint32_t n_left = list.n;
        (list.nodes & idle_nodes_).for_each([&](NodeIndex node) {
            if (n_left > 0) {
                kept.add(node);
                --n_left;
            }
        });
    }
    return kept;
}

std::vector<NodeIndex> PowerSaver::take_tired(Seconds now) {
    const NodeSet kept = kept_on();
    std::vector<NodeIndex> tired = take_due(idle_, now);
    std::erase_if(tired, [&](NodeIndex node) {
        if (kept.contains(node)) {
            held_back_.add(node);
        }
        return kept.contains(node);
    });
    std::ranges::sort(tired); // Slurm goes through the nodes in their order
    return tired;
}

std::vector<NodeIndex> PowerSaver::scan(Seconds now) {
    const auto rate = settings_.parameters.suspend_rate;
    // Of each scan meanwhile, which found nothing, and of this one.
    for (Seconds left = std::min<Seconds>(now - last_scan_, 600); left > 0; left -= scan_period) {
        n_recent_ *= static_cast<double>(60 - std::min(left, scan_period)) / 60.0;
    }
    last_scan_ = now;
    const std::uint32_t n_allowed =
        rate == 0 ? settings_.n_nodes()
                  : rate - std::min(rate, static_cast<std::uint32_t>(n_recent_ + 0.5));
    std::vector<NodeIndex> chosen = take_tired(now);
    while (chosen.size() > n_allowed) {
        idle_.emplace(idle_too_long(chosen.back()), chosen.back());
        chosen.pop_back();
    }
    for (const NodeIndex node : chosen) {
        end_idling(node);
        state_[node] = State::going_off;
        since_[node] = now;
        going_off_.emplace(now + settings_.nodes[node].suspend_timeout, node);
    }
    n_recent_ += static_cast<double>(chosen.size());
    totals_.n_suspended += chosen.size();
    return chosen;
}

std::vector<NodeIndex> PowerSaver::take_due(Dates& dates, Seconds now) {
    std::vector<NodeIndex> found;
    while (!dates.empty() && dates.begin()->first <= now) {
        found.push_back(dates.begin()->second);
        dates.erase(dates.begin());
    }
    return found;
}

std::vector<NodeIndex> PowerSaver::take_off(Seconds now) {
    std::vector<NodeIndex> found = take_due(going_off_, now);
    for (const NodeIndex node : found) {
        state_[node] = State::off;
        off_.add(node);
    }
    return found;
}

std::vector<NodeIndex> PowerSaver::give_up(Seconds now) {
    std::vector<NodeIndex> found = take_due(late_, now);
    // What has booted before anybody looked is not late.
    std::erase_if(found,
                  [&](NodeIndex node) { return booted_[node] <= now || give_up_date(node) > now; });
    for (const NodeIndex node : found) {
        const Parameters& parameters = settings_.parameters;
        if (parameters.late_nodes_return && booted_[node] != no_date) {
            returning_.emplace(booted_[node], node);
        } else if (parameters.repair_seconds != no_date) {
            returning_.emplace(now + parameters.repair_seconds, node);
        }
        end_idling(node);
        state_[node] = State::down;
    }
    totals_.n_failed += found.size();
    return found;
}

std::vector<NodeIndex> PowerSaver::take_back(Seconds now) {
    std::vector<NodeIndex> found = take_due(returning_, now);
    for (const NodeIndex node : found) {
        state_[node] = State::on;
        booted_[node] = 0;
    }
    return found;
}

Seconds PowerSaver::next_scan(Seconds due) const {
    const Seconds n_scans = (due - last_scan_ + scan_period - 1) / scan_period;
    return last_scan_ + std::max<Seconds>(n_scans, 1) * scan_period;
}

std::optional<Seconds> PowerSaver::next_date() const {
    Seconds next = no_date;
    for (const Dates* dates : {&idle_, &late_}) {
        next = dates->empty() ? next : std::min(next, next_scan(dates->begin()->first));
    }
    for (const Dates* dates : {&going_off_, &returning_}) {
        next = dates->empty() ? next : std::min(next, dates->begin()->first);
    }
    return next == no_date ? std::nullopt : std::optional(next);
}

PowerSaver::Totals PowerSaver::totals(Seconds now) const {
    Totals totals = totals_;
    for (NodeIndex node = 0; node < settings_.n_nodes(); ++node) {
        if (state_[node] == State::going_off || state_[node] == State::off) {
            totals.suspended_seconds +=
                static_cast<double>(std::max<Seconds>(now - since_[node], 0));
        }
    }
    return totals;
}

} // namespace noctule::slurm
