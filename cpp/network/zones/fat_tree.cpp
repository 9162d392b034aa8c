#include "network/zones.hpp"

#include <utility>

namespace noctule {

FatTree::FatTree(FatTreeShape shape, std::uint32_t first_host, std::uint32_t first_name)
    : shape_(std::move(shape)), n_levels_(static_cast<std::uint32_t>(shape_.down.size())),
      first_host_(first_host), first_name_(first_name) {
    std::uint64_t n_before = 0;
    for (std::uint32_t level = 0; level <= n_levels_; ++level) {
        std::uint32_t n_nodes = 1;
        for (std::uint32_t digit = 0; digit < n_levels_; ++digit) {
            n_nodes *= radix(level, digit);
        }
        n_nodes_.push_back(n_nodes);
        first_cable_.push_back(n_before);
        if (level < n_levels_) {
            n_before += std::uint64_t(n_nodes) * shape_.up[level] * shape_.cables[level];
        }
    }
}

double FatTree::n_cables(const FatTreeShape& shape) {
    double n_cables = 0.0;
    for (std::size_t level = 0; level < shape.down.size(); ++level) {
        double n = double(shape.up[level]) * shape.cables[level];
        for (std::size_t digit = 0; digit < shape.down.size(); ++digit) {
            n *= digit < level ? shape.up[digit] : shape.down[digit];
        }
        n_cables += n;
    }
    return n_cables;
}

double FatTree::n_switches(const FatTreeShape& shape) {
    double n_switches = 0.0;
    for (std::size_t level = 1; level <= shape.down.size(); ++level) {
        double n = 1.0;
        for (std::size_t digit = 0; digit < shape.down.size(); ++digit) {
            n *= digit < level ? shape.up[digit] : shape.down[digit];
        }
        n_switches += n;
    }
    return n_switches;
}

// Of the labels of a level: the digits below it count the ways up, those above the ways down.
std::uint32_t FatTree::radix(std::uint32_t level, std::uint32_t digit) const {
    return digit < level ? shape_.up[digit] : shape_.down[digit];
}

FatTree::Label FatTree::label_of(std::uint32_t level, std::uint32_t position) const {
    Label label(n_levels_);
    for (std::uint32_t digit = 0; digit < n_levels_; ++digit) {
        label[digit] = position % radix(level, digit);
        position /= radix(level, digit);
    }
    return label;
}

std::uint32_t FatTree::position_of(const Node& node) const {
    std::uint32_t position = 0;
    for (std::uint32_t digit = n_levels_; digit-- > 0;) {
        position = position * radix(node.level, digit) + node.label[digit];
    }
    return position;
}

std::uint64_t FatTree::cable(const Node& child, std::uint32_t parent_digit,
                             std::uint32_t number) const {
    const std::uint64_t n_side_by_side = shape_.cables[child.level];
    return first_cable_[child.level] +
           position_of(child) * (shape_.up[child.level] * n_side_by_side) +
           parent_digit * n_side_by_side + number;
}

bool FatTree::is_above(const Node& node, const Node& host) const {
    for (std::uint32_t digit = node.level; digit < n_levels_; ++digit) {
        if (node.label[digit] != host.label[digit]) {
            return false;
        }
    }
    return node.level > 0;
}

void FatTree::append_limiter_of(const Node& node, std::vector<LinkId>& links) const {
    std::uint32_t index = position_of(node);
    for (std::uint32_t level = 0; level < node.level; ++level) {
        index += n_nodes_[level];
    }
    extras.append_limiter(index, links);
}

void FatTree::append_route(MemberIndex from, MemberIndex to, std::vector<LinkId>& links) const {
    if (from >= n_hosts() || to >= n_hosts() ||
        (from == to && extras.append_loopback(from, links))) {
        return;
    }
    const Node target{0, label_of(0, to)};
    Node node{0, label_of(0, from)};
    std::uint32_t port = to + first_host_; // modulo the ports of the level
    while (!is_above(node, target)) {
        const std::uint32_t level = node.level;
        const std::uint32_t taken = port % (shape_.up[level] * shape_.cables[level]);
        const std::uint32_t digit = taken % shape_.up[level];
        append_limiter_of(node, links);
        links.push_back(cables.up(cable(node, digit, taken / shape_.up[level])));
        node.label[level] = digit;
        ++node.level;
        port /= shape_.up[level];
    }
    while (node.level > 0) {
        // SimGrid looks through the ports of a switch from the first of a cable on, and goes on
        // from there in the switch below, where it may so find a later cable.
        const std::uint32_t top = node.level - 1;
        std::uint32_t i = (from + first_host_) % shape_.cables[top] * shape_.down[top];
        for (; node.level > 0; ++i) {
            const std::uint32_t level = node.level - 1;
            if (i >= shape_.down[level] * shape_.cables[level]) {
                break;
            }
            if (i % shape_.down[level] != target.label[level]) {
                continue;
            }
            Node below{level, node.label};
            below.label[level] = target.label[level];
            links.push_back(cables.down(cable(below, node.label[level], i / shape_.down[level])));
            append_limiter_of(node, links);
            node = std::move(below);
        }
    }
    append_limiter_of(node, links);
}

std::string FatTree::switch_number(std::uint32_t index) const {
    return std::to_string(2 * std::int64_t(n_hosts()) - 1 - index);
}

std::string FatTree::node_number(std::uint32_t level, std::uint32_t position) const {
    if (level == 0) {
        return std::to_string(position);
    }
    for (std::uint32_t below = 1; below < level; ++below) {
        position += n_nodes_[below];
    }
    return switch_number(position);
}

std::string FatTree::cable_name(std::uint32_t cable) const {
    std::uint32_t level = n_levels_ - 1;
    while (first_cable_[level] > cable) {
        --level;
    }
    const auto index = static_cast<std::uint32_t>(cable - first_cable_[level]);
    const std::uint32_t n_ports = shape_.up[level] * shape_.cables[level];
    Node parent{level + 1, label_of(level, index / n_ports)};
    parent.label[level] = index % n_ports / shape_.cables[level];
    return "link_from_" + node_number(level, index / n_ports) + "_" +
           node_number(level + 1, position_of(parent)) + "_" + std::to_string(cable + first_name_);
}

} // namespace noctule
