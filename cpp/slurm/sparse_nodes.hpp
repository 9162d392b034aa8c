// A set of nodes that is small against all nodes: the words of its bitmap that are not empty.
#pragma once

#include "slurm/node_set.hpp"

#include <algorithm>
#include <vector>

namespace noctule::slurm {

class SparseNodes {
  public:
    struct Part {
        std::uint32_t word;
        std::uint32_t count;
        std::uint64_t bits;
    };

    SparseNodes() = default;
    explicit SparseNodes(const NodeSet& nodes) { assign(nodes); }

    void assign(const NodeSet& nodes) {
        parts_.clear();
        const auto words = nodes.words();
        for (std::size_t w = 0; w < words.size(); ++w) {
            if (words[w] != 0) {
                parts_.push_back({static_cast<std::uint32_t>(w), count_bits(words[w]), words[w]});
            }
        }
    }

    std::uint32_t count_common(const NodeSet& other) const {
        std::uint32_t n = 0;
        for (const Part& part : parts_) {
            n += count_bits(part.bits & other.words()[part.word]);
        }
        return n;
    }

    bool are_in(const NodeSet& other) const {
        return std::ranges::all_of(
            parts_, [&](const Part& part) { return (part.bits & ~other.words()[part.word]) == 0; });
    }

    void add_to(NodeSet& nodes) const {
        for (const Part& part : parts_) {
            nodes.add_word(part.word, part.bits);
        }
    }

    const std::vector<Part>& parts() const { return parts_; }

  private:
    std::vector<Part> parts_;
};

} // namespace noctule::slurm
