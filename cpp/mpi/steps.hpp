// What an action of a trace asks of its rank, one step after the other.
//
// Collectives are made of messages, by the algorithms that SimGrid takes by default. Steps are
// worked out when they are asked for: a collective among n ranks takes no memory.
#pragma once

#include "mpi/trace.hpp"

#include <optional>

namespace noctule::mpi {

// Tags of traces are 32-bit integers; those of collectives are above them.
using Tag = std::int64_t;

enum class StepKind : std::uint8_t {
    send,    // posts a message
    receive, // is ready for a message
    wait,    // until all that was posted by the steps of this action is through
    compute,
};

struct Step {
    StepKind kind = StepKind::wait;
    Rank peer = 0;
    Tag tag = 0;
    double amount = 0.0; // bytes, or flops
};

// How far a rank is in its action.
struct Cursor {
    std::uint32_t part = 0;
    std::uint32_t at = 0; // in the part
};

// The step that follows, or none where the action is over. For all actions but isend, irecv, wait,
// waitall, test and sleep, which are not made of steps.
std::optional<Step> next_step(const Trace& trace, Rank rank, const Action& action, Cursor& cursor);

enum class Alltoall : std::uint8_t { linear, pairwise, bruck };

// Open MPI's choice for so many bytes from each rank to each other.
Alltoall alltoall_algorithm(Rank n_ranks, double bytes);

} // namespace noctule::mpi
