#include "network/zones.hpp"

#include <utility>

namespace noctule {

Torus::Torus(TorusShape shape) : shape_(std::move(shape)), n_hosts_(1) {
    for (const std::uint32_t size : shape_.dimensions) {
        strides_.push_back(n_hosts_);
        n_hosts_ *= size;
    }
}

double Torus::n_cables(const TorusShape& shape) {
    double n_hosts = 1.0;
    for (const std::uint32_t size : shape.dimensions) {
        n_hosts *= size;
    }
    return n_hosts * static_cast<double>(shape.dimensions.size());
}

MemberIndex Torus::next_to(MemberIndex node, std::size_t dimension) const {
    const std::uint32_t size = shape_.dimensions[dimension];
    const std::uint32_t stride = strides_[dimension];
    const bool last = node / stride % size == size - 1;
    return last ? node - (size - 1) * stride : node + stride;
}

void Torus::append_route(MemberIndex from, MemberIndex to, std::vector<LinkId>& links) const {
    if (from >= n_hosts_ || to >= n_hosts_ || (from == to && extras.append_loopback(from, links))) {
        return;
    }
    MemberIndex node = from;
    for (std::size_t dimension = 0; dimension < strides_.size(); ++dimension) {
        const std::uint32_t size = shape_.dimensions[dimension];
        const std::uint32_t stride = strides_[dimension];
        const std::uint32_t here = from / stride % size;
        const std::uint32_t there = to / stride % size;
        const bool rightwards = (there > here && there <= here + size / 2) ||
                                (here > size / 2 && (here + size / 2) % size >= there);
        while (node / stride % size != there) {
            extras.append_limiter(node, links);
            if (rightwards) {
                links.push_back(cables.up(node * strides_.size() + dimension));
                node = next_to(node, dimension);
            } else {
                node = node / stride % size == 0 ? node + (size - 1) * stride : node - stride;
                links.push_back(cables.down(node * strides_.size() + dimension));
            }
        }
    }
    extras.append_limiter(to, links);
}

std::string Torus::cable_name(std::uint32_t cable, const std::string& cluster) const {
    const auto node = static_cast<MemberIndex>(cable / strides_.size());
    const std::size_t dimension = cable % strides_.size();
    return cluster + "_link_from_" + std::to_string(node) + "_to_" +
           std::to_string(next_to(node, dimension));
}

} // namespace noctule
