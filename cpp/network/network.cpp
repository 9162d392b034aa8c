#include "network/network.hpp"

#include "errors.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

namespace {

constexpr std::size_t max_kept_links = 1 << 23; // of all kept routes together
constexpr std::size_t max_depth = 512;          // zones inside each other are fewer

} // namespace

Network::Network(std::shared_ptr<const NetworkPlan> plan)
    : plan_(std::move(plan)), links_(plan_->links()) {}

void Network::check_host(HostId host) const {
    if (host >= n_hosts()) {
        throw InputError("network: got host " + std::to_string(host) + ", expected 0 to " +
                         std::to_string(n_hosts() - 1));
    }
}

Link& Network::own_link(LinkId link) {
    if (link >= links_.size()) {
        throw InputError("network: got link " + std::to_string(link) + ", expected 0 to " +
                         std::to_string(links_.size() - 1));
    }
    if (own_links_.empty()) {
        own_links_.assign(links_.begin(), links_.end());
        links_ = own_links_;
    }
    return own_links_[link];
}

void Network::set_bandwidth(LinkId link, double bandwidth) {
    if (!(std::isfinite(bandwidth) && bandwidth >= 0)) {
        throw InputError("link '" + link_name(link) + "': expected a bandwidth, not negative");
    }
    own_link(link).bandwidth = bandwidth;
}

void Network::set_latency(LinkId link, double latency) {
    if (!(std::isfinite(latency) && latency >= 0)) {
        throw InputError("link '" + link_name(link) + "': expected a latency, not negative");
    }
    own_link(link).latency = latency;
    routes_.clear();
    n_kept_links_ = 0;
}

double Network::latency_of(std::span<const LinkId> links) const {
    double latency = 0.0;
    for (const LinkId link : links) {
        latency += links_[link].latency;
    }
    return latency;
}

const Route& Network::route(HostId from, HostId to) {
    check_host(from);
    check_host(to);
    const ZoneId zone = plan_->place(from).zone;
    if (zone == plan_->place(to).zone && zone != no_zone && plan_->zone(zone).bypasses.empty() &&
        std::holds_alternative<Star>(plan_->zone(zone).routes)) {
        last_.links.clear(); // to work it out again takes no longer than to find it
        last_.latency = cross(zone, from, to, last_.links).latency;
        last_.missing = false;
        return last_;
    }
    const std::uint64_t key = std::uint64_t(from) << 32 | to;
    if (const auto found = routes_.find(key); found != routes_.end()) {
        return found->second;
    }
    if (n_kept_links_ > max_kept_links) {
        routes_.clear();
        n_kept_links_ = 0;
    }
    Route route = work_out(from, to);
    n_kept_links_ += route.links.size() + 16; // what an entry takes beside its links
    return routes_.emplace(key, std::move(route)).first->second;
}

Route Network::work_out(PointId from, PointId to) {
    Route route;
    depth_ = 0;
    met_missing_ = false;
    route.latency = append_route(from, to, route.links);
    route.missing = met_missing_;
    route.links.shrink_to_fit();
    return route;
}

double Network::append_route(PointId from, PointId to, std::vector<LinkId>& links) {
    const ZoneId zone = plan_->common_zone(from, to);
    if (zone == no_zone) {
        throw InputError("no route from '" + plan_->point_name(from) + "' to '" +
                         plan_->point_name(to) + "': no zone of the network contains both");
    }
    n_steps_ = depth_ == 0 ? 0 : n_steps_ + 1;
    if (n_steps_ > 16 * (plan_->n_zones() + max_depth) || depth_ >= max_depth) {
        refuse(zone, from, to, "routes to the gateways lead back to where they came from");
    }
    ++depth_;
    double latency = 0.0;
    if (!append_bypass(plan_->zone(zone), from, to, links, latency)) {
        std::vector<LinkId> middle;
        const Crossing crossing =
            cross(zone, plan_->member_around(zone, from), plan_->member_around(zone, to), middle);
        latency = from == crossing.gw_src ? 0.0 : append_route(from, crossing.gw_src, links);
        links.insert(links.end(), middle.begin(), middle.end());
        latency += crossing.latency;
        latency += to == crossing.gw_dst ? 0.0 : append_route(crossing.gw_dst, to, links);
    }
    --depth_;
    return latency;
}

// A bypass is declared between two points, or between zones around them; the innermost one wins.
bool Network::append_bypass(const Zone& zone, PointId from, PointId to, std::vector<LinkId>& links,
                            double& latency) {
    if (zone.bypasses.empty()) {
        return false;
    }
    const auto around = [&](PointId point) {
        std::vector<PointId> points{point};
        while (plan_->zone(plan_->place(points.back()).zone).point != zone.point) {
            points.push_back(plan_->zone(plan_->place(points.back()).zone).point);
        }
        return points;
    };
    const std::vector<PointId> sources = around(from);
    const std::vector<PointId> targets = around(to);
    const auto take = [&](std::size_t i, std::size_t j) {
        const auto found = i < sources.size() && j < targets.size()
                               ? zone.bypasses.find({sources[i], targets[j]})
                               : zone.bypasses.end();
        if (found == zone.bypasses.end()) {
            return false;
        }
        const Bypass& bypass = found->second;
        if (i > 0 && bypass.gw_src != no_point && bypass.gw_src != from) {
            latency = append_route(from, bypass.gw_src, links);
        }
        links.insert(links.end(), bypass.links.begin(), bypass.links.end());
        latency += latency_of(bypass.links);
        if (j > 0 && bypass.gw_dst != no_point && bypass.gw_dst != to) {
            latency += append_route(bypass.gw_dst, to, links);
        }
        return true;
    };
    for (std::size_t outer = 0; outer < std::max(sources.size(), targets.size()); ++outer) {
        for (std::size_t inner = 0; inner < outer; ++inner) {
            if (take(inner, outer) || take(outer, inner)) {
                return true;
            }
        }
        if (take(outer, outer)) {
            return true;
        }
    }
    return false;
}

Network::Crossing Network::cross(ZoneId id, PointId from, PointId to, std::vector<LinkId>& links) {
    const Zone& zone = plan_->zone(id);
    const MemberIndex a = plan_->place(from).rank;
    const MemberIndex b = plan_->place(to).rank;
    const std::size_t first = links.size();
    Crossing crossing;
    if (const auto* star = std::get_if<Star>(&zone.routes)) {
        const std::size_t middle = star->append_route(a, b, links) - first;
        const auto all = std::span<const LinkId>(links).subspan(first);
        crossing.latency = latency_of(all.first(middle)) + latency_of(all.subspan(middle));
        crossing.latency += star->distance(a, b);
    } else if (const auto* full = std::get_if<Full>(&zone.routes)) {
        cross_full(id, *full, from, to, crossing, links);
    } else if (const auto* paths = std::get_if<ShortestPaths>(&zone.routes)) {
        cross_shortest(id, *paths, from, to, crossing, links);
    } else if (const auto* none = std::get_if<NoRoutes>(&zone.routes)) {
        refuse(id, from, to,
               none->wifi ? "it has routing Wifi, which is not modelled"
                          : "it has routing None, that is, no network");
    } else {
        std::visit(
            [&](const auto& topology) {
                if constexpr (requires { topology.extras; }) {
                    topology.append_route(a, b, links);
                }
            },
            zone.routes);
        crossing.latency = latency_of(std::span<const LinkId>(links).subspan(first));
    }
    for (auto [point, gateway] : {std::pair(from, &crossing.gw_src), {to, &crossing.gw_dst}}) {
        if (plan_->zone_of_point(point) == no_zone) {
            *gateway = point;
        } else if (*gateway == no_point) {
            refuse(id, from, to, "it does not say by which gateway");
        }
    }
    return crossing;
}

void Network::cross_full(ZoneId id, const Full& full, PointId from, PointId to, Crossing& crossing,
                         std::vector<LinkId>& links) {
    const auto* entry = full.declared.find(plan_->place(from).rank, plan_->place(to).rank);
    if (entry != nullptr) {
        const auto declared = full.declared.links(*entry);
        links.insert(links.end(), declared.begin(), declared.end());
        crossing = {latency_of(declared), entry->gw_src, entry->gw_dst};
    } else if (from == to && !plan_->zone(id).has_zones) {
        links.push_back(NetworkPlan::loopback);
        crossing.latency = links_[NetworkPlan::loopback].latency;
    } else if (plan_->zone_of_point(from) != no_zone || plan_->zone_of_point(to) != no_zone) {
        refuse(id, from, to, "it declares none");
    } else {
        note_missing(id, from, to);
    }
}

void Network::note_missing(ZoneId id, PointId from, PointId to) {
    met_missing_ = true;
    const bool known = std::any_of(missing_.begin(), missing_.end(),
                                   [&](const Missing& missing) { return missing.zone == id; });
    if (!known) {
        missing_.push_back({from, to, id});
    }
}

void Network::cross_shortest(ZoneId id, const ShortestPaths& paths, PointId from, PointId to,
                             Crossing& crossing, std::vector<LinkId>& links) {
    const MemberIndex a = plan_->place(from).rank;
    const MemberIndex b = plan_->place(to).rank;
    std::vector<const DeclaredRoutes::Entry*> path;
    if (from != to) {
        path = paths.path(a, b, predecessors_, id);
    } else if (const auto* entry = paths.declared.find(a, a)) {
        path.push_back(entry);
    } else if (!plan_->zone(id).has_zones) {
        links.push_back(NetworkPlan::loopback);
        crossing.latency = links_[NetworkPlan::loopback].latency;
        return;
    } else {
        note_missing(id, from, to);
        return;
    }
    if (path.empty()) {
        refuse(id, from, to, "it declares none, nor several that lead there");
    }
    crossing.gw_src = path.front()->gw_src;
    crossing.gw_dst = path.back()->gw_dst;
    PointId before = no_point;
    for (const auto* entry : path) {
        if (before != no_point && entry->gw_src != no_point && before != entry->gw_src) {
            crossing.latency += append_route(before, entry->gw_src, links);
        }
        const auto declared = paths.declared.links(*entry);
        if (!paths.uses_floyd()) { // SimGrid goes back from the end, and turns each route round
            links.insert(links.end(), declared.rbegin(), declared.rend());
        } else {
            links.insert(links.end(), declared.begin(), declared.end());
        }
        crossing.latency += latency_of(declared);
        before = entry->gw_dst;
    }
}

void Network::refuse(ZoneId zone, PointId from, PointId to, const std::string& why) const {
    throw InputError("no route from '" + plan_->point_name(from) + "' to '" +
                     plan_->point_name(to) + "' in zone '" + plan_->zone(zone).name + "': " + why);
}

std::vector<std::string> Network::warnings() const {
    std::vector<std::string> sentences;
    for (const Missing& missing : missing_) {
        sentences.push_back("zone '" + plan_->zone(missing.zone).name +
                            "' declares no route from '" + plan_->point_name(missing.from) +
                            "' to '" + plan_->point_name(missing.to) +
                            "': what is sent where it has none takes no time");
    }
    return sentences;
}

} // namespace noctule
