// Messages that were posted by their sender or their receiver, until both have come.
//
// A message meets the first receive with its sender, its receiver and its tag, and the other way
// round, in the order in which they were posted.
#pragma once

#include "mpi/activities.hpp"
#include "mpi/steps.hpp"

#include <unordered_map>

namespace noctule::mpi {

using MessageId = std::uint32_t;
inline constexpr MessageId no_message = std::numeric_limits<MessageId>::max();

// Who is told of the end of a message: a request of its rank, by its number, or one of these.
using Party = std::uint32_t;
inline constexpr Party nobody = std::numeric_limits<Party>::max();
inline constexpr Party rank_itself = nobody - 1;

struct Message {
    Rank from = 0;
    Rank to = 0;
    Tag tag = 0;
    double bytes = 0.0;
    double capacity = 0.0;            // of the receiver
    const Action* sent_by = nullptr;  // none: the sender has not come
    const Action* taken_by = nullptr; // none: the receiver has not come
    Party sender = nobody;
    Party receiver = nobody;
    ActivityId activity = 0;          // where both have come
    std::uint64_t number = 0;         // in the order of posting
    MessageId next = no_message;      // of its queue
    MessageId pair_next = no_message; // of the sent ones between two ranks
    MessageId pair_before = no_message;

    bool waits() const { return sent_by == nullptr || taken_by == nullptr; }
};

class Messages {
  public:
    // Whether receives of any tag are to be expected; they cost a little.
    explicit Messages(bool any_tags) : any_tags_(any_tags) {}

    // A message that waits for this side, and now waits no more, or a new one that waits.
    MessageId post_send(Rank from, Rank to, Tag tag);
    MessageId post_receive(Rank from, Rank to, Tag tag);

    Message& operator[](MessageId id) { return messages_[id]; }
    const Message& operator[](MessageId id) const { return messages_[id]; }

    void remove(MessageId id); // one that does not wait
    void clear();

    // All ids ever used, some of which are free.
    MessageId n_ids() const { return static_cast<MessageId>(messages_.size()); }
    bool in_use(MessageId id) const { return messages_[id].number != 0; }

  private:
    struct Key {
        Rank from;
        Rank to;
        Tag tag;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    struct Queue { // of messages that all wait for the same side
        MessageId first;
        MessageId last;
        bool sent;
    };
    using Queues = std::unordered_map<Key, Queue, KeyHash>;

    MessageId create(const Key& key, bool sent);
    MessageId first_of(const Key& key, bool sent) const;
    MessageId take(const Key& key);
    void join_pair(MessageId id);
    void leave_pair(MessageId id);
    bool in_pairs(Tag tag) const;

    bool any_tags_;
    std::vector<Message> messages_;
    MessageId free_ = no_message; // list of free ids
    std::uint64_t n_posted_ = 0;
    Queues waiting_;
    std::unordered_map<std::uint64_t, std::pair<MessageId, MessageId>> sent_between_;
};

} // namespace noctule::mpi
