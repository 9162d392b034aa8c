#include "network/plan.hpp"

#include <algorithm>

namespace noctule {

std::string ClusterNames::number(MemberIndex rank) const {
    std::uint32_t left = rank;
    for (const auto& [first, count] : numbers) {
        if (left < count) {
            return std::to_string(first + left);
        }
        left -= count;
    }
    return std::to_string(rank);
}

const std::string& NetworkPlan::point_name(PointId point) const { return point_names_[point]; }

ZoneId NetworkPlan::zone_of_point(PointId point) const {
    const auto found = point < n_hosts_ ? zone_points_.end() : zone_points_.find(point);
    return found == zone_points_.end() ? no_zone : found->second;
}

ZoneId NetworkPlan::common_zone(PointId a, PointId b) const {
    return common_zone_of(places_[a].zone, b);
}

ZoneId NetworkPlan::common_zone_of(ZoneId x, PointId point) const {
    ZoneId y = places_[point].zone;
    while (x != y) {
        if (x == no_zone || y == no_zone) {
            return no_zone;
        }
        const bool x_is_deeper = zones_[x].depth >= zones_[y].depth;
        ZoneId& deeper = x_is_deeper ? x : y;
        deeper = zones_[deeper].parent;
    }
    return x;
}

PointId NetworkPlan::member_around(ZoneId zone, PointId point) const {
    while (places_[point].zone != zone) {
        point = zones_[places_[point].zone].point;
    }
    return point;
}

std::string NetworkPlan::name_in_cluster(const OfCluster& cluster, std::uint32_t index) const {
    const std::string start = cluster.names.name + "_link_";
    const auto& routes = zones_[cluster.zone].routes;
    if (index < cluster.n_cables) {
        const std::uint32_t cable = cluster.split ? index / 2 : index;
        const char* half = !cluster.split ? "" : index % 2 == 0 ? "_UP" : "_DOWN";
        if (const auto* tree = std::get_if<FatTree>(&routes)) {
            return tree->cable_name(cable) + half;
        }
        if (const auto* torus = std::get_if<Torus>(&routes)) {
            return torus->cable_name(cable, cluster.names.name) + half;
        }
        if (const auto* dragonfly = std::get_if<Dragonfly>(&routes)) {
            return dragonfly->cable_name(cable) + half;
        }
        return start + cluster.names.number(cable) + half;
    }
    index -= cluster.n_cables;
    if (index >= cluster.n_limiters) {
        return start + cluster.names.number(index - cluster.n_limiters) + "_loopback";
    }
    const auto numbered = [&](const auto& topology, const auto& number) {
        const MemberIndex n_hosts = topology.n_hosts();
        return index < n_hosts ? std::to_string(index) : number(index - n_hosts);
    };
    std::string number = cluster.names.number(index);
    if (const auto* tree = std::get_if<FatTree>(&routes)) {
        number = numbered(*tree, [&](std::uint32_t i) { return tree->switch_number(i); });
    } else if (const auto* fly = std::get_if<Dragonfly>(&routes)) {
        number = numbered(*fly, [&](std::uint32_t i) { return fly->router_number(i); });
    } else if (std::holds_alternative<Torus>(routes)) {
        number = std::to_string(index);
    }
    return start + number + "_limiter";
}

std::string NetworkPlan::link_name(LinkId link) const {
    const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), link,
                                        [](LinkId id, const Block& b) { return id < b.first; });
    const Block& block = *std::prev(after);
    const std::uint32_t index = link - block.first;
    if (const auto* named = std::get_if<Named>(&block.links)) {
        return named->names[index];
    }
    if (const auto* pairs = std::get_if<Pairs>(&block.links)) {
        return "link_" + point_name(pairs->hosts[index / 2]) + (index % 2 == 0 ? "_UP" : "_DOWN");
    }
    return name_in_cluster(std::get<OfCluster>(block.links), index);
}

std::optional<LinkId> NetworkPlan::find_link(std::string_view name) const {
    const std::string key(name);
    if (const auto found = declared_.find(key); found != declared_.end()) {
        return found->second;
    }
    // Names of clusters' links are made all at once, since few ever need to be found.
    std::call_once(all_named_, [this] {
        for (LinkId link = 0; link < links_.size(); ++link) {
            by_name_.emplace(link_name(link), link);
        }
    });
    const auto found = by_name_.find(key);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

} // namespace noctule
