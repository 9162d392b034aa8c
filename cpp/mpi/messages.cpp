#include "mpi/messages.hpp"

namespace noctule::mpi {
namespace {

constexpr std::uint64_t pair_of(Rank from, Rank to) {
    return (static_cast<std::uint64_t>(from) << 32) | to;
}

constexpr std::uint64_t mixed(std::uint64_t value) {
    value ^= value >> 31;
    value *= 0x9e3779b97f4a7c15;
    value ^= value >> 29;
    value *= 0xbf58476d1ce4e5b9;
    return value ^ (value >> 32);
}

} // namespace

std::size_t Messages::KeyHash::operator()(const Key& key) const {
    return mixed(mixed(pair_of(key.from, key.to)) + static_cast<std::uint64_t>(key.tag));
}

MessageId Messages::post_send(Rank from, Rank to, Tag tag) {
    const Key key{from, to, tag};
    MessageId found = first_of(key, false);
    Key found_key = key;
    if (in_pairs(tag)) {
        const Key any{from, to, any_tag};
        const MessageId of_any = first_of(any, false);
        if (of_any != no_message &&
            (found == no_message || messages_[of_any].number < messages_[found].number)) {
            found = of_any;
            found_key = any;
        }
    }
    return found == no_message ? create(key, true) : take(found_key);
}

MessageId Messages::post_receive(Rank from, Rank to, Tag tag) {
    const Key key{from, to, tag};
    if (first_of(key, true) != no_message) {
        return take(key);
    }
    if (tag == any_tag) {
        const auto pair = sent_between_.find(pair_of(from, to));
        if (pair != sent_between_.end()) {
            // The first one between the two is the first one of its tag, too.
            return take({from, to, messages_[pair->second.first].tag});
        }
    }
    return create(key, false);
}

void Messages::remove(MessageId id) {
    messages_[id] = {};
    messages_[id].next = free_;
    free_ = id;
}

void Messages::clear() {
    messages_.clear();
    waiting_.clear();
    sent_between_.clear();
    free_ = no_message;
}

MessageId Messages::create(const Key& key, bool sent) {
    MessageId id = free_;
    if (id == no_message) {
        id = static_cast<MessageId>(messages_.size());
        messages_.emplace_back();
    } else {
        free_ = messages_[id].next;
    }
    Message& message = messages_[id];
    message = {};
    message.from = key.from;
    message.to = key.to;
    message.tag = key.tag;
    message.number = ++n_posted_;
    const auto [queue, is_new] = waiting_.try_emplace(key, Queue{id, id, sent});
    if (!is_new) {
        messages_[queue->second.last].next = id;
        queue->second.last = id;
    }
    if (sent && in_pairs(key.tag)) {
        join_pair(id);
    }
    return id;
}

MessageId Messages::first_of(const Key& key, bool sent) const {
    const auto queue = waiting_.find(key);
    return queue != waiting_.end() && queue->second.sent == sent ? queue->second.first : no_message;
}

MessageId Messages::take(const Key& key) {
    const auto queue = waiting_.find(key);
    const MessageId id = queue->second.first;
    if (queue->second.sent && in_pairs(key.tag)) {
        leave_pair(id);
    }
    queue->second.first = messages_[id].next;
    if (queue->second.first == no_message) {
        waiting_.erase(queue);
    }
    messages_[id].next = no_message;
    return id;
}

// Whether a receive of any tag may take it.
bool Messages::in_pairs(Tag tag) const {
    return any_tags_ && tag >= 0 && tag <= std::numeric_limits<std::int32_t>::max();
}

void Messages::join_pair(MessageId id) {
    Message& message = messages_[id];
    const auto [ends, is_new] =
        sent_between_.try_emplace(pair_of(message.from, message.to), id, id);
    if (!is_new) {
        message.pair_before = ends->second.second;
        messages_[message.pair_before].pair_next = id;
        ends->second.second = id;
    }
}

void Messages::leave_pair(MessageId id) {
    Message& message = messages_[id];
    const auto pair = sent_between_.find(pair_of(message.from, message.to));
    auto& [first, last] = pair->second;
    (message.pair_before == no_message ? first : messages_[message.pair_before].pair_next) =
        message.pair_next;
    (message.pair_next == no_message ? last : messages_[message.pair_next].pair_before) =
        message.pair_before;
    if (first == no_message) {
        sent_between_.erase(pair);
    }
    message.pair_next = message.pair_before = no_message;
}

} // namespace noctule::mpi
