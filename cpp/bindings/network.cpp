// Networks: a builder that Python fills with a platform, and what traffic means for the links.
#include "bindings/bindings.hpp"

#include "network/network.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace noctule {

namespace {

template <typename T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T> std::span<const T> span_of(const Input<T>& values) {
    return {values.data(), values.size()};
}

using Gateways = std::optional<std::pair<PointId, PointId>>;
using Pair = std::pair<double, double>; // bandwidth and latency

// Links, their bytes, the largest latency, and the largest product of latency and bytes.
using TrafficNumbers = std::tuple<std::vector<LinkId>, std::vector<double>, double, double>;

TrafficNumbers numbers_of(const Traffic& traffic) {
    TrafficNumbers numbers{{}, {}, traffic.latency, traffic.latency_bytes};
    for (const LinkLoad& load : traffic.loads) {
        std::get<0>(numbers).push_back(load.link);
        std::get<1>(numbers).push_back(load.bytes);
    }
    return numbers;
}

// Levels of down, up and cables; or dimensions; or the seven sizes of a dragonfly; or nothing.
Topology topology_of(const std::string& kind,
                     const std::vector<std::vector<std::uint32_t>>& sizes) {
    if (kind == "fat_tree" && sizes.size() == 3 && sizes[1].size() == sizes[0].size() &&
        sizes[2].size() == sizes[0].size() && !sizes[0].empty()) {
        return FatTreeShape{sizes[0], sizes[1], sizes[2]};
    }
    if (kind == "torus" && sizes.size() == 1 && !sizes[0].empty()) {
        return TorusShape{sizes[0]};
    }
    if (kind == "dragonfly" && sizes.size() == 1 && sizes[0].size() == 7) {
        const auto& s = sizes[0];
        return DragonflyShape{s[0], s[1], s[2], s[3], s[4], s[5], s[6]};
    }
    if (kind == "flat") {
        return std::monostate();
    }
    throw InputError("topology: got " + kind +
                     ", expected flat, fat_tree, torus or dragonfly, "
                     "with its sizes");
}

ZoneId add_cluster(NetworkBuilder& builder, const std::string& name,
                   const std::vector<std::pair<std::uint32_t, std::uint32_t>>& numbers,
                   std::optional<ZoneId> parent, const Input<HostId>& hosts,
                   const std::string& router, double bandwidth, double latency, bool split,
                   double limiter, std::optional<LinkId> backbone, std::optional<Pair> loopback,
                   const std::string& topology,
                   const std::vector<std::vector<std::uint32_t>>& sizes) {
    ClusterLinks links{bandwidth, latency, split, limiter, backbone.value_or(no_link), {}};
    if (loopback) {
        links.loopback = Link{loopback->first, loopback->second, true};
    }
    return builder.add_cluster({name, numbers}, parent, span_of(hosts), router, links,
                               topology_of(topology, sizes));
}

void add_route(NetworkBuilder& builder, ZoneId zone, PointId src, PointId dst, Gateways gateways,
               const std::vector<LinkId>& links, bool bypass) {
    const auto [gw_src, gw_dst] = gateways.value_or(std::pair(no_point, no_point));
    if (bypass) {
        builder.add_bypass(zone, src, dst, gw_src, gw_dst, links);
    } else {
        builder.add_route(zone, src, dst, gw_src, gw_dst, links);
    }
}

void bind_builder(nb::module_& module) {
    nb::enum_<Routing>(module, "Routing", "How a zone finds routes.")
        .value("FULL", Routing::full)
        .value("FLOYD", Routing::floyd)
        .value("DIJKSTRA", Routing::dijkstra)
        .value("DIJKSTRA_CACHE", Routing::dijkstra_cache)
        .value("STAR", Routing::star)
        .value("VIVALDI", Routing::vivaldi)
        .value("WIFI", Routing::wifi)
        .value("NONE", Routing::none);
    nb::class_<NetworkBuilder>(module, "NetworkBuilder",
                               "Makes a NetworkPlan: zones with their members in order, then "
                               "routes. Points are hosts, routers and zones.")
        .def(nb::init<std::vector<std::string>, double, double>(), nb::arg("host_names"),
             nb::arg("loopback_bandwidth"), nb::arg("loopback_latency"))
        .def("add_zone", &NetworkBuilder::add_zone, nb::arg("name"), nb::arg("routing"),
             nb::arg("parent").none())
        .def("add_cluster", &add_cluster, nb::arg("name"), nb::arg("numbers"),
             nb::arg("parent").none(), nb::arg("hosts"), nb::arg("router"), nb::arg("bandwidth"),
             nb::arg("latency"), nb::arg("split"), nb::arg("limiter"), nb::arg("backbone").none(),
             nb::arg("loopback").none(), nb::arg("topology"), nb::arg("sizes"))
        .def("add_host", &NetworkBuilder::add_host, nb::arg("zone"), nb::arg("host"))
        .def("add_router", &NetworkBuilder::add_router, nb::arg("zone"), nb::arg("name"))
        .def("point_of_zone", &NetworkBuilder::point_of_zone, nb::arg("zone"))
        .def("add_link", &NetworkBuilder::add_link, nb::arg("name"), nb::arg("bandwidth"),
             nb::arg("latency"), nb::arg("fatpipe"))
        .def(
            "add_pairs",
            [](NetworkBuilder& builder, ZoneId zone, const Input<HostId>& hosts, double up,
               double down,
               double latency) { builder.add_pairs(zone, span_of(hosts), up, down, latency); },
            nb::arg("zone"), nb::arg("hosts"), nb::arg("bandwidth_up"), nb::arg("bandwidth_down"),
            nb::arg("latency"), "Add a link up and one down for each of some hosts.")
        .def("set_backbone", &NetworkBuilder::set_backbone, nb::arg("zone"), nb::arg("link"))
        .def("set_host_links", &NetworkBuilder::set_host_links, nb::arg("zone"), nb::arg("host"),
             nb::arg("up"), nb::arg("down"))
        .def("set_coordinates", &NetworkBuilder::set_coordinates, nb::arg("zone"), nb::arg("point"),
             nb::arg("coordinates"))
        .def("add_route", &add_route, nb::arg("zone"), nb::arg("src"), nb::arg("dst"),
             nb::arg("gateways").none(), nb::arg("links"), nb::arg("bypass"),
             "Add a route or a bypass, one way.")
        .def("find_link", &NetworkBuilder::find_link, nb::arg("name"),
             "Find a link by its name, once all links are there.")
        .def("finish", &NetworkBuilder::finish);
}

void bind_plan(nb::module_& module) {
    nb::class_<NetworkPlan>(module, "NetworkPlan",
                            "Zones, links and routes of a platform, which many runs share.")
        .def_prop_ro("n_hosts", &NetworkPlan::n_hosts)
        .def_prop_ro("n_links", [](const NetworkPlan& plan) { return plan.links().size(); })
        .def(
            "link_name",
            [](const NetworkPlan& plan, LinkId link) {
                if (link >= plan.links().size()) {
                    throw nb::index_error("no such link");
                }
                return plan.link_name(link);
            },
            nb::arg("link"))
        .def("find_link", &NetworkPlan::find_link, nb::arg("name"))
        .def(
            "link",
            [](const NetworkPlan& plan, LinkId link) {
                if (link >= plan.links().size()) {
                    throw nb::index_error("no such link");
                }
                const Link& found = plan.links()[link];
                return std::tuple(found.bandwidth, found.latency, found.fatpipe);
            },
            nb::arg("link"), "Bandwidth and latency of a link, and whether it is a fat pipe.");
}

} // namespace

void bind_network(nb::module_& module) {
    bind_plan(module);
    bind_builder(module);
    nb::class_<Network>(module, "Network", "A network as one run has it.")
        .def(nb::init<std::shared_ptr<const NetworkPlan>>(), nb::arg("plan"))
        .def(
            "route",
            [](Network& network, HostId from, HostId to) {
                const Route& route = network.route(from, to);
                return std::tuple(route.links, route.latency, route.missing);
            },
            nb::arg("src"), nb::arg("dst"),
            "Links from host to host, their latency, and whether a declared route was missing.")
        .def("warnings", &Network::warnings)
        .def(
            "traffic",
            [](Network& network, const Input<HostId>& hosts, const Input<double>& bytes) {
                return numbers_of(network.traffic(span_of(hosts), span_of(bytes)));
            },
            nb::arg("hosts"), nb::arg("bytes"),
            "Links and their bytes, the largest latency, and the largest latency times bytes.")
        .def(
            "all_to_all",
            [](Network& network, const Input<HostId>& hosts, double bytes) {
                return numbers_of(network.all_to_all(span_of(hosts), bytes));
            },
            nb::arg("hosts"), nb::arg("bytes"))
        .def(
            "message",
            [](Network& network, HostId from, HostId to, double bytes) {
                return numbers_of(network.message(from, to, bytes));
            },
            nb::arg("src"), nb::arg("dst"), nb::arg("bytes"))
        .def("set_bandwidth", &Network::set_bandwidth, nb::arg("link"), nb::arg("bandwidth"))
        .def("set_latency", &Network::set_latency, nb::arg("link"), nb::arg("latency"));
}

} // namespace noctule
