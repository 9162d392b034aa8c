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
#include <vector>

namespace noctule {

struct Letter {
    enum class Kind : std::uint8_t {
        hello,       // of the submitter
        submissions, // up to a job
        bye,
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
    std::uint32_t subject = 0; // a job, a message, a call or a host; of jobs killed, their number
};

class Courier {
  public:
    Courier(Machine& machine, HostId master) : machine_(machine), master_(master) {}

    // Activities whose tokens are from this one on belong to it and to those who sleep beside it.
    static constexpr Token first_token = Token{3} << 62;
    enum class Alarm : std::uint8_t { arrival, scheduler, submitter };
    static bool owns(Token token) { return token >= first_token; }
    static Alarm alarm(Token token) { return static_cast<Alarm>(token & 3); }

    HostId master() const { return master_; }
    void post(const Letter& letter);
    // Takes the letter that has arrived, and sends the next one.
    Letter take();
    bool has_waiting() const { return !waiting_.empty(); }
    bool is_idle() const { return waiting_.empty() && !is_busy_; }
    void sleep_until(double date, Alarm who);

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
        nothing,  // but the letter
        question, // which Batsim answers
        wait,     // for the date, without a letter
        decision,
        begin,
        call,
        submit
    };
    Kind kind;
    double date;
    Decision decision = {.kind = Decision::Kind::kill};
    JobIndex job = no_job;           // to begin or to submit
    std::vector<JobIndex> also = {}; // jobs killed by the same letter
    double time = 0.0;               // of a call
    std::uint32_t tag = 0;           // of a call
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
    double previous = 0.0;      // date at which the submitter took up a job
    JobIndex next_announced = 0;
    bool says_bye = false;
    std::deque<Instruction> script;
    std::map<JobIndex, End> ends;
    std::vector<std::vector<JobIndex>> kills; // by the letters that tell of them
    std::vector<Letter> spawned;              // to be posted after the sender of this one
};

} // namespace noctule
