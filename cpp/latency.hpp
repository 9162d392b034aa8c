// Batsim's own latency: what its parts tell each other travels over the simulated network.
//
// A server on the master host takes letters of one byte, one after the other. Whoever sends one
// waits until it has arrived. The scheduler is asked when it is ready, there is something to tell
// and no letter waits.
#pragma once

#include "decision.hpp"
#include "machine.hpp"

#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace noctule {

struct Letter {
    enum class Kind : std::uint8_t {
        hello,       // of a submitter
        submissions, // of it, up to one of them
        arrival,     // a job whose date followed from what happened
        bye,         // the subject is 1 if external events were submitted, 0 if jobs were
        instruction, // of the scheduler: the first of the script
        ready,       // all instructions are given
        ended,       // a job, by itself or at its walltime
        killed,
        message, // of a job
        call,
        switched // a host
    };
    Kind kind;
    HostId from;
    std::uint32_t subject = 0; // a job, a message, a call, a host, or a group of jobs killed
    std::uint32_t sender = 0;  // which submitter
};

class Courier {
  public:
    Courier(Machine& machine, HostId master) : machine_(machine), master_(master) {}

    // Activities whose tokens are from this one on belong to it and to those who sleep beside it.
    static constexpr Token first_token = Token{3} << 62;
    enum class Alarm : std::uint8_t { arrival, scheduler, submitter, call };
    static bool owns(Token token) { return token >= first_token; }
    static Alarm alarm(Token token) { return static_cast<Alarm>(token & 3); }
    static std::uint32_t sleeper(Token token) { return static_cast<std::uint32_t>(token >> 2); }

    HostId master() const { return master_; }
    void post(const Letter& letter);
    // Takes the letter that has arrived, and sends the next one.
    Letter take();
    bool has_waiting() const { return !waiting_.empty(); }
    bool is_idle() const { return waiting_.empty() && !is_busy_; }
    // Wakes whoever it is at a date: which submitter, or which call.
    void sleep_until(double date, Alarm who, std::uint32_t sleeper = 0);

  private:
    void send_next();

    Machine& machine_;
    HostId master_;
    std::deque<Letter> waiting_;
    Letter travelling_{};
    bool is_busy_ = false;
};

// What the scheduler has told to do, by a letter each.
struct Instruction {
    enum class Kind : std::uint8_t {
        wait,  // for the date, without a letter
        begin, // a job, whose hosts were chosen before
        decision
    };
    Kind kind;
    double date;
    Decision decision = {.kind = Decision::Kind::nothing};
    JobIndex job = no_job; // to begin
};

// Who submits jobs or external events, in the order of their dates.
struct Submitter {
    bool of_events;
    std::vector<double> dates;
    std::vector<std::uint32_t> subjects;
    std::size_t n_taken_up = 0;
    std::size_t n_arrived = 0;
    double previous = 0.0; // date at which it took something up
    bool says_bye = false;
};

struct Latency {
    // How a job has ended that the server has not been told of.
    struct End {
        double date;
        double joules;
    };

    Latency(Machine& machine, HostId master) : courier(machine, master) {}

    Courier courier;
    bool is_ready = false;      // the scheduler
    bool has_news = false;      // for it, besides events
    bool must_ask = false;      // it, now
    bool is_delivering = false; // an instruction, which takes effect at once
    std::vector<Submitter> submitters;
    std::size_t n_job_submitters = 0; // that have not said goodbye
    std::size_t n_event_submitters = 0;
    std::vector<bool> arrived; // jobs whose dates have come
    std::deque<Instruction> script;
    std::map<JobIndex, End> ends;
    // What is still to be done once all that ends at this instant has been heard of: the sender of
    // a letter that has arrived goes on, then new letters are posted.
    std::optional<Letter> received;
    std::vector<Letter> spawned;
};

} // namespace noctule
