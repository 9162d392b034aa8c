// Things in the order of their dates, which may change while they wait; ties in a given order.
#pragma once

#include "types.hpp"

#include <cstdint>
#include <vector>

namespace noctule {

class DateHeap {
  public:
    bool empty() const { return heap_.empty(); }
    std::uint32_t top() const { return heap_.front().item; }
    double top_date() const { return heap_.empty() ? infinity : heap_.front().date; }

    // Adds an item, or moves it to another date. Items are small numbers.
    void put(std::uint32_t item, double date, std::uint64_t order) {
        if (item >= place_.size()) {
            place_.resize(item + std::size_t{1}, absent);
        }
        if (place_[item] == absent) {
            place_[item] = static_cast<std::uint32_t>(heap_.size());
            heap_.push_back({date, order, item});
            rise(place_[item]);
            return;
        }
        const std::uint32_t place = place_[item];
        const bool earlier = Entry{date, order, item} < heap_[place];
        heap_[place] = {date, order, item};
        earlier ? rise(place) : sink(place);
    }

    void remove(std::uint32_t item) {
        const std::uint32_t place = item < place_.size() ? place_[item] : absent;
        if (place == absent) {
            return;
        }
        place_[item] = absent;
        const Entry last = heap_.back();
        heap_.pop_back();
        if (last.item != item) {
            const bool earlier = last < heap_[place];
            heap_[place] = last;
            place_[last.item] = place;
            earlier ? rise(place) : sink(place);
        }
    }

    // Tells of the first item with its date, and of what may follow each of which the answer is
    // true: all of a prefix in no order, and some beyond it.
    template <typename Tell> void for_each_early(const Tell& tell) const { tell_from(0, tell); }

  private:
    static constexpr std::uint32_t absent = 0xffffffff;

    struct Entry {
        double date;
        std::uint64_t order;
        std::uint32_t item;

        bool operator<(const Entry& other) const {
            return date != other.date ? date < other.date : order < other.order;
        }
    };

    template <typename Tell> void tell_from(std::size_t place, const Tell& tell) const {
        if (place < heap_.size() && tell(heap_[place].item, heap_[place].date)) {
            tell_from(2 * place + 1, tell);
            tell_from(2 * place + 2, tell);
        }
    }

    void set(std::uint32_t place, const Entry& entry) {
        heap_[place] = entry;
        place_[entry.item] = place;
    }

    void rise(std::uint32_t place) {
        const Entry entry = heap_[place];
        while (place > 0 && entry < heap_[(place - 1) / 2]) {
            set(place, heap_[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        set(place, entry);
    }

    void sink(std::uint32_t place) {
        const Entry entry = heap_[place];
        const auto size = static_cast<std::uint32_t>(heap_.size());
        for (std::uint32_t child = 2 * place + 1; child < size; child = 2 * place + 1) {
            if (child + 1 < size && heap_[child + 1] < heap_[child]) {
                ++child;
            }
            if (!(heap_[child] < entry)) {
                break;
            }
            set(place, heap_[child]);
            place = child;
        }
        set(place, entry);
    }

    std::vector<Entry> heap_;
    std::vector<std::uint32_t> place_; // of each item
};

} // namespace noctule
