// The description of a network that all runs share: zones, links and declared routes.
//
// A point is a host, a router or a zone: hosts have the ids of the platform, others follow. Links
// of clusters have ids in a row, and names by a rule, made when somebody asks.
#pragma once

#include "network/zones.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace noctule {

struct Link {
    double bandwidth; // bytes a second
    double latency;   // seconds
    bool fatpipe;     // flows do not add up
};

enum class Routing : std::uint8_t {
    full,
    floyd,
    dijkstra,
    dijkstra_cache,
    star,
    vivaldi,
    wifi,
    none
};

struct Place {
    ZoneId zone = no_zone;
    MemberIndex rank = 0;
};

struct Bypass {
    std::vector<LinkId> links;
    PointId gw_src;
    PointId gw_dst;
};

struct Zone {
    std::string name;
    PointId point;
    ZoneId parent = no_zone;
    std::uint32_t depth = 0;
    MemberIndex n_members = 0;
    bool has_zones = false;
    std::variant<NoRoutes, Full, ShortestPaths, Star, FatTree, Torus, Dragonfly> routes;
    std::map<std::pair<PointId, PointId>, Bypass> bypasses;
};

// What a <cluster> says about its links.
struct ClusterLinks {
    double bandwidth;
    double latency;
    bool split;           // two links for the two ways, else one for both
    double limiter = 0.0; // bytes a second; 0 for none
    LinkId backbone = no_link;
    std::optional<Link> loopback;
};

using Topology = std::variant<std::monostate, FatTreeShape, TorusShape, DragonflyShape>;

class NetworkPlan {
  public:
    static constexpr LinkId loopback = 0; // of hosts of zones that have nothing better

    std::size_t n_hosts() const { return n_hosts_; }
    std::span<const Link> links() const { return links_; }
    std::string link_name(LinkId link) const;
    std::optional<LinkId> find_link(std::string_view name) const;

    const std::string& point_name(PointId point) const;
    const Place& place(PointId point) const { return places_[point]; }
    const Zone& zone(ZoneId zone) const { return zones_[zone]; }
    std::size_t n_zones() const { return zones_.size(); }
    // The zone that a point is, if it is one.
    ZoneId zone_of_point(PointId point) const;
    bool has_bypasses() const { return has_bypasses_; }
    // The deepest zone that contains both; there may be none.
    ZoneId common_zone(PointId a, PointId b) const;
    // The deepest zone that contains a point and is, or contains, another zone.
    ZoneId common_zone_of(ZoneId zone, PointId point) const;
    // The member of a zone that the point is, or is inside of.
    PointId member_around(ZoneId zone, PointId point) const;

  private:
    friend class NetworkBuilder;

    // Links in a row: declared ones, pairs of hosts, or all of a cluster.
    struct Named {
        std::vector<std::string> names;
    };
    struct Pairs {
        std::vector<PointId> hosts;
    };
    struct OfCluster {
        ZoneId zone;
        ClusterNames names;
        bool split;
        std::uint32_t n_cables; // that are not limiters nor loopbacks
        std::uint32_t n_limiters;
    };
    struct Block {
        LinkId first;
        std::variant<Named, Pairs, OfCluster> links;
    };

    std::string name_in_cluster(const OfCluster& cluster, std::uint32_t index) const;

    std::size_t n_hosts_ = 0;
    std::vector<std::string> point_names_; // of zones: see their own
    std::vector<Place> places_;
    std::vector<Zone> zones_;
    std::unordered_map<PointId, ZoneId> zone_points_;
    std::vector<Link> links_;
    std::vector<Block> blocks_;
    std::unordered_map<std::string, LinkId> declared_;
    bool has_bypasses_ = false;
    mutable std::once_flag all_named_;
    mutable std::unordered_map<std::string, LinkId> by_name_;
};

// Fills a plan: zones with their members in order, then the routes.
class NetworkBuilder {
  public:
    static constexpr std::size_t max_links = std::size_t(1) << 24;

    NetworkBuilder(std::vector<std::string> host_names, double loopback_bandwidth,
                   double loopback_latency);

    ZoneId add_zone(const std::string& name, Routing routing, std::optional<ZoneId> parent);
    ZoneId add_cluster(const ClusterNames& names, std::optional<ZoneId> parent,
                       std::span<const HostId> hosts, const std::string& router,
                       const ClusterLinks& links, const Topology& topology);
    void add_host(ZoneId zone, HostId host);
    PointId add_router(ZoneId zone, const std::string& name);
    PointId point_of_zone(ZoneId zone) const;

    LinkId add_link(const std::string& name, double bandwidth, double latency, bool fatpipe);
    // A link up and one down for each of some hosts of a star or Vivaldi zone.
    void add_pairs(ZoneId zone, std::span<const HostId> hosts, double bandwidth_up,
                   double bandwidth_down, double latency);
    void set_backbone(ZoneId zone, LinkId link);
    void set_host_links(ZoneId zone, HostId host, LinkId up, LinkId down);
    void set_coordinates(ZoneId zone, PointId point, const Coordinates& coordinates);

    // One way. Gateways are no_point between members that are no zones.
    void add_route(ZoneId zone, PointId src, PointId dst, PointId gw_src, PointId gw_dst,
                   std::span<const LinkId> links);
    void add_bypass(ZoneId zone, PointId src, PointId dst, PointId gw_src, PointId gw_dst,
                    std::span<const LinkId> links);
    std::optional<LinkId> find_link(std::string_view name) const;

    std::shared_ptr<const NetworkPlan> finish();

  private:
    Zone& zone_at(ZoneId zone);
    Star& star_of(Zone& zone);
    PointId checked(PointId point) const;
    void check_links(std::span<const LinkId> links) const;
    PointId add_point(ZoneId zone, const std::string& name);
    ZoneId begin_zone(const std::string& name, std::optional<ZoneId> parent);
    LinkId add_row(double n_links, const Link& link, const std::string& of);
    LinkId add_cables(const std::string& of, double n_cables, const ClusterLinks& links,
                      double bandwidth_factor = 1.0);
    void make_flat(Zone& zone, const ClusterLinks& links, MemberIndex n_hosts,
                   NetworkPlan::OfCluster& block);
    void make_fat_tree(Zone& zone, const FatTreeShape& shape, const ClusterLinks& links,
                       MemberIndex n_hosts, NetworkPlan::OfCluster& block);
    void make_torus(Zone& zone, const TorusShape& shape, const ClusterLinks& links,
                    MemberIndex n_hosts, NetworkPlan::OfCluster& block);
    void make_dragonfly(Zone& zone, const DragonflyShape& shape, const ClusterLinks& links,
                        MemberIndex n_hosts, NetworkPlan::OfCluster& block);
    ClusterExtras add_extras(const std::string& of, const ClusterLinks& links, double n_limiters,
                             MemberIndex n_hosts);

    std::shared_ptr<NetworkPlan> plan_;
    std::uint32_t n_fat_tree_hosts_ = 0;  // SimGrid counts those of all fat trees
    std::uint32_t n_fat_tree_cables_ = 0; // for names
    std::uint32_t n_dragonfly_cables_ = 0;
};

} // namespace noctule
