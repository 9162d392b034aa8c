// Running jobs in the order of their expected ends, and what nodes each gives back.
#pragma once

#include "slurm/requests.hpp"

#include <algorithm>
#include <vector>

namespace noctule::slurm {

// A set of nodes that is small against all nodes: the words that are not empty.
class SparseNodes {
  public:
    explicit SparseNodes(const NodeSet& nodes) {
        const auto words = nodes.words();
        for (std::size_t w = 0; w < words.size(); ++w) {
            if (words[w] != 0) {
                parts_.push_back({static_cast<std::uint32_t>(w), words[w]});
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

    void add_to(NodeSet& nodes) const {
        for (const Part& part : parts_) {
            nodes.add_word(part.word, part.bits);
        }
    }

  private:
    struct Part {
        std::uint32_t word;
        std::uint64_t bits;
    };
    std::vector<Part> parts_;
};

// At equal ends in the order of submission, which is that of jobs.
class ExpectedEnds {
  public:
    struct Entry {
        Seconds end;
        JobIndex job;
        const SparseNodes* nodes;
    };

    void add(const Entry& entry) { entries_.insert(place(entry.end, entry.job), entry); }
    void remove(Seconds end, JobIndex job) { entries_.erase(place(end, job)); }
    const std::vector<Entry>& entries() const { return entries_; }

  private:
    std::vector<Entry>::iterator place(Seconds end, JobIndex job) {
        return std::ranges::lower_bound(entries_, std::pair(end, job), {}, [](const Entry& entry) {
            return std::pair(entry.end, entry.job);
        });
    }

    std::vector<Entry> entries_;
};

} // namespace noctule::slurm
