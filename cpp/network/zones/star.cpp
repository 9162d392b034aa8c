#include "network/zones.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

std::size_t Star::append_route(MemberIndex from, MemberIndex to, std::vector<LinkId>& links) const {
    const std::size_t first = links.size();
    const auto append = [&](LinkId link) {
        const auto begin = links.begin() + static_cast<std::ptrdiff_t>(first);
        if (link != no_link && std::find(begin, links.end(), link) == links.end()) {
            links.push_back(link);
        }
    };
    const Member& source = members[from];
    if (from == to && source.loopback != no_link) {
        append(source.loopback);
        return links.size();
    }
    if (source.connected()) {
        append(source.limiter);
        append(source.up);
        append(backbone);
    }
    const std::size_t middle = links.size();
    const Member& target = members[to];
    if (target.connected()) {
        append(backbone);
        append(target.down);
        append(target.limiter);
    }
    return middle;
}

double Star::distance(MemberIndex from, MemberIndex to) const {
    if (coordinates.empty()) {
        return 0.0;
    }
    const Coordinates& a = coordinates[from];
    const Coordinates& b = coordinates[to];
    const double x = a[0] - b[0];
    const double y = a[1] - b[1];
    const double milliseconds = std::sqrt(x * x + y * y) + std::fabs(a[2]) + std::fabs(b[2]);
    return milliseconds / 1000.0;
}

void Star::find_out_whether_plain() {
    std::vector<LinkId> all;
    const auto add = [&](LinkId link) {
        if (link != no_link) {
            all.push_back(link);
        }
    };
    add(backbone);
    for (const Member& member : members) {
        add(member.limiter);
        add(member.up);
        if (member.down != member.up) {
            add(member.down);
        }
    }
    std::sort(all.begin(), all.end());
    plain = std::adjacent_find(all.begin(), all.end()) == all.end();
}

} // namespace noctule
