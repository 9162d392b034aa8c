// What the ranks of a parallel program did: SimGrid's time-independent traces, read once.
//
// Amounts of data are in bytes here: counts of elements are multiplied when a trace is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace noctule::mpi {

using Rank = std::uint32_t;

enum class ActionKind : std::uint8_t {
    compute,
    sleep,
    send,
    isend,
    receive,
    ireceive,
    send_receive,
    wait,
    wait_all,
    test,
    barrier,
    broadcast,
    reduce,
    allreduce,
    alltoall,
    alltoallv,
    gather,
    gatherv,
    allgather,
    allgatherv,
    scatter,
    scatterv,
    reduce_scatter,
    scan,
    exscan,
};

inline constexpr std::int32_t any_tag = -444; // as SimGrid writes it

struct Action {
    double amount = 0.0;     // flops, seconds, bytes sent; all elements of a reduce_scatter
    double second = 0.0;     // bytes that can be received, or flops after a reduction
    Rank peer = 0;           // or the root of a collective, or the sender of an awaited message
    Rank other = 0;          // whom a send_receive receives from, the receiver of an awaited one
    std::int32_t tag = 0;    // of a message
    std::uint32_t line = 0;  // of the text, from 1
    std::uint32_t first = 0; // of its counts
    ActionKind kind = ActionKind::compute;
    bool equal_counts = false; // of a reduce_scatter
};

std::string_view name_of(ActionKind kind);

class Trace {
  public:
    // One text a rank, or one text with the lines of all ranks. A line is an action, after the
    // number of its rank or not; lines of other ranks than the text's are passed over. Throws
    // InputError with the source, the line, what was found and what was expected.
    static Trace parse(const std::vector<std::string_view>& texts,
                       std::vector<std::string> sources);

    Rank n_ranks() const { return static_cast<Rank>(actions_.size()); }
    std::size_t n_actions() const { return n_actions_; }
    bool has_any_tag() const { return has_any_tag_; }

    std::span<const Action> actions(Rank rank) const { return actions_[rank]; }

    // One number a rank: bytes sent to each by scatterv and alltoallv, received from each by
    // gatherv and allgatherv, reduced for each by reduce_scatter.
    std::span<const double> counts(const Action& action) const {
        return std::span(counts_).subspan(action.first, n_ranks());
    }
    // Of an alltoallv: what can be received from each rank.
    std::span<const double> second_counts(const Action& action) const {
        return std::span(counts_).subspan(action.first + n_ranks(), n_ranks());
    }

    const std::string& source(Rank rank) const {
        return sources_.size() == 1 ? sources_.front() : sources_[rank];
    }
    // "source:line", as errors begin.
    std::string place(Rank rank, const Action& action) const;

  private:
    friend class TraceReader;

    std::vector<std::vector<Action>> actions_; // by rank
    std::vector<double> counts_;
    std::vector<std::string> sources_; // one for each text
    std::size_t n_actions_ = 0;
    bool has_any_tag_ = false;
};

} // namespace noctule::mpi
