// Traces on a machine where nothing is shared, so that dates can be worked out by hand.
#include "errors.hpp"
#include "mpi/replay.hpp"
#include "tests/checks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

using namespace noctule;
using mpi::Rank;
using mpi::Replay;
using mpi::Trace;

namespace {

constexpr double bandwidth = 65552.0; // with its envelope, a message of 65536 bytes takes 2 seconds

// A flop takes a second; a message takes a second, and that of its bytes.
class LonelyMachine {
  public:
    double now() const { return now_; }
    ActivityId sleep(HostId, double seconds, Token token) { return add(seconds, token); }
    ActivityId execute(HostId, double flops, Token token) { return add(flops, token); }
    ActivityId send(HostId, HostId, double bytes, Token token) {
        ++n_messages;
        n_bytes += bytes;
        return add(1.0 + bytes / bandwidth, token);
    }
    void cancel(ActivityId activity) {
        std::erase_if(future_, [activity](const auto& one) { return one.second.id == activity; });
    }

    bool is_idle() const { return future_.empty(); }
    Token next() {
        const auto first = future_.begin();
        now_ = first->first.first;
        const Token token = first->second.token;
        future_.erase(first);
        return token;
    }

    std::size_t n_messages = 0;
    double n_bytes = 0.0;

  private:
    struct Activity {
        ActivityId id;
        Token token;
    };

    ActivityId add(double seconds, Token token) {
        future_.insert({{now_ + seconds, n_started_}, {n_started_, token}});
        return n_started_++;
    }

    double now_ = 0.0;
    ActivityId n_started_ = 0;
    std::map<std::pair<double, ActivityId>, Activity> future_;
};

std::shared_ptr<const Trace> trace_of(const std::vector<std::string>& texts) {
    std::vector<std::string> sources;
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
        sources.push_back("r" + std::to_string(rank));
    }
    return std::make_shared<const Trace>(Trace::parse({texts.begin(), texts.end()}, sources));
}

// All activities of a machine, to the end of a replay or until it is stuck.
void run(Replay& replay, LonelyMachine& machine, Token base = 0) {
    replay.start();
    while (!machine.is_idle()) {
        replay.on_end(machine.next() - base);
    }
}

std::vector<double> ends_of(const std::vector<std::string>& texts) {
    LonelyMachine machine;
    constexpr Token base = Token{7} << 32;
    Replay replay(machine, trace_of(texts), std::vector<HostId>(texts.size(), 0), base);
    run(replay, machine, base);
    std::vector<double> ends;
    for (Rank rank = 0; rank < texts.size(); ++rank) {
        ends.push_back(replay.rank_end(rank));
    }
    return ends;
}

bool are(const std::vector<double>& ends, const std::vector<double>& expected) {
    return std::equal(ends.begin(), ends.end(), expected.begin(), expected.end(),
                      [](double a, double b) { return std::abs(a - b) < 1e-12 * (1.0 + b); });
}

std::vector<std::string> all(std::size_t n_ranks, const std::string& text) {
    return std::vector<std::string>(n_ranks, text);
}

double seconds(double bytes) { return 1.0 + (bytes + 16.0) / bandwidth; }

void messages_take_both_sides() {
    // Senders of small messages do not wait, but the transfer does.
    CHECK(are(ends_of({"send 1 0 84", "compute 5\nrecv 0 0 84"}), {0.0, 5.0 + seconds(84)}));
    CHECK(are(ends_of({"send 1 0 65536", "compute 5\nrecv 0 0 65536"}), {7.0, 7.0}));
    CHECK(are(ends_of({"send 1 0 65535\ncompute 1", "recv 0 0 -1"}), {1.0, seconds(65535)}));
    // The receive of tag 2 takes the second message.
    CHECK(are(ends_of({"send 1 1 65536\nsend 1 2 65536", "irecv 0 2 65536\nirecv 0 1 65536\n"
                                                         "wait 0 1 1\ncompute 1\nwaitall"}),
              {4.0, 4.0}));
    // Of one tag, the first one sent is the first one received.
    CHECK(are(ends_of({"isend 1 0 65536\nisend 1 0 131088", "recv 0 0 65536\nrecv 0 0 131088"}),
              {5.0, 5.0}));
    CHECK(are(ends_of({"send 1 5 65536\nsend 1 6 65536", "recv 0 -444 65536\nrecv 0 6 65536"}),
              {4.0, 4.0}));
    CHECK(are(ends_of({"sendRecv 65536 1 65536 1\nsleep 1", "sendRecv 65536 0 65536 0"}),
              {3.0, 2.0}));
    CHECK(are(ends_of({"sendRecv 65536 0 65536 0\nsleep 1"}), {1.0}));
    // A rank ends when what it posted is through.
    CHECK(are(ends_of({"isend 1 0 65536", "sleep 3\nrecv 0 0 65536"}), {5.0, 5.0}));
}

void tests_cost_more_the_more_fail() {
    // 1e-4, then twice that, then a message that is there: then waits have nothing to wait for.
    CHECK(are(ends_of({"send 1 0 0", "irecv 0 0 0\ntest 0 1 0\ntest 0 1 0\nsleep 2\ntest 0 1 0\n"
                                     "wait 0 1 0"}),
              {0.0, 2.0006}));
    CHECK(are(ends_of({"test 0 1 0", ""}), {0.0, 0.0}));
}

void collectives_are_made_of_messages() {
    // To 4, to 2, to 1, one after the other; 2 sends to 3.
    CHECK(are(ends_of(all(5, "bcast 65536")), {6.0, 6.0, 6.0, 6.0, 2.0}));
    CHECK(are(ends_of(all(5, "bcast 65536 2")), {6.0, 2.0, 6.0, 6.0, 6.0}));
    CHECK(are(ends_of(all(4, "reduce 65536 3 1")), {5.0, 5.0, 5.0, 5.0}));
    CHECK(are(ends_of(all(2, "allreduce 65536 1")), {5.0, 5.0}));
    CHECK(are(ends_of(all(3, "barrier")), {seconds(0), 2 * seconds(0), 2 * seconds(0)}));
    CHECK(are(ends_of(all(3, "init 1\nalltoall 8192 8192")), {2.0, 2.0, 2.0}));
    // Pairwise: three exchanges, one after the other.
    const double long_one = seconds(600000);
    CHECK(are(ends_of(all(4, "alltoall 600000 600000")), std::vector(4, 3 * long_one)));
    CHECK(are(ends_of(all(3, "alltoall 600000 600000")), std::vector(3, 2 * long_one)));
    // Bruck: 8 blocks in each of four rounds.
    CHECK(are(ends_of(all(16, "alltoall 100 100")), std::vector(16, 4 * seconds(800))));
    CHECK(are(ends_of(all(3, "scan 65536 1")), {3.0, 3.0, 3.0}));
    CHECK(are(ends_of(all(3, "scatterv 0 65536 131088 131088 0")), {3.0, 2.0, 3.0}));
    CHECK(are(ends_of({"gatherv 1 1 65536 0", "gatherv 65536 1 65536 0"}), {2.0, 2.0}));
    CHECK(are(ends_of({"alltoallv 0 5 65536 0 5 1", "alltoallv 0 1 5 0 65536 5"}), {2.0, 2.0}));
    // Equal shares: 131072 bytes to rank 0, then half of them from it.
    CHECK(are(ends_of(all(2, "reducescatter 65536 65536 1")),
              {seconds(131072) + 3.0, seconds(131072) + 3.0}));
    CHECK(are(ends_of(all(2, "reducescatter 100 65536 0")), {2.0, 2.0}));
}

void collectives_end_for_any_number_of_ranks() {
    std::mt19937 random(1);
    for (std::size_t n = 1; n <= 40; ++n) {
        std::string counts;
        for (std::size_t i = 0; i < n; ++i) {
            counts += std::to_string(random() % 100000) + " ";
        }
        const std::string size = std::to_string(random() % 600000);
        const std::string root = std::to_string(random() % n);
        const std::string pair = size + " " + size;
        std::string text = "barrier\nbcast " + size + " " + root + "\nreduce " + size + " 1 " +
                           root + "\nallreduce " + size + " 1\nalltoall " + pair +
                           "\nalltoall 100 100\ngather " + pair + " " + root + "\nallgather " +
                           pair + "\nscatter " + pair + " " + root + "\nscan " + size +
                           " 1\nexscan " + size + " 1\nreducescatter " + counts + "1\n";
        LonelyMachine machine;
        Replay replay(machine, trace_of(all(n, text)), std::vector<HostId>(n, 0), 0);
        run(replay, machine);
        CHECK(replay.finished());
        CHECK(replay.stuck().empty());
        CHECK(replay.progress() == 1.0);
        CHECK(replay.take_ended_ranks().size() == n && replay.take_ended_ranks().empty());
    }
}

void every_byte_of_an_alltoall_is_sent_once() {
    for (const std::size_t n : {1U, 2U, 5U, 8U}) {
        LonelyMachine machine;
        Replay replay(machine, trace_of(all(n, "alltoall 1000 1000")), std::vector<HostId>(n, 0),
                      0);
        run(replay, machine);
        CHECK(machine.n_messages == n * (n - 1));
        CHECK(machine.n_bytes == 1016.0 * static_cast<double>(n * (n - 1)));
    }
}

void ranks_that_wait_for_ever_are_named() {
    LonelyMachine machine;
    const auto trace =
        trace_of({"init\nrecv 1 5 10", "bcast 10 2\n", "compute 1\nisend 0 3 65536\nwaitall"});
    Replay replay(machine, trace, {0, 1, 2}, 0);
    replay.start();
    CHECK(replay.stuck().empty()); // rank 2 computes
    while (!machine.is_idle()) {
        replay.on_end(machine.next());
    }
    CHECK(!replay.finished() && std::isnan(replay.rank_end(0)));
    CHECK(replay.stuck() == "rank 0 waits for a message of rank 1 with tag 5 (line 2 of r0); "
                            "rank 1 waits for a message of rank 2 in its bcast (line 1 of r1); "
                            "rank 2 waits for rank 0 to receive its message with tag 3 (line 2 of "
                            "r2)");
}

void a_cancelled_replay_leaves_nothing_behind() {
    LonelyMachine machine;
    const auto trace = trace_of({"compute 10", "irecv 3 0 9\nsleep 10",
                                 "irecv 3 0 70000\ntest 3 2 0", "send 1 0 9\nsend 2 0 70000"});
    Replay replay(machine, trace, {0, 0, 0, 0}, 0);
    replay.start();
    replay.cancel();
    CHECK(machine.is_idle());
    CHECK(!replay.finished() && replay.stuck().empty());
}

void messages_too_large_for_their_receiver_are_refused() {
    std::string said;
    try {
        ends_of({"init\nsend 1 0 2000", "recv 0 0 1000"});
    } catch (const InputError& error) {
        said = error.what();
    }
    CHECK(said == "r1:1: recv: got a message of 2000 bytes from rank 0 (r0:2), expected at most "
                  "1000 bytes");
}

} // namespace

void noctule::test_mpi() {
    messages_take_both_sides();
    tests_cost_more_the_more_fail();
    collectives_are_made_of_messages();
    collectives_end_for_any_number_of_ranks();
    every_byte_of_an_alltoall_is_sent_once();
    ranks_that_wait_for_ever_are_named();
    a_cancelled_replay_leaves_nothing_behind();
    messages_too_large_for_their_receiver_are_refused();
}
