#include "slurm/node_set.hpp"

#include <algorithm>

namespace noctule::slurm {

NodeSet::NodeSet(std::uint32_t n_nodes, bool full)
    : words_((n_nodes + std::size_t{63}) / 64, 0), n_nodes_(n_nodes) {
    if (full) {
        add(NodeRun{0, n_nodes});
    }
}

void NodeSet::add(NodeRun run) {
    while (run.size > 0) {
        const unsigned at = run.first % 64;
        const std::uint32_t n = std::min(run.size, 64 - at);
        words_[run.first / 64] |= (~std::uint64_t{0} >> (64 - n)) << at;
        run.first += n;
        run.size -= n;
    }
}

void NodeSet::clear() { std::ranges::fill(words_, 0); }

NodeSet& NodeSet::operator&=(const NodeSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) {
        words_[w] &= other.words_[w];
    }
    return *this;
}

NodeSet& NodeSet::operator|=(const NodeSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) {
        words_[w] |= other.words_[w];
    }
    return *this;
}

NodeSet& NodeSet::operator-=(const NodeSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) {
        words_[w] &= ~other.words_[w];
    }
    return *this;
}

std::uint32_t NodeSet::count() const {
    int n = 0;
    for (const std::uint64_t word : words_) {
        n += std::popcount(word);
    }
    return static_cast<std::uint32_t>(n);
}

std::uint32_t NodeSet::count_common(const NodeSet& other) const {
    int n = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
        n += std::popcount(words_[w] & other.words_[w]);
    }
    return static_cast<std::uint32_t>(n);
}

bool NodeSet::empty() const {
    return std::ranges::all_of(words_, [](std::uint64_t word) { return word == 0; });
}

bool NodeSet::contains(const NodeSet& other) const {
    std::uint64_t missing = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
        missing |= other.words_[w] & ~words_[w];
    }
    return missing == 0;
}

bool NodeSet::intersects(const NodeSet& other) const {
    std::uint64_t common = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
        common |= other.words_[w] & words_[w];
    }
    return common != 0;
}

bool NodeSet::offers_beyond(const NodeSet& one, const NodeSet& other, const NodeSet& among) const {
    std::uint64_t more = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
        more |= words_[w] & among.words_[w] & ~(one.words_[w] & other.words_[w]);
    }
    return more != 0;
}

void NodeSet::assign_common(const NodeSet& one, const NodeSet& other) {
    n_nodes_ = one.n_nodes_;
    words_.resize(one.words_.size());
    for (std::size_t w = 0; w < words_.size(); ++w) {
        words_[w] = one.words_[w] & other.words_[w];
    }
}

} // namespace noctule::slurm
