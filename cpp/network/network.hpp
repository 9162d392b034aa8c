// Links and routes: which constraints traffic from host to host touches, and how late it is.
//
// Hosts are numbered as the platform numbers them: compute hosts, storage hosts, then the master.
// The description, a NetworkPlan, is shared by all runs. A Network belongs to one run: it knows
// what the links are like at present, and keeps the routes that were asked for.
#pragma once

#include "network/plan.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace noctule {

struct Route {
    std::vector<LinkId> links; // in order; one may come twice
    double latency = 0.0;      // of its links, and of the distance in a Vivaldi zone
    bool missing = false;      // a zone on the way declares none: nothing is crossed there
};

struct LinkLoad {
    LinkId link;
    double bytes; // of all flows on a shared link, of the largest one on a fat pipe
};

struct Flow {
    HostId from;
    HostId to;
    double bytes;
};

// What the traffic of one task means for the links, each of which comes once.
struct Traffic {
    std::vector<LinkLoad> loads;
    double latency = 0.0;       // the largest of its flows
    double latency_bytes = 0.0; // the largest product of a flow's latency and its bytes
};

class Network {
  public:
    explicit Network(std::shared_ptr<const NetworkPlan> plan);

    const NetworkPlan& plan() const { return *plan_; }
    std::size_t n_hosts() const { return plan_->n_hosts(); }
    std::span<const Link> links() const { return links_; }
    std::string link_name(LinkId link) const { return plan_->link_name(link); }
    std::optional<LinkId> find_link(std::string_view name) const { return plan_->find_link(name); }

    // Good until the next call of anything here. A zone without any routes: InputError.
    const Route& route(HostId from, HostId to);
    bool is_missing(HostId from, HostId to) { return route(from, to).missing; }
    // A sentence for each zone in which a route was missing, as far as routes were asked for.
    std::vector<std::string> warnings() const;

    // Bytes from host to host, a row for each sender. Only what is more than 0 counts.
    Traffic traffic(std::span<const HostId> hosts, std::span<const double> bytes);
    // From each to each other one; a host that comes twice sends to itself.
    Traffic all_to_all(std::span<const HostId> hosts, double bytes);
    Traffic message(HostId from, HostId to, double bytes);
    Traffic traffic(std::span<const Flow> flows);

    // Routes that are asked for later have the new latency.
    void set_bandwidth(LinkId link, double bandwidth);
    void set_latency(LinkId link, double latency);

  private:
    // The way through one zone, without the ways to and from its gateways.
    struct Crossing {
        double latency = 0.0;
        PointId gw_src = no_point;
        PointId gw_dst = no_point;
    };
    struct Missing {
        PointId from;
        PointId to;
        ZoneId zone;
    };
    struct Reach;
    struct Meeting;
    enum class Way : std::uint8_t { up, down }; // to a gateway, or from it

    void check_host(HostId host) const;
    Link& own_link(LinkId link);
    Route work_out(PointId from, PointId to);
    double append_route(PointId from, PointId to, std::vector<LinkId>& links);
    bool append_bypass(const Zone& zone, PointId from, PointId to, std::vector<LinkId>& links,
                       double& latency);
    Crossing cross(ZoneId zone, PointId from, PointId to, std::vector<LinkId>& links);
    void cross_full(ZoneId zone, const Full& full, PointId from, PointId to, Crossing& crossing,
                    std::vector<LinkId>& links);
    void cross_shortest(ZoneId zone, const ShortestPaths& paths, PointId from, PointId to,
                        Crossing& crossing, std::vector<LinkId>& links);
    void note_missing(ZoneId zone, PointId from, PointId to);
    [[noreturn]] void refuse(ZoneId zone, PointId from, PointId to, const std::string& why) const;
    double latency_of(std::span<const LinkId> links) const;

    void begin_traffic();
    void add_flows(LinkId link, double n_flows, double bytes);
    void add_route(const Route& route, double bytes, Traffic& traffic);
    Traffic with_loads(Traffic traffic);
    bool all_differ(std::span<const HostId> hosts);
    const Star* plain_star_of(std::span<const HostId> hosts) const;
    double latency_up(const Star& star, const Star::Member& member) const;
    double latency_down(const Star::Member& member) const;
    Traffic star_all_to_all(const Star& star, std::span<const HostId> hosts, double bytes) const;
    std::optional<Traffic> star_traffic(const Star& star, std::span<const HostId> hosts,
                                        std::span<const double> bytes) const;
    double spread(ZoneId zone, std::span<HostId> hosts, double bytes);
    double gather(ZoneId zone, std::span<HostId> hosts, PointId gateway, Way way, double n_flows,
                  double bytes);

    std::shared_ptr<const NetworkPlan> plan_;
    std::span<const Link> links_;
    std::vector<Link> own_links_; // once a run has changed one
    std::unordered_map<std::uint64_t, Route> routes_;
    std::size_t n_kept_links_ = 0;
    Route last_;
    Predecessors predecessors_;
    std::vector<Missing> missing_;
    std::size_t n_steps_ = 0; // of the route that is being worked out
    std::size_t depth_ = 0;
    bool met_missing_ = false;

    std::vector<double> weights_; // by link, all 0 between two calls
    std::vector<LinkId> touched_;
    std::vector<std::uint32_t> seen_; // by host: the last call that met it
    std::uint32_t call_ = 0;
};

} // namespace noctule
