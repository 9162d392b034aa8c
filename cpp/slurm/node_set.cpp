#include "slurm/node_set.hpp"

#include <algorithm>

namespace noctule::slurm {

namespace {

// Counts by bytes, which have room for some words before they must be added up.
template <typename WordAt> std::uint32_t sum_of_bits(std::size_t n_words, WordAt word_at) {
    constexpr std::size_t room = 31;
    std::uint64_t sum = 0;
    for (std::size_t first = 0; first < n_words; first += room) {
        const std::size_t last = std::min(first + room, n_words);
        std::uint64_t bytes = 0;
        for (std::size_t w = first; w < last; ++w) {
            std::uint64_t word = word_at(w);
            word -= word >> 1 & 0x5555555555555555;
            word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
            bytes += (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
        }
        const std::uint64_t pairs =
            (bytes & 0x00ff00ff00ff00ff) + (bytes >> 8 & 0x00ff00ff00ff00ff);
        sum += pairs * 0x0001000100010001 >> 48;
    }
    return static_cast<std::uint32_t>(sum);
}

} // namespace

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
    return sum_of_bits(words_.size(), [&](std::size_t w) { return words_[w]; });
}

std::uint32_t NodeSet::count_common(const NodeSet& other) const {
    return sum_of_bits(words_.size(), [&](std::size_t w) { return words_[w] & other.words_[w]; });
}

std::uint32_t NodeSet::count_with_common(const NodeSet& one, const NodeSet& other) const {
    return sum_of_bits(words_.size(), [&](std::size_t w) {
        return words_[w] | (one.words_[w] & other.words_[w]);
    });
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

bool NodeSet::offers_beyond(const NodeSet& other, const NodeSet& among) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
        if ((words_[w] & among.words_[w] & ~other.words_[w]) != 0) {
            return true;
        }
    }
    return false;
}

void NodeSet::assign_common(const NodeSet& one, const NodeSet& other) {
    n_nodes_ = one.n_nodes_;
    words_.resize(one.words_.size());
    for (std::size_t w = 0; w < words_.size(); ++w) {
        words_[w] = one.words_[w] & other.words_[w];
    }
}

} // namespace noctule::slurm
