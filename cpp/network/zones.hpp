// The rules by which zones find the route between two of their members.
//
// Members are known by their rank in the zone. All routes are SimGrid's, oddities included.
#pragma once

#include "types.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace noctule {

using LinkId = std::uint32_t;
using PointId = std::uint32_t;
using ZoneId = std::uint32_t;
using MemberIndex = std::uint32_t;

inline constexpr LinkId no_link = std::numeric_limits<LinkId>::max();
inline constexpr PointId no_point = std::numeric_limits<PointId>::max();
inline constexpr ZoneId no_zone = std::numeric_limits<ZoneId>::max();

using Coordinates = std::array<double, 3>;

struct NoRoutes {
    bool wifi = false; // it has routes, but not of a kind that is modelled
};

// Routes that a zone declares, one way each.
class DeclaredRoutes {
  public:
    struct Entry {
        MemberIndex from;
        MemberIndex to;
        std::size_t first_link;
        std::uint32_t n_links;
        PointId gw_src;
        PointId gw_dst;
    };

    // False if there is one already.
    bool add(MemberIndex from, MemberIndex to, PointId gw_src, PointId gw_dst,
             std::span<const LinkId> links);
    const Entry* find(MemberIndex from, MemberIndex to) const;
    std::span<const LinkId> links(const Entry& entry) const {
        return std::span(links_).subspan(entry.first_link, entry.n_links);
    }
    std::span<const Entry> entries() const { return entries_; }

  private:
    std::unordered_map<std::uint64_t, std::uint32_t> index_;
    std::vector<Entry> entries_;
    std::vector<LinkId> links_;
};

struct Full {
    DeclaredRoutes declared;
};

// What Dijkstra's algorithm found from one member on, kept by a run.
using Predecessors = std::unordered_map<std::uint64_t, std::vector<std::uint32_t>>;

// The least number of links over declared routes. Which one of several such ways is taken depends
// on the algorithm: Floyd's by ranks, Dijkstra's by the order in which routes name their ends.
class ShortestPaths {
  public:
    enum class Algorithm : std::uint8_t { floyd, dijkstra, dijkstra_cache };
    static constexpr MemberIndex max_floyd = 2048; // members; the work grows with their cube

    explicit ShortestPaths(Algorithm algorithm) : algorithm_(algorithm) {}

    DeclaredRoutes declared;
    bool uses_floyd() const { return algorithm_ == Algorithm::floyd; }

    // Before the first path: how many members there are.
    void prepare(MemberIndex n_members);
    // The declared routes to follow, in order; none where there is no way. `memory` belongs to the
    // caller, `key` is the zone's in it.
    std::vector<const DeclaredRoutes::Entry*> path(MemberIndex from, MemberIndex to,
                                                   Predecessors& memory, std::uint32_t key) const;

  private:
    struct Table {
        std::once_flag once;
        std::vector<MemberIndex> predecessors;
    };
    struct Edge {
        std::uint32_t to;
        std::uint32_t cost;
    };

    void fill_table() const;
    std::vector<std::uint32_t> dijkstra(std::uint32_t source) const;
    std::vector<const DeclaredRoutes::Entry*> floyd_path(MemberIndex from, MemberIndex to) const;

    Algorithm algorithm_;
    MemberIndex n_members_ = 0;
    std::unique_ptr<Table> table_ = std::make_unique<Table>();
    std::vector<std::uint32_t> node_of_; // Dijkstra's node of a rank
    std::vector<MemberIndex> rank_of_;   // and back
    std::vector<std::vector<Edge>> edges_;
};

// Each member has links of its own to a centre, which may be a backbone.
struct Star {
    struct Member {
        LinkId limiter = no_link;
        LinkId up = no_link;
        LinkId down = no_link;
        LinkId loopback = no_link;

        bool connected() const { return up != no_link; }
    };

    std::vector<Member> members;
    LinkId backbone = no_link;
    bool plain = false;                   // no two members share a link
    std::vector<Coordinates> coordinates; // of a Vivaldi zone

    // Returns where in the links the way down begins. No link comes twice.
    std::size_t append_route(MemberIndex from, MemberIndex to, std::vector<LinkId>& links) const;
    // Seconds that the distance in a Vivaldi zone costs.
    double distance(MemberIndex from, MemberIndex to) const;
    void find_out_whether_plain();
};

// Numbers in the names of a cluster's hosts and links: ranges, or none if they are the ranks.
struct ClusterNames {
    std::string name;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> numbers; // first and how many

    std::string number(MemberIndex rank) const;
};

// Links of a cluster beside its cables.
struct ClusterExtras {
    LinkId first_limiter = no_link; // those of the hosts, then those of switches
    LinkId first_loopback = no_link;

    void append_limiter(std::uint32_t index, std::vector<LinkId>& links) const {
        if (first_limiter != no_link) {
            links.push_back(first_limiter + index);
        }
    }
    // False if there is none.
    bool append_loopback(MemberIndex rank, std::vector<LinkId>& links) const {
        if (first_loopback != no_link) {
            links.push_back(first_loopback + rank);
        }
        return first_loopback != no_link;
    }
};

// Cables in a row, each of one link or of one for each way.
struct Cables {
    LinkId first = 0;
    bool split = true;

    LinkId up(std::uint64_t cable) const {
        return first + static_cast<LinkId>(split ? 2 * cable : cable);
    }
    LinkId down(std::uint64_t cable) const { return up(cable) + (split ? 1 : 0); }
};

struct FatTreeShape {
    std::vector<std::uint32_t> down;
    std::vector<std::uint32_t> up;
    std::vector<std::uint32_t> cables;
};

// Leiserson's fat tree with destination-modulo routing.
class FatTree {
  public:
    // Hosts of fat trees that were made before count in the modulo; so do their cables in names.
    FatTree(FatTreeShape shape, std::uint32_t first_host, std::uint32_t first_name);

    static double n_cables(const FatTreeShape& shape);
    static double n_switches(const FatTreeShape& shape);

    Cables cables;
    ClusterExtras extras;

    void append_route(MemberIndex from, MemberIndex to, std::vector<LinkId>& links) const;
    std::string cable_name(std::uint32_t cable) const;
    // The number that SimGrid gives to a switch.
    std::string switch_number(std::uint32_t index) const;
    MemberIndex n_hosts() const { return n_nodes_[0]; }

  private:
    using Label = std::vector<std::uint32_t>;

    struct Node {
        std::uint32_t level;
        Label label;
    };

    Label label_of(std::uint32_t level, std::uint32_t position) const;
    std::uint32_t position_of(const Node& node) const;
    std::uint32_t radix(std::uint32_t level, std::uint32_t digit) const;
    std::uint64_t cable(const Node& child, std::uint32_t parent_digit, std::uint32_t number) const;
    void append_limiter_of(const Node& node, std::vector<LinkId>& links) const;
    bool is_above(const Node& node, const Node& host) const;
    std::string node_number(std::uint32_t level, std::uint32_t position) const;

    FatTreeShape shape_;
    std::uint32_t n_levels_;
    std::uint32_t first_host_;
    std::uint32_t first_name_;
    std::vector<std::uint32_t> n_nodes_;     // by level
    std::vector<std::uint64_t> first_cable_; // by level of the lower end
};

struct TorusShape {
    std::vector<std::uint32_t> dimensions;
};

// Hosts in a grid whose ends are joined, with routes along one dimension after the other.
class Torus {
  public:
    explicit Torus(TorusShape shape);

    static double n_cables(const TorusShape& shape);

    Cables cables;
    ClusterExtras extras;

    void append_route(MemberIndex from, MemberIndex to, std::vector<LinkId>& links) const;
    std::string cable_name(std::uint32_t cable, const std::string& cluster) const;
    MemberIndex n_hosts() const { return n_hosts_; }

  private:
    MemberIndex next_to(MemberIndex node, std::size_t dimension) const;

    TorusShape shape_;
    std::vector<std::uint32_t> strides_;
    MemberIndex n_hosts_;
};

struct DragonflyShape {
    std::uint32_t groups;
    std::uint32_t blue;
    std::uint32_t chassis;
    std::uint32_t black;
    std::uint32_t routers;
    std::uint32_t green;
    std::uint32_t hosts;
};

// The Cray Cascade: green cables in a chassis, black ones in a group, blue ones between groups.
class Dragonfly {
  public:
    Dragonfly(const DragonflyShape& shape, std::uint32_t first_name);

    // Of the four kinds: to hosts, green, black, blue.
    static std::array<double, 4> n_cables(const DragonflyShape& shape);

    Cables cables;
    ClusterExtras extras;

    void append_route(MemberIndex from, MemberIndex to, std::vector<LinkId>& links) const;
    std::string cable_name(std::uint32_t cable) const;
    std::string router_number(std::uint32_t router) const;
    MemberIndex n_hosts() const { return n_hosts_; }

  private:
    struct Router {
        std::uint32_t group;
        std::uint32_t chassis;
        std::uint32_t blade;

        bool operator==(const Router&) const = default;
    };

    Router router_of(MemberIndex host) const;
    std::uint32_t index_of(const Router& router) const;
    LinkId green(const Router& router, std::uint32_t blade) const;
    LinkId black(const Router& router, std::uint32_t chassis) const;
    LinkId blue(std::uint32_t from, std::uint32_t to) const;
    Router append_way_to_group(Router router, std::uint32_t group,
                               std::vector<LinkId>& links) const;
    void append_limiter_of(const Router& router, std::vector<LinkId>& links) const;

    DragonflyShape shape_;
    MemberIndex n_hosts_;
    std::uint32_t first_name_;
    std::uint64_t first_green_;
    std::uint64_t first_black_;
    std::uint64_t first_blue_;
};

} // namespace noctule
