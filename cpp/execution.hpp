// Programs of running jobs on a machine: their steps become activities, one after the other.
#pragma once

#include "machine.hpp"
#include "program.hpp"

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace noctule {

namespace mpi {
class Replay;
}

// Where a job runs.
struct Placement {
    std::vector<HostId> executors;            // a host may come several times
    std::vector<HostId> ranks{};              // of traces, by rank; empty: executors in turn
    std::map<std::string, HostId> storages{}; // by label
};

// How a program ended.
struct ProgramEnd {
    enum class How : std::uint8_t { done, host_failed, out_of_time };
    JobIndex job;
    How how;
    int return_code;
};

// What a program tells its scheduler.
struct JobMessage {
    JobIndex job;
    std::string text;
};

// How far a program has come; its levels from the outermost to the innermost.
struct ProgressLevel {
    std::string profile;
    std::int64_t part; // of a sequence, counted over all repetitions; -1 if nobody can tell
    double done;       // of the innermost level: from 0 to 1
};
using Progress = std::vector<ProgressLevel>;

struct ExecutionOptions {
    double reference_speed = 1.0; // what a unit of a computation's work stands for
    // Each rank of a trace reports its end to the first one, by a message, as in Batsim 4.
    bool report_ranks = false;
    // A program that tells something waits until somebody says that this has arrived.
    bool messages_travel = false;
};

class Execution {
  public:
    Execution(Machine& machine, std::vector<HostId> storages, ExecutionOptions options);
    ~Execution();

    // Begins a program now; it must end before `limit`. Throws InputError if it cannot run there.
    void start(JobIndex job, const ProgramTable& programs, ProgramIndex program,
               Placement placement, double limit);
    // The same for a program without parts.
    void start(JobIndex job, Program program, Placement placement, double limit);
    void stop(JobIndex job);
    // Lets what a program does now go on until it is stopped, but nothing follow; traces stop.
    void abandon(JobIndex job);
    bool is_running(JobIndex job) const { return runs_.contains(job); }
    Progress progress(JobIndex job) const;

    // Puts a message into the inbox of a job.
    void deliver(JobIndex job, std::string message);

    // Goes on with the programs whose activities have ended; tells which programs have.
    std::span<const ProgramEnd> proceed(std::span<const Ended> ended);
    // What programs have told since the last call.
    std::vector<JobMessage> take_messages();
    // What a job has told has arrived.
    void go_on_after_message(JobIndex job);

    // Whether a token belongs to a program.
    static bool owns(Token token) { return (token & foreign) == 0; }
    static constexpr Token foreign = Token{1} << 63;

    // Why running programs do not go on, if there are some that wait for themselves.
    std::string stuck() const;

  private:
    struct Frame {
        const Program* program;
        std::uint32_t part = 0; // next one to begin
        std::uint32_t repetition = 0;
    };
    struct Run;

    void start(std::unique_ptr<Run> run, const Program& program);
    void begin(Run& run);
    void proceed(Run& run, const Ended& ended);
    void go_on(Run& run);
    void settle(Run& run, bool at_start);
    void leave_part(Run& run, int code);
    void end(Run& run, ProgramEnd::How how, int code);

    // Each begins an action of the innermost frame.
    void act(Run& run, const Wait& wait);
    void act(Run& run, const Computation& computation);
    void act(Run& run, const ParallelTask& task);
    void act(Run& run, const HomogeneousTask& task);
    void act(Run& run, const StorageTransfer& transfer);
    void act(Run& run, const Staging& staging);
    void act(Run& run, const Sequence& sequence);
    void act(Run& run, const Send& send);
    void act(Run& run, const Receive& receive);
    void act(Run& run, const UsageTrace& trace);
    void act(Run& run, const MpiTrace& trace);

    void sleep(Run& run, double seconds);
    void await(Run& run, ActivityId activity);
    void receive(Run& run);
    void use_cores(Run& run, const UsageTrace& trace, std::size_t rank);
    void report_ranks(Run& run);
    void report_rank(Run& run, std::size_t rank);
    void send_report(Run& run);
    void end_report(Run& run);
    void end_rank(Run& run);
    HostId storage_of(const Run& run, const std::string& label) const;
    static HostId host_of_rank(const Run& run, std::size_t rank);

    Machine& machine_;
    std::vector<HostId> storages_;
    ExecutionOptions options_;
    std::map<JobIndex, std::unique_ptr<Run>> runs_;
    std::vector<ProgramEnd> ends_;
    std::vector<JobMessage> messages_;
};

} // namespace noctule
