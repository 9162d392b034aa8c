#include "hierarchy.hpp"

#include "errors.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace noctule {

Hierarchy::Hierarchy(std::uint32_t n_hosts, std::span<const std::uint32_t> group_of_host) {
    if (n_hosts == 0) {
        return;
    }
    if (group_of_host.empty()) {
        groups_.push_back(HostSet::from_intervals({{0, n_hosts - 1}}));
    } else if (group_of_host.size() != n_hosts) {
        throw InputError("groups: got " + std::to_string(group_of_host.size()) +
                         " numbers, expected one for each of " + std::to_string(n_hosts) +
                         " hosts");
    }
    std::unordered_map<std::uint32_t, Group> found;
    for (HostId host = 0; host < group_of_host.size(); ++host) {
        const auto [entry, is_new] = found.try_emplace(group_of_host[host], n_groups());
        if (is_new) {
            groups_.emplace_back();
        }
        groups_[entry->second].append({host, host});
    }
    for (const HostSet& group : groups_) {
        sizes_.push_back(static_cast<std::uint32_t>(group.size()));
        largest_ = std::max(largest_, sizes_.back());
    }
}

std::optional<Hierarchy::Group> Hierarchy::find(const FreeHosts& free, std::uint32_t n) const {
    for (Group group = 0; group < n_groups(); ++group) {
        if (sizes_[group] >= n && free.count(groups_[group]) >= n) {
            return group;
        }
    }
    return std::nullopt;
}

} // namespace noctule
