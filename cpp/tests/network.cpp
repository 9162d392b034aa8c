// Routes by hand, and traffic on random nested networks against the most naive sum over all pairs.
#include "network/network.hpp"
#include "errors.hpp"
#include "tests/checks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>

namespace noctule {

namespace {

std::vector<std::string> names(std::uint32_t n) {
    std::vector<std::string> all;
    for (std::uint32_t i = 0; i < n; ++i) {
        all.push_back("h" + std::to_string(i));
    }
    return all;
}

std::vector<HostId> first_hosts(std::uint32_t n) {
    std::vector<HostId> hosts(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        hosts[i] = i;
    }
    return hosts;
}

// A cluster of four hosts behind a backbone.
std::shared_ptr<const NetworkPlan> four_hosts(bool split) {
    NetworkBuilder builder(names(4), 1e10, 0.0);
    const LinkId backbone = builder.add_link("backbone", 8.0, 0.25, false);
    const ClusterLinks links{2.0, 1.0, split, 0.0, backbone, {}};
    builder.add_cluster({"c", {{0, 4}}}, {}, first_hosts(4), "router", links, {});
    return builder.finish();
}

void clusters_route_over_their_backbone() {
    Network network(four_hosts(true));
    const Route& route = network.route(1, 3);
    CHECK(route.links.size() == 3 && route.latency == 2.25 && !route.missing);
    CHECK(network.link_name(route.links[0]) == "c_link_1_UP");
    CHECK(network.link_name(route.links[2]) == "c_link_3_DOWN");
    CHECK(network.find_link("c_link_3_DOWN") == route.links[2]);
    CHECK(!network.find_link("c_link_4_UP"));
    CHECK(network.route(1, 1).links.size() == 3); // up and down again
    Network shared(four_hosts(false));
    CHECK(shared.route(1, 1).links.size() == 2); // its own link once
}

void a_run_changes_its_own_links_only() {
    const auto plan = four_hosts(true);
    Network one(plan);
    Network other(plan);
    const LinkId up = *plan->find_link("c_link_0_UP");
    one.set_latency(up, 5.0);
    one.set_bandwidth(up, 7.0);
    CHECK(one.route(0, 1).latency == 6.25 && other.route(0, 1).latency == 2.25);
    CHECK(one.links()[up].bandwidth == 7.0 && other.links()[up].bandwidth == 2.0);
}

void links_that_are_twice_on_a_route_count_twice() {
    NetworkBuilder builder(names(2), 1e10, 0.0);
    const ZoneId zone = builder.add_zone("z", Routing::full, {});
    builder.add_host(zone, 0);
    builder.add_host(zone, 1);
    const LinkId link = builder.add_link("l", 1.0, 1.0, false);
    const LinkId pipe = builder.add_link("p", 1.0, 1.0, true);
    builder.add_route(zone, 0, 1, no_point, no_point, std::array{link, pipe, link, pipe});
    Network network(builder.finish());
    const Traffic traffic = network.message(0, 1, 10.0);
    CHECK(traffic.loads.size() == 2 && traffic.latency == 4.0 && traffic.latency_bytes == 40.0);
    CHECK(traffic.loads[0].bytes == 20.0 && traffic.loads[1].bytes == 10.0);
    CHECK(network.message(0, 1, 0.0).loads.empty() && network.warnings().empty());
    CHECK(network.is_missing(1, 0) && network.route(1, 0).links.empty());
    CHECK(network.warnings().size() == 1);
    CHECK(network.route(0, 0).links == std::vector{NetworkPlan::loopback});
}

template <typename Call> bool refuses(const Call& call) {
    try {
        call();
    } catch (const InputError&) {
        return true;
    }
    return false;
}

void nonsense_is_refused() {
    Network network(four_hosts(true));
    CHECK(refuses([&] { network.route(0, 4); }));
    CHECK(refuses([&] { network.all_to_all(std::array<HostId, 2>{0, 9}, 1.0); }));
    CHECK(refuses([&] { network.traffic(std::array<HostId, 2>{0, 1}, std::array{1.0}); }));
    CHECK(refuses([&] { network.set_latency(0, -1.0); }));
    CHECK(refuses([&] { network.set_bandwidth(1000, 1.0); }));
    NetworkBuilder builder(names(3), 1e10, 0.0);
    const ZoneId none = builder.add_zone("none", Routing::none, {});
    builder.add_host(none, 0);
    builder.add_host(none, 1);
    CHECK(refuses([&] { builder.add_host(none, 0); }));
    CHECK(refuses([&] { builder.add_link("__loopback__", 1.0, 0.0, false); }));
    const ClusterLinks links{1.0, 0.0, true, 0.0, no_link, {}};
    const FatTreeShape huge{{1}, {100000}, {100000}};
    CHECK(refuses(
        [&] { builder.add_cluster({"c", {}}, {}, std::array<HostId, 1>{2}, "r", links, huge); }));
    Network without(builder.finish());
    CHECK(refuses([&] { without.route(0, 1); }));
    CHECK(refuses([&] { without.route(0, 2); })); // in no zone, or in another one
}

// A network of zones in zones, of all kinds, with odd links and gateways.
class RandomNetwork {
  public:
    explicit RandomNetwork(std::uint32_t seed) : random_(seed), builder_(names(max_hosts), 5e9, 0) {
        for (int i = 0; i < 6; ++i) {
            pool_.push_back(new_link());
        }
        make_zone({}, draw(random_, 0, 2));
    }

    std::shared_ptr<const NetworkPlan> finish() { return builder_.finish(); }
    HostId n_hosts() const { return n_hosts_; }
    Random& random() { return random_; }

  private:
    static constexpr std::uint32_t max_hosts = 400;

    bool maybe() { return draw(random_, 0, 1) == 1; }
    double latency() { return draw(random_, 0, 9) * 0.1; }
    LinkId new_link() {
        const std::string name = "l" + std::to_string(n_links_++);
        return builder_.add_link(name, 1.0 + draw(random_, 0, 9), latency(),
                                 draw(random_, 0, 3) == 0);
    }
    std::vector<LinkId> some_links() {
        std::vector<LinkId> links;
        for (std::uint32_t n = draw(random_, 1, 3); n > 0; --n) {
            links.push_back(maybe() ? pool_[draw(random_, 0, 5)] : new_link());
        }
        return links;
    }
    std::vector<HostId> take_hosts(std::uint32_t n) {
        std::vector<HostId> hosts;
        for (; n > 0; --n) {
            hosts.push_back(n_hosts_++);
        }
        return hosts;
    }

    // Returns the points in it that can be gateways.
    std::pair<ZoneId, std::vector<PointId>> make_zone(std::optional<ZoneId> parent,
                                                      std::uint32_t depth) {
        if (depth > 0) {
            return make_outer(parent, depth);
        }
        return draw(random_, 0, 2) > 0 ? make_cluster(parent) : make_inner(parent);
    }

    std::pair<ZoneId, std::vector<PointId>> make_cluster(std::optional<ZoneId> parent) {
        static const std::vector<std::pair<std::uint32_t, Topology>> shapes = {
            {4, {}},
            {1, {}},
            {7, {}},
            {8, FatTreeShape{{2, 2, 2}, {1, 2, 2}, {2, 2, 1}}},
            {6, TorusShape{{3, 2}}},
            {8, DragonflyShape{2, 1, 2, 3, 2, 2, 1}},
        };
        const auto& [n, topology] = shapes[draw(random_, 0, 5)];
        ClusterLinks links{1.0 + latency(), latency(), maybe(), maybe() ? 3.0 : 0.0, no_link, {}};
        if (maybe()) {
            links.backbone = new_link();
        }
        if (maybe()) {
            links.loopback = Link{4.0, latency(), true};
        }
        const std::string name = "c" + std::to_string(n_zones_++);
        const std::vector<HostId> hosts = take_hosts(n);
        const ZoneId zone =
            builder_.add_cluster({name, {}}, parent, hosts, name + "r", links, topology);
        std::vector<PointId> points(hosts.begin(), hosts.end());
        points.push_back(builder_.point_of_zone(zone) + 1);
        return {zone, points};
    }

    // Hosts with links as they come: in a star, on a map, or with declared routes.
    std::pair<ZoneId, std::vector<PointId>> make_inner(std::optional<ZoneId> parent) {
        constexpr std::array kinds = {Routing::star, Routing::vivaldi, Routing::full};
        const Routing routing = kinds[draw(random_, 0, 2)];
        const std::string name = "z" + std::to_string(n_zones_++);
        const ZoneId zone = builder_.add_zone(name, routing, parent);
        const std::vector<HostId> hosts = take_hosts(draw(random_, 1, 5));
        for (const HostId host : hosts) {
            builder_.add_host(zone, host);
        }
        std::vector<PointId> points(hosts.begin(), hosts.end());
        if (routing == Routing::star) {
            points.push_back(builder_.add_router(zone, name + "r"));
            if (maybe()) {
                builder_.set_backbone(zone, pool_[0]);
            }
        }
        for (const HostId host : hosts) {
            if (routing == Routing::full) {
                for (const HostId other : hosts) {
                    if (maybe()) {
                        builder_.add_route(zone, host, other, no_point, no_point, some_links());
                    }
                }
            } else if (draw(random_, 0, 4) > 0) {
                builder_.set_host_links(zone, host, some_links()[0], some_links()[0]);
            }
            if (routing == Routing::vivaldi) {
                builder_.set_coordinates(zone, host, {latency(), latency(), latency()});
            }
        }
        return {zone, points};
    }

    std::pair<ZoneId, std::vector<PointId>> make_outer(std::optional<ZoneId> parent,
                                                       std::uint32_t depth) {
        constexpr std::array kinds = {Routing::full, Routing::floyd, Routing::dijkstra,
                                      Routing::dijkstra_cache};
        const Routing routing = kinds[draw(random_, 0, 3)];
        const ZoneId zone = builder_.add_zone("z" + std::to_string(n_zones_++), routing, parent);
        std::vector<std::pair<PointId, std::vector<PointId>>> members;
        for (std::uint32_t n = draw(random_, 2, 4); n > 0; --n) {
            if (draw(random_, 0, 3) > 0) {
                auto [inner, points] = make_zone(zone, draw(random_, 0, depth - 1));
                members.emplace_back(builder_.point_of_zone(inner), std::move(points));
            } else {
                const HostId host = take_hosts(1)[0];
                builder_.add_host(zone, host);
                members.push_back({host, {host}});
            }
        }
        for (std::size_t i = 0; i < members.size(); ++i) {
            for (std::size_t j = i + 1; j < members.size(); ++j) {
                if (routing == Routing::full || j == i + 1 || maybe()) {
                    join(zone, members[i], members[j]);
                }
            }
        }
        std::vector<PointId> points;
        for (const auto& [member, inside] : members) {
            points.insert(points.end(), inside.begin(), inside.end());
        }
        return {zone, points};
    }

    void join(ZoneId zone, const std::pair<PointId, std::vector<PointId>>& a,
              const std::pair<PointId, std::vector<PointId>>& b) {
        for (int way = 0; way < 2; ++way) {
            const auto& from = way == 0 ? a : b;
            const auto& to = way == 0 ? b : a;
            const auto gateway = [&](const auto& member) {
                const auto last = static_cast<std::uint32_t>(member.second.size()) - 1;
                return member.second[draw(random_, 0, last)];
            };
            builder_.add_route(zone, from.first, to.first, gateway(from), gateway(to),
                               some_links());
        }
    }

    Random random_;
    NetworkBuilder builder_;
    std::vector<LinkId> pool_;
    HostId n_hosts_ = 0;
    std::uint32_t n_links_ = 0;
    std::uint32_t n_zones_ = 0;
};

// Adds up pair by pair what the matrix says.
Traffic summed(Network& network, std::span<const HostId> hosts, std::span<const double> bytes) {
    std::map<LinkId, double> loads;
    Traffic traffic;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        for (std::size_t j = 0; j < hosts.size(); ++j) {
            const double amount = bytes[i * hosts.size() + j];
            if (!(amount > 0)) {
                continue;
            }
            const Route& route = network.route(hosts[i], hosts[j]);
            for (const LinkId link : route.links) {
                double& load = loads[link];
                load = network.links()[link].fatpipe ? std::max(load, amount) : load + amount;
            }
            traffic.latency = std::max(traffic.latency, route.latency);
            traffic.latency_bytes = std::max(traffic.latency_bytes, route.latency * amount);
        }
    }
    for (const auto& [link, load] : loads) {
        traffic.loads.push_back({link, load});
    }
    return traffic;
}

bool same(Traffic found, const Traffic& expected) {
    std::sort(found.loads.begin(), found.loads.end(),
              [](const LinkLoad& a, const LinkLoad& b) { return a.link < b.link; });
    if (found.latency != expected.latency || found.latency_bytes != expected.latency_bytes ||
        found.loads.size() != expected.loads.size()) {
        return false;
    }
    for (std::size_t i = 0; i < found.loads.size(); ++i) {
        const double load = expected.loads[i].bytes;
        if (found.loads[i].link != expected.loads[i].link ||
            std::fabs(found.loads[i].bytes - load) > 1e-12 * load) {
            return false;
        }
    }
    return true;
}

void traffic_is_what_all_pairs_add_up_to(std::uint32_t seed) {
    RandomNetwork made(seed);
    Random& random = made.random();
    const auto plan = made.finish();
    Network network(plan);
    Network naive(plan);
    for (int i = 0; i < 6; ++i) {
        std::vector<HostId> hosts;
        for (HostId host = 0; host < made.n_hosts(); ++host) {
            if (draw(random, 0, 2) > 0) {
                hosts.push_back(host);
            }
        }
        std::shuffle(hosts.begin(), hosts.end(), random);
        if (i == 5 && !hosts.empty()) {
            hosts.push_back(hosts.front());
        }
        if (i == 3) {
            const LinkId link =
                draw(random, 0, static_cast<std::uint32_t>(plan->links().size()) - 1);
            network.set_latency(link, 0.7);
            naive.set_latency(link, 0.7);
        }
        std::vector<double> bytes(hosts.size() * hosts.size(), 0.3);
        for (std::size_t k = 0; k < hosts.size(); ++k) {
            bytes[k * hosts.size() + k] = 0.0;
        }
        CHECK(same(network.all_to_all(hosts, 0.3), summed(naive, hosts, bytes)));
        for (double& amount : bytes) {
            amount = draw(random, 0, 3) * 0.7 - 0.7;
        }
        CHECK(same(network.traffic(hosts, bytes), summed(naive, hosts, bytes)));
    }
    for (LinkId link = 0; link < plan->links().size(); ++link) {
        // limiters of switches may be called like those of hosts, as in SimGrid
        const std::string name = plan->link_name(link);
        CHECK(plan->link_name(plan->find_link(name).value_or(0)) == name);
    }
}

void threads_share_a_plan() {
    RandomNetwork made(7);
    const auto plan = made.finish();
    const std::vector<HostId> hosts = first_hosts(made.n_hosts());
    const double expected = Network(plan).all_to_all(hosts, 1.0).latency;
    std::vector<double> found(4);
    std::vector<std::thread> threads;
    for (double& latency : found) {
        threads.emplace_back([&] {
            latency = Network(plan).all_to_all(hosts, 1.0).latency;
            plan->find_link("nowhere");
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(found == std::vector<double>(4, expected));
}

} // namespace

void test_network() {
    clusters_route_over_their_backbone();
    a_run_changes_its_own_links_only();
    links_that_are_twice_on_a_route_count_twice();
    nonsense_is_refused();
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        traffic_is_what_all_pairs_add_up_to(seed);
    }
    threads_share_a_plan();
}

} // namespace noctule
