#include "mpi/replay.hpp"

#include "errors.hpp"

#include <algorithm>

namespace noctule::mpi {

Replay::Replay(std::unique_ptr<Activities> activities, std::shared_ptr<const Trace> trace,
               std::vector<HostId> host_of_rank, Token base)
    : activities_(std::move(activities)), trace_(std::move(trace)),
      host_of_rank_(std::move(host_of_rank)), base_(base), ranks_(trace_->n_ranks()),
      messages_(trace_->has_any_tag()) {
    if (host_of_rank_.size() != ranks_.size()) {
        throw InputError(trace_->source(0) + ": got hosts for " +
                         std::to_string(host_of_rank_.size()) +
                         " ranks, expected one for each of " + std::to_string(ranks_.size()));
    }
}

std::size_t Replay::RequestHash::operator()(const RequestKey& key) const {
    const std::uint64_t pair = (static_cast<std::uint64_t>(key.from) << 32) | key.to;
    const std::uint64_t value =
        (pair ^ (pair >> 29)) * 0x9e3779b97f4a7c15 + static_cast<std::uint32_t>(key.tag);
    return (value ^ (value >> 32)) * 0xbf58476d1ce4e5b9;
}

void Replay::start() {
    for (Rank rank = 0; rank < ranks_.size(); ++rank) {
        advance(rank);
    }
}

void Replay::on_end(Token part) {
    if (cancelled_) {
        return;
    }
    --n_active_;
    if (part >= ranks_.size()) {
        end_transfer(static_cast<MessageId>(part - ranks_.size()));
        return;
    }
    const auto rank = static_cast<Rank>(part);
    const Wait waited = ranks_[rank].wait;
    ranks_[rank].wait = Wait::nothing;
    if (waited == Wait::testing) {
        end_test(rank);
    }
    if (waited != Wait::computing) {
        next_action(rank);
    }
    advance(rank);
}

std::vector<Rank> Replay::take_ended_ranks() { return std::exchange(newly_ended_, {}); }

double Replay::progress() const {
    const std::size_t n_actions = trace_->n_actions();
    return n_actions == 0 ? 1.0 : static_cast<double>(n_done_) / static_cast<double>(n_actions);
}

void Replay::cancel() {
    for (const RankState& state : ranks_) {
        if (state.wait == Wait::computing || state.wait == Wait::sleeping ||
            state.wait == Wait::testing) {
            activities_->cancel(state.activity);
        }
    }
    for (MessageId id = 0; id < messages_.n_ids(); ++id) {
        if (messages_.in_use(id) && !messages_[id].waits()) {
            activities_->cancel(messages_[id].activity);
        }
    }
    messages_.clear();
    n_active_ = 0;
    cancelled_ = true;
}

void Replay::advance(Rank rank) {
    while (goes_on(rank)) {
    }
}

// Does the next thing of a rank; false where it waits for something or has ended.
bool Replay::goes_on(Rank rank) {
    const std::span<const Action> actions = trace_->actions(rank);
    RankState& state = ranks_[rank];
    state.wait = Wait::nothing;
    if (state.at == actions.size()) {
        return end(rank);
    }
    const Action& action = actions[state.at];
    switch (action.kind) {
    case ActionKind::isend:
    case ActionKind::ireceive:
        post_request(rank, action);
        next_action(rank);
        return true;
    case ActionKind::wait:
        return wait_for(rank, action);
    case ActionKind::wait_all:
        if (!wait_for_all(rank)) {
            return false;
        }
        next_action(rank);
        return true;
    case ActionKind::test:
        return test(rank, action);
    case ActionKind::sleep:
        return sleep(rank, action.amount, Wait::sleeping);
    default:
        return take_step(rank, action);
    }
}

bool Replay::end(Rank rank) {
    if (wait_for_all(rank)) {
        ranks_[rank].end = activities_->now();
        ++n_ended_;
        newly_ended_.push_back(rank);
    }
    return false;
}

void Replay::next_action(Rank rank) {
    ++ranks_[rank].at;
    ranks_[rank].cursor = {};
    ++n_done_;
}

bool Replay::take_step(Rank rank, const Action& action) {
    RankState& state = ranks_[rank];
    const std::optional<Step> step = next_step(*trace_, rank, action, state.cursor);
    if (!step) {
        next_action(rank);
        return true;
    }
    switch (step->kind) {
    case StepKind::send:
        post_send(rank, step->peer, step->tag, step->amount, rank_itself, action);
        return true;
    case StepKind::receive:
        post_receive(step->peer, rank, step->tag, step->amount, rank_itself, action);
        return true;
    case StepKind::wait:
        if (state.n_steps_open > 0) {
            state.wait = Wait::steps;
            return false;
        }
        return true;
    default:
        if (step->amount > 0.0) {
            state.activity = activities_->execute(host_of_rank_[rank], step->amount, base_ + rank);
            state.wait = Wait::computing;
            ++n_active_;
            return false;
        }
        return true;
    }
}

bool Replay::sleep(Rank rank, double seconds, Wait wait) {
    if (seconds <= 0.0) {
        next_action(rank);
        return true;
    }
    ranks_[rank].activity = activities_->sleep(host_of_rank_[rank], seconds, base_ + rank);
    ranks_[rank].wait = wait;
    ++n_active_;
    return false;
}

// Tests take time so that loops of them end; more of it the more of them fail. One of a request
// that was found done by another takes none.
bool Replay::test(Rank rank, const Action& action) {
    RankState& state = ranks_[rank];
    const RequestKey key{action.peer, action.other, action.tag};
    const auto found = state.requests.find(key);
    if (found == state.requests.end()) {
        return sleep(rank, 0.0, Wait::testing);
    }
    if (requests_[found->second.first].tested) {
        pop_request(state, key);
        return sleep(rank, 0.0, Wait::testing);
    }
    return sleep(rank, test_seconds * test_factor_, Wait::testing);
}

void Replay::end_test(Rank rank) {
    RankState& state = ranks_[rank];
    const Action& action = trace_->actions(rank)[state.at];
    Requests& queue = state.requests.at({action.peer, action.other, action.tag});
    Request& request = requests_[queue.first];
    request.tested = request.done;
    test_factor_ = request.done ? 1 : test_factor_ + 1;
    put_last(queue);
}

// SimGrid puts a request that was tested back behind those alike; one that is done, as a blank.
void Replay::put_last(Requests& queue) {
    if (queue.first != queue.last) {
        requests_[queue.last].next = queue.first;
        queue.last = queue.first;
        queue.first = std::exchange(requests_[queue.last].next, nobody);
    }
}

// What is not there has been found done by tests.
bool Replay::wait_for(Rank rank, const Action& action) {
    RankState& state = ranks_[rank];
    const RequestKey key{action.peer, action.other, action.tag};
    const auto found = state.requests.find(key);
    if (found != state.requests.end()) {
        if (!requests_[found->second.first].done) {
            state.wait = Wait::request;
            state.awaited = found->second.first;
            return false;
        }
        pop_request(state, key);
    }
    next_action(rank);
    return true;
}

bool Replay::wait_for_all(Rank rank) {
    RankState& state = ranks_[rank];
    if (state.n_requests_open > 0) {
        state.wait = Wait::all;
        return false;
    }
    while (!state.requests.empty()) {
        pop_request(state, state.requests.begin()->first);
    }
    return true;
}

void Replay::post_request(Rank rank, const Action& action) {
    RankState& state = ranks_[rank];
    const bool sends = action.kind == ActionKind::isend;
    const Rank from = sends ? rank : action.peer;
    const Rank to = sends ? action.peer : rank;
    const Party request = new_request(state, {from, to, action.tag});
    if (sends) {
        post_send(from, to, action.tag, action.amount, request, action);
    } else {
        post_receive(from, to, action.tag, action.second, request, action);
    }
}

void Replay::post_send(Rank from, Rank to, Tag tag, double bytes, Party sender,
                       const Action& action) {
    const MessageId id = messages_.post_send(from, to, tag);
    Message& message = messages_[id];
    message.bytes = bytes;
    message.sent_by = &action;
    if (bytes >= detached_below) {
        message.sender = sender;
        ++(sender == rank_itself ? ranks_[from].n_steps_open : ranks_[from].n_requests_open);
    } else if (sender != rank_itself) {
        requests_[sender].done = true;
    }
    if (!message.waits()) {
        transfer(id);
    }
}

void Replay::post_receive(Rank from, Rank to, Tag tag, double capacity, Party receiver,
                          const Action& action) {
    const MessageId id = messages_.post_receive(from, to, tag);
    Message& message = messages_[id];
    message.capacity = capacity;
    message.taken_by = &action;
    message.receiver = receiver;
    ++(receiver == rank_itself ? ranks_[to].n_steps_open : ranks_[to].n_requests_open);
    if (!message.waits()) {
        transfer(id);
    }
}

void Replay::transfer(MessageId id) {
    Message& message = messages_[id];
    if (message.bytes > message.capacity) {
        const auto shown = [](double bytes) {
            return std::to_string(static_cast<std::uint64_t>(bytes)) + " bytes";
        };
        throw InputError(trace_->place(message.to, *message.taken_by) + ": " +
                         std::string(name_of(message.taken_by->kind)) + ": got a message of " +
                         shown(message.bytes) + " from rank " + std::to_string(message.from) +
                         " (" + trace_->place(message.from, *message.sent_by) +
                         "), expected at most " + shown(message.capacity));
    }
    ++n_active_;
    message.activity = activities_->send(host_of_rank_[message.from], host_of_rank_[message.to],
                                         message.bytes + envelope_bytes, token_of_message(id));
}

void Replay::end_transfer(MessageId id) {
    const Message message = messages_[id];
    messages_.remove(id);
    const bool sender_goes_on = tell(message.from, message.sender);
    const bool receiver_goes_on = tell(message.to, message.receiver);
    if (sender_goes_on) {
        advance(message.from);
    }
    if (receiver_goes_on && (message.to != message.from || !sender_goes_on)) {
        advance(message.to);
    }
}

// That its message is through; whether the rank now goes on.
bool Replay::tell(Rank rank, Party party) {
    RankState& state = ranks_[rank];
    if (party == nobody) {
        return false;
    }
    if (party == rank_itself) {
        return --state.n_steps_open == 0 && state.wait == Wait::steps;
    }
    requests_[party].done = true;
    --state.n_requests_open;
    return (state.wait == Wait::request && state.awaited == party) ||
           (state.wait == Wait::all && state.n_requests_open == 0);
}

Party Replay::new_request(RankState& state, const RequestKey& key) {
    Party request = free_request_;
    if (request == nobody) {
        request = static_cast<Party>(requests_.size());
        requests_.emplace_back();
    } else {
        free_request_ = requests_[request].next;
        requests_[request] = {};
    }
    const auto [queue, is_new] = state.requests.try_emplace(key, Requests{request, request});
    if (!is_new) {
        requests_[queue->second.last].next = request;
        queue->second.last = request;
    }
    return request;
}

void Replay::pop_request(RankState& state, const RequestKey& key) {
    const auto queue = state.requests.find(key);
    const Party request = queue->second.first;
    queue->second.first = requests_[request].next;
    if (queue->second.first == nobody) {
        state.requests.erase(queue);
    }
    requests_[request].next = free_request_;
    free_request_ = request;
}

std::string Replay::what_is_awaited(const Message& message) const {
    const bool sends = message.taken_by == nullptr;
    const Rank rank = sends ? message.from : message.to;
    const std::string peer = "rank " + std::to_string(sends ? message.to : message.from);
    const Action& action = sends ? *message.sent_by : *message.taken_by;
    const bool of_trace = message.tag <= std::numeric_limits<std::int32_t>::max();
    return "rank " + std::to_string(rank) + " waits for " +
           (sends ? peer + " to receive its message" : "a message of " + peer) +
           (of_trace && message.tag == any_tag ? " with any tag"
            : of_trace                         ? " with tag " + std::to_string(message.tag)
                                               : " in its " + std::string(name_of(action.kind))) +
           " (line " + std::to_string(action.line) + " of " + trace_->source(rank) + ")";
}

std::string Replay::stuck() const {
    constexpr std::size_t most_shown = 8;
    if (finished() || cancelled_ || n_active_ > 0) {
        return "";
    }
    std::vector<MessageId> awaited(ranks_.size(), no_message); // the first one of each rank
    for (MessageId id = 0; id < messages_.n_ids(); ++id) {
        const Message& message = messages_[id];
        const bool sends = message.taken_by == nullptr;
        const Rank rank = sends ? message.from : message.to;
        const Party party = sends ? message.sender : message.receiver;
        const Wait wait = ranks_[rank].wait;
        const bool blocks =
            party != nobody && (wait == Wait::steps     ? party == rank_itself
                                : wait == Wait::request ? party == ranks_[rank].awaited
                                                        : wait == Wait::all);
        if (messages_.in_use(id) && blocks &&
            (awaited[rank] == no_message || message.number < messages_[awaited[rank]].number)) {
            awaited[rank] = id;
        }
    }
    std::string text;
    std::size_t n_stuck = 0;
    for (const MessageId id : awaited) {
        if (id != no_message && ++n_stuck <= most_shown) {
            text += (text.empty() ? "" : "; ") + what_is_awaited(messages_[id]);
        }
    }
    if (n_stuck > most_shown) {
        text += "; and " + std::to_string(n_stuck - most_shown) + " more ranks wait";
    }
    return text;
}

} // namespace noctule::mpi
