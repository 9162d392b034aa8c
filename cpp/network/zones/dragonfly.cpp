#include "network/zones.hpp"

#include <algorithm>

namespace noctule {

namespace {

std::uint64_t n_pairs(std::uint64_t n) { return n * (n - 1) / 2; }

// The number of a pair in the order 0-1, 0-2, ..., 1-2, ...
std::uint64_t pair_number(std::uint64_t n, std::uint64_t a, std::uint64_t b) {
    const std::uint64_t low = std::min(a, b);
    const std::uint64_t high = std::max(a, b);
    return low * n - low * (low + 1) / 2 + (high - low - 1);
}

std::pair<std::uint64_t, std::uint64_t> pair_of(std::uint64_t n, std::uint64_t number) {
    std::uint64_t low = 0;
    while (number >= n - 1 - low) {
        number -= n - 1 - low;
        ++low;
    }
    return {low, low + 1 + number};
}

} // namespace

std::array<double, 4> Dragonfly::n_cables(const DragonflyShape& s) {
    const auto pairs = [](double n) { return n * (n - 1) / 2; };
    const double groups = s.groups;
    const double chassis = s.chassis;
    const double routers = s.routers;
    return {groups * chassis * routers * s.hosts, groups * chassis * pairs(routers),
            groups * pairs(chassis) * routers, pairs(groups)};
}

Dragonfly::Dragonfly(const DragonflyShape& shape, std::uint32_t first_name)
    : shape_(shape), n_hosts_(shape.groups * shape.chassis * shape.routers * shape.hosts),
      first_name_(first_name), first_green_(n_hosts_),
      first_black_(first_green_ +
                   std::uint64_t(shape.groups) * shape.chassis * n_pairs(shape.routers)),
      first_blue_(first_black_ + shape.groups * n_pairs(shape.chassis) * shape.routers) {}

Dragonfly::Router Dragonfly::router_of(MemberIndex host) const {
    const std::uint32_t router = host / shape_.hosts;
    const std::uint32_t chassis = router / shape_.routers;
    return {chassis / shape_.chassis, chassis % shape_.chassis, router % shape_.routers};
}

std::uint32_t Dragonfly::index_of(const Router& router) const {
    return (router.group * shape_.chassis + router.chassis) * shape_.routers + router.blade;
}

LinkId Dragonfly::green(const Router& router, std::uint32_t blade) const {
    const std::uint64_t chassis = std::uint64_t(router.group) * shape_.chassis + router.chassis;
    const std::uint64_t cable = first_green_ + chassis * n_pairs(shape_.routers) +
                                pair_number(shape_.routers, router.blade, blade);
    return router.blade < blade ? cables.up(cable) : cables.down(cable);
}

LinkId Dragonfly::black(const Router& router, std::uint32_t chassis) const {
    const std::uint64_t pair = router.group * n_pairs(shape_.chassis) +
                               pair_number(shape_.chassis, router.chassis, chassis);
    const std::uint64_t cable = first_black_ + pair * shape_.routers + router.blade;
    return router.chassis < chassis ? cables.up(cable) : cables.down(cable);
}

LinkId Dragonfly::blue(std::uint32_t from, std::uint32_t to) const {
    const std::uint64_t cable = first_blue_ + pair_number(shape_.groups, from, to);
    return from < to ? cables.up(cable) : cables.down(cable);
}

void Dragonfly::append_limiter_of(const Router& router, std::vector<LinkId>& links) const {
    extras.append_limiter(n_hosts_ + index_of(router), links);
}

// The router of a group that has the cable to another group is in its first chassis.
Dragonfly::Router Dragonfly::append_way_to_group(Router router, std::uint32_t group,
                                                 std::vector<LinkId>& links) const {
    if (router.blade != group) {
        append_limiter_of(router, links);
        links.push_back(green(router, group));
        router.blade = group;
    }
    if (router.chassis != 0) {
        append_limiter_of(router, links);
        links.push_back(black(router, 0));
        router.chassis = 0;
    }
    links.push_back(blue(router.group, group));
    append_limiter_of(router, links);
    return {group, 0, router.group};
}

void Dragonfly::append_route(MemberIndex from, MemberIndex to, std::vector<LinkId>& links) const {
    if (from >= n_hosts_ || to >= n_hosts_ || (from == to && extras.append_loopback(from, links))) {
        return;
    }
    const Router target = router_of(to);
    Router router = router_of(from);
    extras.append_limiter(from, links);
    links.push_back(cables.up(from));
    if (router != target) {
        if (router.group != target.group) {
            router = append_way_to_group(router, target.group, links);
        }
        if (router.blade != target.blade) {
            append_limiter_of(router, links);
            links.push_back(green(router, target.blade));
            // SimGrid takes it to be in the first chassis now, so that a hop may be left out.
            router = {target.group, 0, target.blade};
        }
        if (router.chassis != target.chassis) {
            append_limiter_of(router, links);
            links.push_back(black(router, target.chassis));
        }
    }
    append_limiter_of(target, links);
    links.push_back(cables.down(to));
    extras.append_limiter(to, links);
}

std::string Dragonfly::router_number(std::uint32_t router) const {
    return std::to_string(2 * std::int64_t(n_hosts_) - 1 - router);
}

std::string Dragonfly::cable_name(std::uint32_t cable) const {
    const auto text = [](std::uint64_t number) { return std::to_string(number); };
    const std::string last = "_" + text(cable + first_name_);
    if (cable < first_green_) {
        return "local_link_from_router_" + text(cable / shape_.hosts) + "_to_node_" +
               text(cable % shape_.hosts) + last;
    }
    if (cable < first_black_) {
        const std::uint64_t number = cable - first_green_;
        const std::uint64_t n = n_pairs(shape_.routers);
        const auto [a, b] = pair_of(shape_.routers, number % n);
        return "green_link_in_chassis_" + text(number / n % shape_.chassis) + "_between_routers_" +
               text(a) + "_and_" + text(b) + last;
    }
    if (cable < first_blue_) {
        const std::uint64_t number = (cable - first_black_) / shape_.routers;
        const std::uint64_t n = n_pairs(shape_.chassis);
        const auto [a, b] = pair_of(shape_.chassis, number % n);
        return "black_link_in_group_" + text(number / n) + "_between_chassis_" + text(a) + "_and_" +
               text(b) + "_blade_" + text((cable - first_black_) % shape_.routers) + last;
    }
    const auto [a, b] = pair_of(shape_.groups, cable - first_blue_);
    const std::uint64_t n_routers = std::uint64_t(shape_.chassis) * shape_.routers;
    return "blue_link_between_group_" + text(a) + "_and_" + text(b) + "_routers_" +
           text(a * n_routers + b) + "_and_" + text(b * n_routers + a) + last;
}

} // namespace noctule
