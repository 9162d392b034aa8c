// What jobs do once started, as trees: programs are made of programs.
#pragma once

#include "types.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace noctule {

namespace mpi {
class Trace; // mpi/trace.hpp
}

using ProgramIndex = std::uint32_t;
inline constexpr ProgramIndex no_program = std::numeric_limits<ProgramIndex>::max();

struct Wait {
    double seconds;
};

// Work on every executor, in the unit of the workload's computations (Options::reference_speed).
struct Computation {
    double work;
    bool spread = false; // a total over the executors
};

// All parts progress at one rate. Row i of the bytes is what executor i sends.
struct ParallelTask {
    std::vector<double> flops; // one a host: as many as there are executors
    std::vector<double> bytes; // empty, or the square of that
};

// What the amounts of a homogeneous task are of.
enum class Amounts : std::uint8_t {
    each,         // flops of each executor, bytes of each pair
    spread,       // totals: flops / n, bytes / (n * n - n)
    spread_flops, // flops / n, bytes / n for each pair: how Batsim 4 reads a total
};

struct HomogeneousTask {
    double flops;
    double bytes;
    Amounts amounts = Amounts::each;
};

// Each executor reads from a storage and writes to it.
struct StorageTransfer {
    double read_bytes;
    double written_bytes;
    std::string storage; // a label
    bool spread = false; // the amounts are totals over the executors
};

struct Staging {
    double bytes;
    std::string from; // labels
    std::string to;
};

struct Sequence {
    std::vector<ProgramIndex> parts;
    std::uint32_t repeat = 1;
};

// Tells the policy something, and waits.
struct Send {
    std::string message; // JSON
    double seconds;
};

// Waits for a message of the policy, and goes on as it says.
struct Receive {
    std::string pattern; // a regular expression
    ProgramIndex success = no_program;
    ProgramIndex failure = no_program;
    ProgramIndex timeout = no_program; // done at once if there is no message
    double poll_seconds;
};

// Each rank computes on some of the cores of its host, one usage after the other.
struct Usage {
    double share; // of the cores
    double flops; // on each core
};
struct UsageTrace {
    std::vector<std::vector<Usage>> ranks;
};

struct MpiTrace {
    std::shared_ptr<const mpi::Trace> trace;
};

using Action = std::variant<Wait, Computation, ParallelTask, HomogeneousTask, StorageTransfer,
                            Staging, Sequence, Send, Receive, UsageTrace, MpiTrace>;

struct Program {
    std::string name; // of the profile
    Action action;
    int return_code = 0;
};

// Parts of a program come before it. Programs never change nor move, so that a reference to one
// outlives growth, and a copy of a table shares them.
class ProgramTable {
  public:
    ProgramIndex add(Program program); // throws InputError if a part is not there yet
    const Program& operator[](ProgramIndex program) const { return *programs_[program]; }
    std::size_t size() const { return programs_.size(); }

  private:
    std::vector<std::shared_ptr<const Program>> programs_;
};

// Throws InputError unless the text is a regular expression of ECMAScript, of a sane length.
void check_pattern(const std::string& pattern);

} // namespace noctule
