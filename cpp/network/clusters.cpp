// How the links of a cluster are laid out: cables, then limiters, then loopbacks.
#include "errors.hpp"
#include "network/plan.hpp"

namespace noctule {

LinkId NetworkBuilder::add_cables(const std::string& of, double n_cables, const ClusterLinks& links,
                                  double bandwidth_factor) {
    const double n_links = links.split ? 2 * n_cables : n_cables;
    return add_row(n_links, {links.bandwidth * bandwidth_factor, links.latency, false}, of);
}

ClusterExtras NetworkBuilder::add_extras(const std::string& of, const ClusterLinks& links,
                                         double n_limiters, MemberIndex n_hosts) {
    ClusterExtras extras;
    if (links.limiter > 0) {
        extras.first_limiter = add_row(n_limiters, {links.limiter, 0.0, false}, of);
    }
    if (links.loopback) {
        extras.first_loopback = add_row(n_hosts, *links.loopback, of);
    }
    return extras;
}

void NetworkBuilder::make_flat(Zone& zone, const ClusterLinks& links, MemberIndex n_hosts,
                               NetworkPlan::OfCluster& block) {
    auto& star = zone.routes.emplace<Star>();
    const Cables cables{add_cables(zone.name, n_hosts, links), links.split};
    const ClusterExtras extras = add_extras(zone.name, links, n_hosts, n_hosts);
    block.n_cables = links.split ? 2 * n_hosts : n_hosts;
    block.n_limiters = extras.first_limiter == no_link ? 0 : n_hosts;
    star.backbone = links.backbone;
    star.plain = true;
    star.members.resize(n_hosts);
    for (MemberIndex rank = 0; rank < n_hosts; ++rank) {
        Star::Member& member = star.members[rank];
        member.up = cables.up(rank);
        member.down = cables.down(rank);
        if (extras.first_limiter != no_link) {
            member.limiter = extras.first_limiter + rank;
        }
        if (extras.first_loopback != no_link) {
            member.loopback = extras.first_loopback + rank;
        }
    }
}

ZoneId NetworkBuilder::add_cluster(const ClusterNames& names, std::optional<ZoneId> parent,
                                   std::span<const HostId> hosts, const std::string& router,
                                   const ClusterLinks& links, const Topology& topology) {
    if (links.backbone != no_link) {
        check_links(std::span(&links.backbone, 1));
    }
    const ZoneId id = begin_zone(names.name, parent);
    for (const HostId host : hosts) {
        add_host(id, host);
    }
    add_router(id, router);
    const auto n_hosts = static_cast<MemberIndex>(hosts.size());
    const auto first = static_cast<LinkId>(plan_->links_.size());
    NetworkPlan::OfCluster block{id, names, links.split, 0, 0};
    Zone& zone = plan_->zones_[id];
    if (const auto* tree = std::get_if<FatTreeShape>(&topology)) {
        make_fat_tree(zone, *tree, links, n_hosts, block);
    } else if (const auto* torus = std::get_if<TorusShape>(&topology)) {
        make_torus(zone, *torus, links, n_hosts, block);
    } else if (const auto* dragonfly = std::get_if<DragonflyShape>(&topology)) {
        make_dragonfly(zone, *dragonfly, links, n_hosts, block);
    } else {
        make_flat(zone, links, n_hosts, block);
    }
    plan_->blocks_.push_back({first, std::move(block)});
    return id;
}

namespace {

void check_room(const Zone& zone, double n_places, MemberIndex n_hosts) {
    if (n_places != n_hosts) {
        throw InputError("zone '" + zone.name + "': got a topology for " +
                         std::to_string(n_places) + " hosts, expected " + std::to_string(n_hosts));
    }
}

void check_each(const Zone& zone, std::initializer_list<std::uint32_t> sizes) {
    for (const std::uint32_t size : sizes) {
        if (size == 0) {
            throw InputError("zone '" + zone.name + "': got a topology with 0, expected more");
        }
    }
}

} // namespace

void NetworkBuilder::make_fat_tree(Zone& zone, const FatTreeShape& shape, const ClusterLinks& links,
                                   MemberIndex n_hosts, NetworkPlan::OfCluster& block) {
    double n_places = 1.0;
    for (std::size_t level = 0; level < shape.down.size(); ++level) {
        check_each(zone, {shape.down[level], shape.up.at(level), shape.cables.at(level)});
        n_places *= shape.down[level];
    }
    check_room(zone, n_places, n_hosts);
    const double n_cables = FatTree::n_cables(shape);
    const double n_limiters = n_hosts + FatTree::n_switches(shape);
    const LinkId first = add_cables(zone.name, n_cables, links);
    const ClusterExtras extras = add_extras(zone.name, links, n_limiters, n_hosts);
    auto& tree = zone.routes.emplace<FatTree>(shape, n_fat_tree_hosts_, n_fat_tree_cables_);
    tree.cables = {first, links.split};
    tree.extras = extras;
    block.n_cables = static_cast<std::uint32_t>(links.split ? 2 * n_cables : n_cables);
    block.n_limiters = links.limiter > 0 ? static_cast<std::uint32_t>(n_limiters) : 0;
    n_fat_tree_hosts_ += n_hosts;
    n_fat_tree_cables_ += static_cast<std::uint32_t>(n_cables);
}

void NetworkBuilder::make_torus(Zone& zone, const TorusShape& shape, const ClusterLinks& links,
                                MemberIndex n_hosts, NetworkPlan::OfCluster& block) {
    double n_places = 1.0;
    for (const std::uint32_t size : shape.dimensions) {
        check_each(zone, {size});
        n_places *= size;
    }
    check_room(zone, n_places, n_hosts);
    const double n_cables = Torus::n_cables(shape);
    const LinkId first = add_cables(zone.name, n_cables, links);
    const ClusterExtras extras = add_extras(zone.name, links, n_hosts, n_hosts);
    auto& torus = zone.routes.emplace<Torus>(shape);
    torus.cables = {first, links.split};
    torus.extras = extras;
    block.n_cables = static_cast<std::uint32_t>(links.split ? 2 * n_cables : n_cables);
    block.n_limiters = links.limiter > 0 ? n_hosts : 0;
}

void NetworkBuilder::make_dragonfly(Zone& zone, const DragonflyShape& shape,
                                    const ClusterLinks& links, MemberIndex n_hosts,
                                    NetworkPlan::OfCluster& block) {
    check_each(zone, {shape.groups, shape.chassis, shape.routers, shape.hosts});
    const auto n_cables = Dragonfly::n_cables(shape);
    check_room(zone, n_cables[0], n_hosts);
    if (shape.groups > shape.routers) {
        throw InputError("zone '" + zone.name + "': got more groups than a chassis has routers");
    }
    const std::array<double, 4> side_by_side = {1.0, double(shape.green), double(shape.black),
                                                double(shape.blue)};
    const auto first = static_cast<LinkId>(plan_->links_.size());
    double n_all = 0.0;
    for (std::size_t kind = 0; kind < 4; ++kind) {
        add_cables(zone.name, n_cables[kind], links, side_by_side[kind]);
        n_all += n_cables[kind];
    }
    const double n_limiters = n_hosts + double(n_hosts) / shape.hosts;
    const ClusterExtras extras = add_extras(zone.name, links, n_limiters, n_hosts);
    auto& dragonfly = zone.routes.emplace<Dragonfly>(shape, n_dragonfly_cables_);
    dragonfly.cables = {first, links.split};
    dragonfly.extras = extras;
    block.n_cables = static_cast<std::uint32_t>(links.split ? 2 * n_all : n_all);
    block.n_limiters = links.limiter > 0 ? static_cast<std::uint32_t>(n_limiters) : 0;
    n_dragonfly_cables_ += static_cast<std::uint32_t>(n_all);
}

} // namespace noctule
