// Ranks that do again what a trace says they did, on a simulated machine.
//
// The rules are those of SimGrid's SMPI: a message starts when its sender and its receiver have
// both come, and takes its bytes and an envelope through the network; senders of small messages do
// not wait for that. A rank ends when it has done all its actions and what it posted is through.
#pragma once

#include "mpi/messages.hpp"

#include <memory>
#include <utility>

namespace noctule::mpi {

inline constexpr double envelope_bytes = 16.0;
inline constexpr double detached_below = 65536.0; // bytes: a sender does not wait for such messages
inline constexpr double test_seconds = 1e-4;      // of a test, times the tests that failed before

class Replay {
  public:
    // Rank r runs on host_of_rank[r]. Tokens of activities are parts added to `base`: one for each
    // rank, then one for each message that is on its way or waited for.
    template <typename Machine>
    Replay(Machine& machine, std::shared_ptr<const Trace> trace, std::vector<HostId> host_of_rank,
           Token base)
        : Replay(std::make_unique<ActivitiesOf<Machine>>(machine), std::move(trace),
                 std::move(host_of_rank), base) {}

    void start();

    // To be called for each of its activities that has ended, with its token less the base. Throws
    // InputError where a message is larger than what its receiver expects.
    void on_end(Token part);

    bool finished() const { return n_ended_ == ranks_.size(); }
    double rank_end(Rank rank) const { return ranks_[rank].end; } // not a number before it
    std::vector<Rank> take_ended_ranks(); // since the last call, in the order of their ends
    double progress() const;              // part of the actions that are done

    // Which ranks wait for what, where nothing of this replay is left to happen and some ranks have
    // not ended; else nothing.
    std::string stuck() const;

    // Cancels all its activities: no rank that has not ended will.
    void cancel();

  private:
    Replay(std::unique_ptr<Activities> activities, std::shared_ptr<const Trace> trace,
           std::vector<HostId> host_of_rank, Token base);

    enum class Wait : std::uint8_t { nothing, computing, sleeping, testing, steps, request, all };

    struct RequestKey {
        Rank from;
        Rank to;
        std::int32_t tag;
        bool operator==(const RequestKey&) const = default;
    };
    struct RequestHash {
        std::size_t operator()(const RequestKey& key) const;
    };
    struct Requests { // of one key, in the order of posting
        Party first;
        Party last;
    };
    struct Request {
        Party next = nobody;
        bool done = false;
        bool tested = false; // and found done
    };
    struct RankState {
        std::uint32_t at = 0; // among its actions
        Cursor cursor;        // in the action
        Wait wait = Wait::nothing;
        std::uint32_t n_steps_open = 0;    // messages posted by steps, not yet through
        std::uint32_t n_requests_open = 0; // messages posted by isend and irecv, not yet through
        Party awaited = nobody;            // request
        ActivityId activity = 0;           // where it computes, sleeps or tests
        double end = not_a_time;
        std::unordered_map<RequestKey, Requests, RequestHash> requests;
    };

    void advance(Rank rank);
    bool goes_on(Rank rank);
    bool end(Rank rank);
    void next_action(Rank rank);
    bool take_step(Rank rank, const Action& action);
    bool sleep(Rank rank, double seconds, Wait wait);
    bool test(Rank rank, const Action& action);
    void end_test(Rank rank);
    bool wait_for(Rank rank, const Action& action);
    bool wait_for_all(Rank rank);

    void post_request(Rank rank, const Action& action);
    void post_send(Rank from, Rank to, Tag tag, double bytes, Party sender, const Action& action);
    void post_receive(Rank from, Rank to, Tag tag, double capacity, Party receiver,
                      const Action& action);
    void transfer(MessageId id);
    void end_transfer(MessageId id);
    bool tell(Rank rank, Party party);

    Party new_request(RankState& state, const RequestKey& key);
    void pop_request(RankState& state, const RequestKey& key);
    void put_last(Requests& queue);

    Token token_of_message(MessageId id) const { return base_ + ranks_.size() + id; }
    std::string what_is_awaited(const Message& message) const;

    std::unique_ptr<Activities> activities_;
    std::shared_ptr<const Trace> trace_;
    std::vector<HostId> host_of_rank_;
    Token base_;
    std::vector<RankState> ranks_;
    Messages messages_;
    std::vector<Request> requests_;
    Party free_request_ = nobody; // list of free ones
    std::uint32_t test_factor_ = 1;
    std::size_t n_ended_ = 0;
    std::vector<Rank> newly_ended_;
    std::size_t n_done_ = 0;   // actions
    std::size_t n_active_ = 0; // activities
    bool cancelled_ = false;
};

} // namespace noctule::mpi
