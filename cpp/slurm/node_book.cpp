#include "slurm/node_book.hpp"

#include "errors.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace noctule::slurm {

namespace {

// "gpu" of "gpu:a100", if it is a kind too.
std::vector<std::uint32_t> families(const std::vector<std::string>& kinds) {
    std::vector<std::uint32_t> found(kinds.size());
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        const std::string family = kinds[k].substr(0, kinds[k].find(':'));
        const auto at = std::ranges::find(kinds, family);
        found[k] = static_cast<std::uint32_t>(at != kinds.end() ? at - kinds.begin()
                                                                : static_cast<std::ptrdiff_t>(k));
    }
    return found;
}

// Out of a number or back into it.
template <typename Number> void move(Number amount, bool out, Number& number) {
    number = static_cast<Number>(out ? number - amount : number + amount);
}

} // namespace

NodeBook::NodeBook(const Settings& settings)
    : n_kinds_(settings.gres_kinds.size()), family_(families(settings.gres_kinds)),
      idle_(settings.n_nodes(), true) {
    const std::size_t n = settings.nodes.size();
    for (const Node& node : settings.nodes) {
        const std::uint32_t cores = node.cores();
        if (node.n_hosts != cores) {
            throw InputError("node " + std::to_string(n_cores_.size()) + ": got " +
                             std::to_string(node.n_hosts) + " hosts, expected one for each of " +
                             std::to_string(cores) + " cores");
        }
        n_cores_.push_back(cores);
        cores_per_socket_.push_back(std::max(1U, cores / std::max(1U, node.sockets)));
        n_words_ = std::max<std::size_t>(n_words_, (cores + 63) / 64);
    }
    n_jobs_.assign(n, 0);
    n_with_memory_.assign(n, 0);
    cores_.assign(n * n_words_, 0);
    if (shares_cores(settings)) {
        n_on_core_.assign(n * n_words_ * 64, 0);
    }
    free_gres_.assign(n * n_kinds_, 0);
    free_all_cores();
    for (std::size_t i = 0; i < n; ++i) {
        const Node& node = settings.nodes[i];
        free_memory_.push_back(node.memory_mb);
        std::ranges::copy_n(node.gres.begin(),
                            static_cast<std::ptrdiff_t>(std::min(node.gres.size(), n_kinds_)),
                            free_gres_.begin() + static_cast<std::ptrdiff_t>(i * n_kinds_));
        // A family's number includes its types; from here on it does not.
        for (std::size_t k = 0; k < n_kinds_; ++k) {
            if (family_[k] != k) {
                std::uint32_t& others = free_gres_[i * n_kinds_ + family_[k]];
                others -= std::min(others, free_gres_[i * n_kinds_ + k]);
            }
        }
    }
    for (const Partition& partition : settings.partitions) {
        const bool is_bounded = partition.max_cpus_per_node != no_bound;
        row_of_partition_.push_back(
            is_bounded ? static_cast<std::uint32_t>(partition_cores_.size() / n) : none);
        partition_cores_.resize(partition_cores_.size() + (is_bounded ? n : 0), 0);
    }
}

bool NodeBook::socket_is_free(NodeIndex node, std::uint32_t socket) const {
    const auto bits = words(node);
    const std::uint32_t first = socket * cores_per_socket_[node];
    for (std::uint32_t core = first; core < first + cores_per_socket_[node]; ++core) {
        if ((bits[core / 64] >> (core % 64) & 1) == 0) {
            return false;
        }
    }
    return true;
}

std::uint32_t NodeBook::cores_of_free_sockets(NodeIndex node) const {
    const std::uint32_t n_sockets = n_cores_[node] / cores_per_socket_[node];
    std::uint32_t n = 0;
    for (std::uint32_t socket = 0; socket < n_sockets; ++socket) {
        n += socket_is_free(node, socket) ? cores_per_socket_[node] : 0;
    }
    return n;
}

std::uint32_t NodeBook::free_gres(NodeIndex node, std::uint32_t kind) const {
    const std::uint32_t* free = free_gres_.data() + node * n_kinds_;
    std::uint32_t n = free[kind];
    for (std::size_t k = 0; k < n_kinds_; ++k) {
        n += k != kind && family_[k] == kind ? free[k] : 0;
    }
    return n;
}

std::uint32_t NodeBook::cores_of_partition(NodeIndex node, std::uint32_t partition) const {
    const std::uint32_t row = row_of_partition_[partition];
    return row == none ? 0 : partition_cores_[row * n_cores_.size() + node];
}

std::vector<std::uint64_t> NodeBook::pick_cores(NodeIndex node, std::uint32_t n,
                                                bool whole_sockets) const {
    std::vector<std::uint64_t> picked(n_words_, 0);
    const auto bits = words(node);
    for (std::uint32_t core = 0; core < n_cores_[node]; ++core) {
        const std::uint32_t in_socket = core % cores_per_socket_[node];
        if (n == 0 && !(whole_sockets && in_socket != 0)) {
            break;
        }
        const bool is_free = whole_sockets ? socket_is_free(node, core / cores_per_socket_[node])
                                           : (bits[core / 64] >> (core % 64) & 1) != 0;
        if (!is_free) {
            continue;
        }
        picked[core / 64] |= std::uint64_t{1} << (core % 64);
        n -= std::min(n, 1U);
    }
    return picked;
}

std::vector<std::uint32_t> NodeBook::pick_gres(NodeIndex node,
                                               std::span<const std::uint32_t> by_kind) const {
    std::vector<std::uint32_t> picked(n_kinds_, 0);
    const std::uint32_t* free = free_gres_.data() + node * n_kinds_;
    // Types first: what a family may take depends on what is left of them.
    for (std::size_t k = 0; k < n_kinds_; ++k) {
        if (family_[k] != k) {
            picked[k] = by_kind[k];
        }
    }
    for (std::size_t k = 0; k < n_kinds_; ++k) {
        if (family_[k] != k) {
            continue;
        }
        std::uint32_t left = by_kind[k];
        picked[k] = std::min(left, free[k]);
        left -= picked[k];
        for (std::size_t type = 0; type < n_kinds_ && left > 0; ++type) {
            if (type != k && family_[type] == k) {
                const std::uint32_t more = std::min(left, free[type] - picked[type]);
                picked[type] += more;
                left -= more;
            }
        }
    }
    return picked;
}

void NodeBook::change_cores(const Holdings& holdings, bool takes) {
    const std::uint32_t row =
        holdings.partition == none ? none : row_of_partition_[holdings.partition];
    const std::uint64_t* held = holdings.cores.data();
    for (const Holding& holding : holdings.nodes) {
        std::uint64_t* free = cores_.data() + std::size_t{holding.node} * n_words_;
        std::uint32_t n = 0;
        for (std::size_t w = 0; w < n_words_; ++w) {
            free[w] ^= n_on_core_.empty() ? held[w] : 0;
            n += static_cast<std::uint32_t>(std::popcount(held[w]));
        }
        move(n_on_core_.empty() ? n : change_shared_cores(holding.node, {held, n_words_}, takes),
             takes, free_cores_[holding.node]);
        held += n_words_;
        if (row != none) {
            move(n, !takes, partition_cores_[row * n_cores_.size() + holding.node]);
        }
    }
}

// The number of cores that are no longer free, or are again.
std::uint32_t NodeBook::change_shared_cores(NodeIndex node, std::span<const std::uint64_t> held,
                                            bool takes) {
    std::uint32_t n = 0;
    for (std::size_t w = 0; w < held.size(); ++w) {
        for (std::uint64_t word = held[w]; word != 0; word &= word - 1) {
            const auto bit = static_cast<std::size_t>(std::countr_zero(word));
            const std::size_t at = std::size_t{node} * n_words_ + w;
            std::uint16_t& jobs = n_on_core_[at * 64 + bit];
            move<std::uint16_t>(1, !takes, jobs);
            if (jobs == (takes ? 1 : 0)) {
                cores_[at] ^= std::uint64_t{1} << bit;
                ++n;
            }
        }
    }
    return n;
}

void NodeBook::free_all_cores() {
    free_cores_ = n_cores_;
    std::ranges::fill(partition_cores_, 0);
    for (std::size_t i = 0; i < n_cores_.size(); ++i) {
        for (std::uint32_t core = 0; core < n_cores_[i]; ++core) {
            cores_[i * n_words_ + core / 64] |= std::uint64_t{1} << (core % 64);
        }
    }
}

void NodeBook::block_cores(const Holdings& holdings) {
    const std::uint32_t row =
        holdings.partition == none ? none : row_of_partition_[holdings.partition];
    const std::uint64_t* held = holdings.cores.data();
    for (const Holding& holding : holdings.nodes) {
        std::uint64_t* free = cores_.data() + std::size_t{holding.node} * n_words_;
        std::uint32_t n = 0;
        for (std::size_t w = 0; w < n_words_; ++w, ++held) {
            n += static_cast<std::uint32_t>(std::popcount(free[w] & *held));
            free[w] &= ~*held;
        }
        free_cores_[holding.node] -= n;
        if (row != none) {
            partition_cores_[row * n_cores_.size() + holding.node] += n;
        }
    }
}

void NodeBook::change(const Holdings& holdings, bool takes) {
    change_cores(holdings, takes);
    const std::uint32_t* gres = holdings.gres.data();
    for (const Holding& holding : holdings.nodes) {
        move(holding.memory_mb, takes, free_memory_[holding.node]);
        move(holding.memory_mb > 0 ? 1U : 0U, !takes, n_with_memory_[holding.node]);
        move(1U, !takes, n_jobs_[holding.node]);
        for (std::size_t k = 0; k < n_kinds_ && !holdings.gres.empty(); ++k, ++gres) {
            move(*gres, takes, free_gres_[holding.node * n_kinds_ + k]);
        }
        if (n_jobs_[holding.node] == 0) {
            idle_.add(holding.node);
        } else {
            idle_.remove(holding.node);
        }
    }
}

} // namespace noctule::slurm
