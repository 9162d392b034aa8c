// A set of nodes as a plain bitmap, the currency of scheduling passes: all sets of a run have the
// same number of words, so combining two of them is a loop without branches.
#pragma once

#include "host_set.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace noctule::slurm {

using NodeIndex = std::uint32_t;

// Members of a word: without an instruction for it, which not all processors have, the library
// would call a function.
constexpr std::uint32_t count_bits(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return static_cast<std::uint32_t>(word * 0x0101010101010101 >> 56);
}

// Neighbouring nodes.
struct NodeRun {
    NodeIndex first;
    std::uint32_t size;

    bool operator==(const NodeRun&) const = default;
};

class NodeSet {
  public:
    NodeSet() = default; // of no nodes at all
    explicit NodeSet(std::uint32_t n_nodes, bool full = false);

    std::uint32_t n_nodes() const { return n_nodes_; }
    bool contains(NodeIndex node) const { return (words_[node / 64] >> (node % 64) & 1) != 0; }
    void add(NodeIndex node) { words_[node / 64] |= std::uint64_t{1} << (node % 64); }
    void add(NodeRun run);
    void remove(NodeIndex node) { words_[node / 64] &= ~(std::uint64_t{1} << (node % 64)); }
    void add_word(std::size_t word, std::uint64_t bits) { words_[word] |= bits; }
    void remove_word(std::size_t word, std::uint64_t bits) { words_[word] &= ~bits; }
    void clear();

    // Both sets must have the same number of nodes.
    NodeSet& operator&=(const NodeSet& other);
    NodeSet& operator|=(const NodeSet& other);
    NodeSet& operator-=(const NodeSet& other);
    bool operator==(const NodeSet&) const = default;

    std::uint32_t count() const;
    std::uint32_t count_common(const NodeSet& other) const;
    bool empty() const;
    bool contains(const NodeSet& other) const;
    bool intersects(const NodeSet& other) const;
    // Whether it has a node of `among` that the other has not.
    bool offers_beyond(const NodeSet& other, const NodeSet& among) const;
    // How many nodes the set has together with those common to two others.
    std::uint32_t count_with_common(const NodeSet& one, const NodeSet& other) const;

    // Becomes the common nodes of two sets, without a copy.
    void assign_common(const NodeSet& one, const NodeSet& other);

    // Calls visit(NodeIndex) in ascending order.
    template <typename Visit> void for_each(Visit&& visit) const {
        for (std::size_t w = 0; w < words_.size(); ++w) {
            for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
                visit(static_cast<NodeIndex>(w * 64) +
                      static_cast<NodeIndex>(std::countr_zero(word)));
            }
        }
    }

    // Calls visit(NodeRun) for each maximal run of neighbours, lowest first.
    template <typename Visit> void for_each_run(Visit&& visit) const;

    std::span<const std::uint64_t> words() const { return words_; }

  private:
    std::vector<std::uint64_t> words_;
    std::uint32_t n_nodes_ = 0;
};

inline NodeSet operator&(NodeSet one, const NodeSet& other) { return one &= other; }
inline NodeSet operator|(NodeSet one, const NodeSet& other) { return one |= other; }
inline NodeSet operator-(NodeSet one, const NodeSet& other) { return one -= other; }

template <typename Visit> void NodeSet::for_each_run(Visit&& visit) const {
    NodeRun open{0, 0};
    for (std::size_t w = 0; w < words_.size(); ++w) {
        std::uint64_t word = words_[w];
        const auto base = static_cast<NodeIndex>(w * 64);
        unsigned at = 0;
        while (at < 64) {
            const auto gap = static_cast<unsigned>(std::countr_zero(word >> at));
            if (gap > 0) {
                if (open.size > 0) {
                    visit(open);
                    open.size = 0;
                }
                if (gap >= 64 - at) {
                    break;
                }
                at += gap;
            }
            auto length = static_cast<unsigned>(std::countr_one(word >> at));
            length = length < 64 - at ? length : 64 - at;
            if (open.size == 0) {
                open.first = base + at;
            }
            open.size += length;
            at += length;
        }
    }
    if (open.size > 0) {
        visit(open);
    }
}

} // namespace noctule::slurm
