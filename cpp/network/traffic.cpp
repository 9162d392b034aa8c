// What traffic means for the links. Where zones allow it, links are summed up without looking at
// every pair of hosts: routes through zones are put together from parts, so that all flows from a
// zone to a gateway can be counted at once, and those within a star add up by host.
//
// Latencies of routes are summed in the same parts (to the gateway, between, from the gateway), and
// rounding is monotonous: the largest latency is that of the largest parts, to the last bit.
#include "errors.hpp"
#include "network/network.hpp"

#include <algorithm>

namespace noctule {

namespace {

using Member = Star::Member;

// The hosts that one member of a zone is or contains.
struct Part {
    PointId member;
    std::span<HostId> hosts;

    double size() const { return static_cast<double>(hosts.size()); }
};

// Sorts the hosts by the members of a zone that they are in.
std::vector<Part> parts_of(const NetworkPlan& plan, ZoneId zone, std::span<HostId> hosts) {
    struct Placed {
        MemberIndex rank;
        HostId host;
        PointId member;
    };
    std::vector<Placed> placed;
    placed.reserve(hosts.size());
    for (const HostId host : hosts) {
        const PointId member = plan.member_around(zone, host);
        placed.push_back({plan.place(member).rank, host, member});
    }
    std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
        return a.rank != b.rank ? a.rank < b.rank : a.host < b.host;
    });
    std::vector<Part> parts;
    std::size_t first = 0;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        hosts[i] = placed[i].host;
        if (i + 1 == hosts.size() || placed[i + 1].member != placed[i].member) {
            parts.push_back({placed[i].member, hosts.subspan(first, i + 1 - first)});
            first = i + 1;
        }
    }
    return parts;
}

// The largest sum of one host's first number and another host's second one.
class LargestPair {
  public:
    void add(double first, double second) {
        if (first > first_[0]) {
            first_[1] = first_[0];
            first_[0] = first;
            first_of_ = n_;
        } else {
            first_[1] = std::max(first_[1], first);
        }
        if (second > second_[0]) {
            second_[1] = second_[0];
            second_[0] = second;
            second_of_ = n_;
        } else {
            second_[1] = std::max(second_[1], second);
        }
        ++n_;
    }

    double largest() const {
        if (first_of_ != second_of_) {
            return first_[0] + second_[0];
        }
        return std::max(first_[0] + second_[1], first_[1] + second_[0]);
    }

  private:
    double first_[2] = {-1.0, -1.0};
    double second_[2] = {-1.0, -1.0};
    std::size_t first_of_ = 0;
    std::size_t second_of_ = 0;
    std::size_t n_ = 0;
};

} // namespace

// All flows of some parts of a zone through one gateway.
struct Network::Reach {
    std::size_t part;
    PointId gateway;
    Way way;
    double n_flows;
    double latency;
};

// Traffic from one part of a zone to another.
struct Network::Meeting {
    double latency;
    std::size_t up; // numbers of reaches
    std::size_t down;
};

void Network::add_flows(LinkId link, double n_flows, double bytes) {
    double& weight = weights_[link];
    if (weight == 0.0) {
        touched_.push_back(link);
    }
    weight = links_[link].fatpipe ? std::max(weight, bytes) : weight + n_flows * bytes;
}

void Network::begin_traffic() {
    weights_.resize(links_.size());
    for (const LinkId link : touched_) { // left by a call that failed
        weights_[link] = 0.0;
    }
    touched_.clear();
    depth_ = 0;
}

Traffic Network::with_loads(Traffic traffic) {
    traffic.loads.reserve(touched_.size());
    for (const LinkId link : touched_) {
        traffic.loads.push_back({link, weights_[link]});
        weights_[link] = 0.0;
    }
    touched_.clear();
    return traffic;
}

void Network::add_route(const Route& route, double bytes, Traffic& traffic) {
    for (const LinkId link : route.links) {
        add_flows(link, 1.0, bytes);
    }
    traffic.latency = std::max(traffic.latency, route.latency);
    traffic.latency_bytes = std::max(traffic.latency_bytes, route.latency * bytes);
}

bool Network::all_differ(std::span<const HostId> hosts) {
    seen_.resize(n_hosts());
    if (++call_ == 0) {
        std::fill(seen_.begin(), seen_.end(), 0);
        call_ = 1;
    }
    for (const HostId host : hosts) {
        if (seen_[host] == call_) {
            return false;
        }
        seen_[host] = call_;
    }
    return true;
}

const Star* Network::plain_star_of(std::span<const HostId> hosts) const {
    const ZoneId zone = plan_->place(hosts.front()).zone;
    if (zone == no_zone || !plan_->zone(zone).bypasses.empty()) {
        return nullptr;
    }
    const auto* star = std::get_if<Star>(&plan_->zone(zone).routes);
    if (star == nullptr || !star->plain) {
        return nullptr;
    }
    for (const HostId host : hosts) {
        const Place& place = plan_->place(host);
        if (place.zone != zone || !star->members[place.rank].connected()) {
            return nullptr;
        }
    }
    return star;
}

double Network::latency_up(const Star& star, const Member& member) const {
    double latency = member.limiter == no_link ? 0.0 : links_[member.limiter].latency;
    latency += links_[member.up].latency;
    return star.backbone == no_link ? latency : latency + links_[star.backbone].latency;
}

double Network::latency_down(const Member& member) const {
    const double latency = links_[member.down].latency;
    return member.limiter == no_link ? latency : latency + links_[member.limiter].latency;
}

Traffic Network::star_all_to_all(const Star& star, std::span<const HostId> hosts,
                                 double bytes) const {
    const double n = static_cast<double>(hosts.size());
    Traffic traffic;
    traffic.loads.reserve(3 * hosts.size() + 1);
    const auto load = [&](LinkId link, double n_flows) {
        traffic.loads.push_back({link, links_[link].fatpipe ? bytes : n_flows * bytes});
    };
    LargestPair latency;
    for (const HostId host : hosts) {
        const Member& member = star.members[plan_->place(host).rank];
        if (member.up == member.down) {
            load(member.up, 2 * (n - 1));
        } else {
            load(member.up, n - 1);
            load(member.down, n - 1);
        }
        if (member.limiter != no_link) {
            load(member.limiter, 2 * (n - 1));
        }
        latency.add(latency_up(star, member), latency_down(member));
    }
    if (star.backbone != no_link) {
        load(star.backbone, n * (n - 1));
    }
    traffic.latency = latency.largest();
    traffic.latency_bytes = traffic.latency * bytes;
    return traffic;
}

// Sums by sender and by receiver; not if a host sends to itself, or has a fat pipe.
std::optional<Traffic> Network::star_traffic(const Star& star, std::span<const HostId> hosts,
                                             std::span<const double> bytes) const {
    const std::size_t n = hosts.size();
    const auto member_of = [&](std::size_t i) -> const Member& {
        return star.members[plan_->place(hosts[i]).rank];
    };
    const auto fatpipe = [&](LinkId link) { return link != no_link && links_[link].fatpipe; };
    std::vector<double> down(n);
    for (std::size_t i = 0; i < n; ++i) {
        const Member& member = member_of(i);
        if (bytes[i * n + i] > 0 || fatpipe(member.up) || fatpipe(member.down)) {
            return std::nullopt;
        }
        down[i] = latency_down(member);
    }
    Traffic traffic;
    std::vector<double> sent(n);
    std::vector<double> received(n);
    double all = 0.0;
    double largest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double up = latency_up(star, member_of(i));
        for (std::size_t j = 0; j < n; ++j) {
            const double amount = bytes[i * n + j];
            if (amount > 0) {
                sent[i] += amount;
                received[j] += amount;
                largest = std::max(largest, amount);
                const double latency = up + down[j];
                traffic.latency = std::max(traffic.latency, latency);
                traffic.latency_bytes = std::max(traffic.latency_bytes, latency * amount);
            }
        }
        all += sent[i];
    }
    const auto load = [&](LinkId link, double amount) {
        if (link != no_link && amount > 0) {
            traffic.loads.push_back({link, amount});
        }
    };
    traffic.loads.reserve(3 * n + 1);
    for (std::size_t i = 0; i < n; ++i) {
        const Member& member = member_of(i);
        const bool one_link = member.up == member.down;
        load(member.up, one_link ? sent[i] + received[i] : sent[i]);
        load(one_link ? no_link : member.down, received[i]);
        load(member.limiter, sent[i] + received[i]);
    }
    load(star.backbone, fatpipe(star.backbone) ? largest : all);
    return traffic;
}

double Network::spread(ZoneId id, std::span<HostId> hosts, double bytes) {
    if (const Star* star = plain_star_of(hosts)) {
        const Traffic traffic = star_all_to_all(*star, hosts, 1.0);
        for (const LinkLoad& load : traffic.loads) {
            add_flows(load.link, load.bytes, bytes);
        }
        return traffic.latency;
    }
    const std::vector<Part> parts = parts_of(*plan_, id, hosts);
    std::vector<Reach> reaches;
    const auto reach = [&](std::size_t part, PointId gateway, Way way, double n_flows) {
        for (std::size_t i = 0; i < reaches.size(); ++i) {
            Reach& known = reaches[i];
            if (known.part == part && known.gateway == gateway && known.way == way) {
                known.n_flows += n_flows;
                return i;
            }
        }
        reaches.push_back({part, gateway, way, n_flows, 0.0});
        return reaches.size() - 1;
    };
    std::vector<Meeting> meetings;
    std::vector<LinkId> links;
    double largest = 0.0;
    for (std::size_t a = 0; a < parts.size(); ++a) {
        for (std::size_t b = 0; b < parts.size(); ++b) {
            if (a == b) {
                continue;
            }
            links.clear();
            const Crossing crossing = cross(id, parts[a].member, parts[b].member, links);
            for (const LinkId link : links) {
                add_flows(link, parts[a].size() * parts[b].size(), bytes);
            }
            if (crossing.gw_src == parts[a].member && crossing.gw_dst == parts[b].member) {
                largest = std::max(largest, crossing.latency); // hosts themselves
            } else {
                const std::size_t up = reach(a, crossing.gw_src, Way::up, parts[b].size());
                const std::size_t down = reach(b, crossing.gw_dst, Way::down, parts[a].size());
                meetings.push_back({crossing.latency, up, down});
            }
        }
    }
    for (Reach& known : reaches) {
        const Part& part = parts[known.part];
        const ZoneId inside = plan_->zone_of_point(part.member);
        if (inside != no_zone) {
            known.latency =
                gather(inside, part.hosts, known.gateway, known.way, known.n_flows, bytes);
        }
    }
    for (const Meeting& meeting : meetings) {
        const double latency = reaches[meeting.up].latency + meeting.latency;
        largest = std::max(largest, latency + reaches[meeting.down].latency);
    }
    for (const Part& part : parts) {
        if (part.hosts.size() > 1) {
            const ZoneId inside = plan_->zone_of_point(part.member);
            largest = std::max(largest, spread(inside, part.hosts, bytes));
        }
    }
    return largest;
}

// Adds what goes from hosts of a zone to a gateway in it, or back: `n_flows` for each of them.
double Network::gather(ZoneId id, std::span<HostId> hosts, PointId gateway, Way way, double n_flows,
                       double bytes) {
    const PointId target = plan_->member_around(id, gateway);
    const bool upwards = way == Way::up;
    std::vector<LinkId> links;
    double largest = 0.0;
    for (const Part& part : parts_of(*plan_, id, hosts)) {
        const ZoneId inside = plan_->zone_of_point(part.member);
        if (part.member == target) {
            if (inside != no_zone) {
                largest =
                    std::max(largest, gather(inside, part.hosts, gateway, way, n_flows, bytes));
            }
            continue; // a host that is the gateway itself
        }
        links.clear();
        const Crossing crossing =
            upwards ? cross(id, part.member, target, links) : cross(id, target, part.member, links);
        const PointId near = upwards ? crossing.gw_src : crossing.gw_dst;
        const PointId far = upwards ? crossing.gw_dst : crossing.gw_src;
        double far_latency = 0.0;
        if (far != gateway) {
            far_latency =
                upwards ? append_route(far, gateway, links) : append_route(gateway, far, links);
        }
        for (const LinkId link : links) {
            add_flows(link, part.size() * n_flows, bytes);
        }
        const double near_latency =
            inside == no_zone ? 0.0 : gather(inside, part.hosts, near, way, n_flows, bytes);
        const double first = upwards ? near_latency : far_latency;
        const double last = upwards ? far_latency : near_latency;
        largest = std::max(largest, (first + crossing.latency) + last);
    }
    return largest;
}

Traffic Network::all_to_all(std::span<const HostId> hosts, double bytes) {
    for (const HostId host : hosts) {
        check_host(host);
    }
    if (hosts.size() < 2 || !(bytes > 0)) {
        return {};
    }
    const bool summed_up = !plan_->has_bypasses() && all_differ(hosts);
    if (summed_up) {
        if (const Star* star = plain_star_of(hosts)) {
            return star_all_to_all(*star, hosts, bytes);
        }
    }
    begin_traffic();
    Traffic traffic;
    ZoneId zone = no_zone;
    if (summed_up) {
        zone = plan_->common_zone(hosts[0], hosts[1]);
        for (const HostId host : hosts) {
            zone = zone == no_zone ? no_zone : plan_->common_zone_of(zone, host);
        }
    }
    if (zone != no_zone) {
        std::vector<HostId> sorted(hosts.begin(), hosts.end());
        traffic.latency = spread(zone, sorted, bytes);
        traffic.latency_bytes = traffic.latency * bytes;
    } else {
        for (std::size_t i = 0; i < hosts.size(); ++i) {
            for (std::size_t j = 0; j < hosts.size(); ++j) {
                if (i != j) {
                    add_route(route(hosts[i], hosts[j]), bytes, traffic);
                }
            }
        }
    }
    return with_loads(std::move(traffic));
}

Traffic Network::traffic(std::span<const HostId> hosts, std::span<const double> bytes) {
    const std::size_t n = hosts.size();
    if (bytes.size() != n * n) {
        throw InputError("traffic: got " + std::to_string(bytes.size()) + " numbers of bytes for " +
                         std::to_string(n) + " hosts, expected " + std::to_string(n * n));
    }
    for (const HostId host : hosts) {
        check_host(host);
    }
    if (const Star* star = n > 1 && all_differ(hosts) ? plain_star_of(hosts) : nullptr) {
        if (auto summed_up = star_traffic(*star, hosts, bytes)) {
            return std::move(*summed_up);
        }
    }
    begin_traffic();
    Traffic traffic;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            if (bytes[i * n + j] > 0) {
                add_route(route(hosts[i], hosts[j]), bytes[i * n + j], traffic);
            }
        }
    }
    return with_loads(std::move(traffic));
}

Traffic Network::traffic(std::span<const Flow> flows) {
    if (flows.size() == 1) {
        return message(flows[0].from, flows[0].to, flows[0].bytes);
    }
    begin_traffic();
    Traffic traffic;
    for (const Flow& flow : flows) {
        if (flow.bytes > 0) {
            add_route(route(flow.from, flow.to), flow.bytes, traffic);
        }
    }
    return with_loads(std::move(traffic));
}

Traffic Network::message(HostId from, HostId to, double bytes) {
    Traffic traffic;
    const Route& taken = route(from, to);
    if (!(bytes > 0)) {
        return traffic;
    }
    for (const LinkId link : taken.links) {
        const auto known = std::find_if(traffic.loads.begin(), traffic.loads.end(),
                                        [&](const LinkLoad& load) { return load.link == link; });
        if (known == traffic.loads.end()) {
            traffic.loads.push_back({link, bytes});
        } else if (!links_[link].fatpipe) {
            known->bytes += bytes;
        }
    }
    traffic.latency = taken.latency;
    traffic.latency_bytes = taken.latency * bytes;
    return traffic;
}

} // namespace noctule
