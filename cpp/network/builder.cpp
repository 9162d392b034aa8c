#include "errors.hpp"
#include "network/plan.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

namespace {

std::string quoted(const std::string& name) { return "'" + name + "'"; }

bool is_amount(double value) { return std::isfinite(value) && value >= 0; }

} // namespace

NetworkBuilder::NetworkBuilder(std::vector<std::string> host_names, double loopback_bandwidth,
                               double loopback_latency)
    : plan_(std::make_shared<NetworkPlan>()) {
    plan_->n_hosts_ = host_names.size();
    plan_->places_.resize(host_names.size());
    plan_->point_names_ = std::move(host_names);
    add_link("__loopback__", loopback_bandwidth, loopback_latency, true);
}

Zone& NetworkBuilder::zone_at(ZoneId zone) {
    if (zone >= plan_->zones_.size()) {
        throw InputError("network: got zone " + std::to_string(zone) + ", there are " +
                         std::to_string(plan_->zones_.size()));
    }
    return plan_->zones_[zone];
}

Star& NetworkBuilder::star_of(Zone& zone) {
    auto* star = std::get_if<Star>(&zone.routes);
    if (star == nullptr) {
        throw InputError("zone " + quoted(zone.name) +
                         ": got links of hosts, expected them in a "
                         "zone of routing Cluster or Vivaldi only");
    }
    star->members.resize(std::max<std::size_t>(star->members.size(), zone.n_members));
    return *star;
}

PointId NetworkBuilder::checked(PointId point) const {
    if (point >= plan_->places_.size()) {
        throw InputError("network: got point " + std::to_string(point) + ", there are " +
                         std::to_string(plan_->places_.size()));
    }
    return point;
}

void NetworkBuilder::check_links(std::span<const LinkId> links) const {
    for (const LinkId link : links) {
        if (link >= plan_->links_.size()) {
            throw InputError("network: got link " + std::to_string(link) + ", there are " +
                             std::to_string(plan_->links_.size()));
        }
    }
}

PointId NetworkBuilder::add_point(ZoneId zone, const std::string& name) {
    const auto point = static_cast<PointId>(plan_->places_.size());
    plan_->point_names_.push_back(name);
    plan_->places_.push_back(zone == no_zone ? Place{} : Place{zone, zone_at(zone).n_members++});
    return point;
}

ZoneId NetworkBuilder::begin_zone(const std::string& name, std::optional<ZoneId> parent) {
    if (parent) {
        zone_at(*parent).has_zones = true;
    }
    const auto id = static_cast<ZoneId>(plan_->zones_.size());
    Zone zone;
    zone.name = name;
    zone.parent = parent.value_or(no_zone);
    zone.depth = parent ? plan_->zones_[*parent].depth + 1 : 0;
    zone.point = add_point(zone.parent, name);
    plan_->zone_points_.emplace(zone.point, id);
    plan_->zones_.push_back(std::move(zone));
    return id;
}

ZoneId NetworkBuilder::add_zone(const std::string& name, Routing routing,
                                std::optional<ZoneId> parent) {
    const ZoneId id = begin_zone(name, parent);
    auto& routes = plan_->zones_[id].routes;
    using Algorithm = ShortestPaths::Algorithm;
    switch (routing) {
    case Routing::full:
        routes.emplace<Full>();
        break;
    case Routing::floyd:
        routes.emplace<ShortestPaths>(Algorithm::floyd);
        break;
    case Routing::dijkstra:
        routes.emplace<ShortestPaths>(Algorithm::dijkstra);
        break;
    case Routing::dijkstra_cache:
        routes.emplace<ShortestPaths>(Algorithm::dijkstra_cache);
        break;
    case Routing::star:
    case Routing::vivaldi:
        routes.emplace<Star>();
        break;
    case Routing::wifi:
        routes.emplace<NoRoutes>(true);
        break;
    case Routing::none:
        break;
    }
    return id;
}

PointId NetworkBuilder::add_router(ZoneId zone, const std::string& name) {
    zone_at(zone);
    return add_point(zone, name);
}

PointId NetworkBuilder::point_of_zone(ZoneId zone) const { return plan_->zones_.at(zone).point; }

void NetworkBuilder::add_host(ZoneId zone, HostId host) {
    if (host >= plan_->n_hosts_ || plan_->places_[host].zone != no_zone) {
        throw InputError("zone " + quoted(zone_at(zone).name) + ": got host " +
                         std::to_string(host) + ", expected one that is in no other zone, of " +
                         std::to_string(plan_->n_hosts_));
    }
    plan_->places_[host] = {zone, zone_at(zone).n_members++};
}

LinkId NetworkBuilder::add_row(double n_links, const Link& link, const std::string& of) {
    const std::size_t n_before = plan_->links_.size();
    if (!is_amount(link.bandwidth) || !is_amount(link.latency)) {
        throw InputError("link of " + quoted(of) +
                         ": expected a bandwidth and a latency, "
                         "finite and not negative");
    }
    if (n_links + static_cast<double>(n_before) > static_cast<double>(max_links)) {
        throw InputError("zone " + quoted(of) + ": got more than " + std::to_string(max_links) +
                         " links, expected fewer");
    }
    plan_->links_.insert(plan_->links_.end(), static_cast<std::size_t>(n_links), link);
    return static_cast<LinkId>(n_before);
}

LinkId NetworkBuilder::add_link(const std::string& name, double bandwidth, double latency,
                                bool fatpipe) {
    const LinkId id = add_row(1, {bandwidth, latency, fatpipe}, name);
    if (!plan_->declared_.emplace(name, id).second) {
        throw InputError("link " + quoted(name) + ": there is one of this name already");
    }
    auto& blocks = plan_->blocks_;
    if (blocks.empty() || !std::holds_alternative<NetworkPlan::Named>(blocks.back().links)) {
        blocks.push_back({id, NetworkPlan::Named{}});
    }
    std::get<NetworkPlan::Named>(blocks.back().links).names.push_back(name);
    return id;
}

void NetworkBuilder::add_pairs(ZoneId zone, std::span<const HostId> hosts, double bandwidth_up,
                               double bandwidth_down, double latency) {
    const std::string name = zone_at(zone).name;
    NetworkPlan::Block block{static_cast<LinkId>(plan_->links_.size()), NetworkPlan::Pairs{}};
    for (const HostId host : hosts) {
        const LinkId up = add_row(1, {bandwidth_up, latency, false}, name);
        const LinkId down = add_row(1, {bandwidth_down, latency, false}, name);
        set_host_links(zone, host, up, down);
        std::get<NetworkPlan::Pairs>(block.links).hosts.push_back(host);
    }
    if (!hosts.empty()) {
        plan_->blocks_.push_back(std::move(block));
    }
}

void NetworkBuilder::set_backbone(ZoneId zone, LinkId link) {
    check_links(std::span(&link, 1));
    star_of(zone_at(zone)).backbone = link;
}

void NetworkBuilder::set_host_links(ZoneId zone, HostId host, LinkId up, LinkId down) {
    check_links(std::array{up, down});
    const Place place = plan_->places_[checked(host)];
    if (place.zone != zone) {
        throw InputError("host " + quoted(plan_->point_names_[host]) + ": expected it in zone " +
                         quoted(zone_at(zone).name));
    }
    auto& member = star_of(zone_at(zone)).members[place.rank];
    member.up = up;
    member.down = down;
}

void NetworkBuilder::set_coordinates(ZoneId zone, PointId point, const Coordinates& coordinates) {
    Star& star = star_of(zone_at(zone));
    const Place place = plan_->places_[checked(point)];
    if (place.zone != zone) {
        throw InputError("zone " + quoted(zone_at(zone).name) + ": got coordinates of " +
                         quoted(plan_->point_names_[point]) + ", which is not in it");
    }
    star.coordinates.resize(std::max<std::size_t>(star.coordinates.size(), place.rank + 1));
    star.coordinates[place.rank] = coordinates;
}

void NetworkBuilder::add_route(ZoneId zone, PointId src, PointId dst, PointId gw_src,
                               PointId gw_dst, std::span<const LinkId> links) {
    check_links(links);
    Zone& in = zone_at(zone);
    const Place from = plan_->places_[checked(src)];
    const Place to = plan_->places_[checked(dst)];
    const std::string what = "zone " + quoted(in.name) + ": the route from " +
                             quoted(plan_->point_names_[src]) + " to " +
                             quoted(plan_->point_names_[dst]);
    if (from.zone != zone || to.zone != zone) {
        throw InputError(what + ": expected members of the zone");
    }
    DeclaredRoutes* declared = nullptr;
    if (auto* full = std::get_if<Full>(&in.routes)) {
        declared = &full->declared;
    } else if (auto* paths = std::get_if<ShortestPaths>(&in.routes)) {
        declared = &paths->declared;
    } else if (std::holds_alternative<NoRoutes>(in.routes)) {
        return; // whoever asks for a route there is told that there is none
    } else {
        throw InputError(what + ": expected none in a zone that has rules of its own");
    }
    if (!declared->add(from.rank, to.rank, gw_src, gw_dst, links)) {
        throw InputError(what + " is declared twice; routes go both ways unless they say NO");
    }
}

void NetworkBuilder::add_bypass(ZoneId zone, PointId src, PointId dst, PointId gw_src,
                                PointId gw_dst, std::span<const LinkId> links) {
    check_links(links);
    Bypass bypass{{links.begin(), links.end()}, gw_src, gw_dst};
    Zone& in = zone_at(zone);
    if (!in.bypasses.emplace(std::pair(checked(src), checked(dst)), std::move(bypass)).second) {
        throw InputError("zone " + quoted(in.name) + ": the bypass from " +
                         quoted(plan_->point_names_[src]) + " to " +
                         quoted(plan_->point_names_[dst]) + " is declared twice");
    }
    plan_->has_bypasses_ = true;
}

std::optional<LinkId> NetworkBuilder::find_link(std::string_view name) const {
    return plan_->find_link(name);
}

std::shared_ptr<const NetworkPlan> NetworkBuilder::finish() {
    for (Zone& zone : plan_->zones_) {
        if (auto* star = std::get_if<Star>(&zone.routes)) {
            star->members.resize(zone.n_members);
            if (!star->coordinates.empty()) {
                star->coordinates.resize(zone.n_members);
            } else if (!star->plain) {
                star->find_out_whether_plain();
            }
        } else if (auto* paths = std::get_if<ShortestPaths>(&zone.routes)) {
            const bool floyd = paths->uses_floyd();
            if (floyd && zone.n_members > ShortestPaths::max_floyd) {
                throw InputError("zone " + quoted(zone.name) + ": got " +
                                 std::to_string(zone.n_members) + " members, expected " +
                                 std::to_string(ShortestPaths::max_floyd) +
                                 " at most with routing Floyd; Dijkstra takes more");
            }
            paths->prepare(zone.n_members);
        }
    }
    return std::move(plan_);
}

} // namespace noctule
