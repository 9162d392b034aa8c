// Groups of hosts that lie close together, such as those under one switch or in one cabinet.
//
// A group need not be a run of hosts: ids follow the names of hosts, not their places.
#pragma once

#include "free_hosts.hpp"

#include <optional>
#include <span>
#include <vector>

namespace noctule {

class Hierarchy {
  public:
    using Group = std::uint32_t;

    // The group of each host, under any numbers; none at all make one group. Throws InputError if
    // there is not one for every host.
    Hierarchy(std::uint32_t n_hosts, std::span<const std::uint32_t> group_of_host);

    // Groups are numbered by their lowest hosts.
    Group n_groups() const { return static_cast<Group>(groups_.size()); }
    const HostSet& hosts(Group group) const { return groups_[group]; }
    std::uint32_t size(Group group) const { return sizes_[group]; }
    std::uint32_t largest() const { return largest_; } // size of a group; 0 without hosts

    // The first group with so many free hosts.
    std::optional<Group> find(const FreeHosts& free, std::uint32_t n) const;

  private:
    std::vector<HostSet> groups_;
    std::vector<std::uint32_t> sizes_;
    std::uint32_t largest_ = 0;
};

} // namespace noctule
