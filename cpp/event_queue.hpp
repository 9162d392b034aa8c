// Future events in a total order: (time, rank, sequence).
#pragma once

#include "types.hpp"
#include "wide_heap.hpp"

namespace noctule {

// At equal times a finish precedes a submission: freed hosts can be reused at once.
enum class EventRank : std::uint8_t {
    switched, // hosts have reached a power state
    launch,
    end,
    release,
    news, // of what was decided at this instant
    cancellation,
    window,
    external,
    submission,
    timer,
    decision
};

struct FutureEvent {
    double time;
    std::uint64_t order;   // rank in the top byte, then the sequence in which events were added
    std::uint32_t subject; // a job, a timer, a decision..., as the rank says

    EventRank rank() const { return static_cast<EventRank>(order >> 56); }

    bool before(const FutureEvent& other) const {
        return (time < other.time) | ((time == other.time) & (order < other.order));
    }
};

class EventQueue {
  public:
    bool empty() const { return heap_.empty(); }
    std::size_t size() const { return heap_.size(); }
    const FutureEvent& next() const { return heap_.top(); }

    void add(double time, EventRank rank, std::uint32_t subject) {
        heap_.push({time, static_cast<std::uint64_t>(rank) << 56 | sequence_++, subject});
    }

    FutureEvent pop() { return heap_.pop(); }

  private:
    WideHeap<FutureEvent> heap_;
    std::uint64_t sequence_ = 0;
};

} // namespace noctule
