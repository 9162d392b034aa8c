// The smallest of many values: a heap in which each has four children, of which the smallest is
// found without branches that nobody could foresee.
#pragma once

#include "plain_array.hpp"

#include <cstddef>

namespace noctule {

// `a.before(b)` is a strict order in which no two values are equal.
template <typename T> class WideHeap {
  public:
    bool empty() const { return values_.empty(); }
    std::size_t size() const { return values_.size(); }
    const T& top() const { return values_.front(); }

    void push(const T& value) {
        values_.push_back(value);
        std::size_t place = values_.size() - 1;
        while (place > 0 && value.before(values_[(place - 1) / n_children])) {
            values_[place] = values_[(place - 1) / n_children];
            place = (place - 1) / n_children;
        }
        values_[place] = value;
    }

    T pop() {
        const T top = values_.front();
        const T last = values_.back();
        values_.pop_back();
        const std::size_t n = values_.size();
        std::size_t place = 0;
        for (std::size_t first = 1; first < n; first = n_children * place + 1) {
            const std::size_t child =
                first + n_children <= n ? smallest(first, n_children) : smallest(first, n - first);
            if (last.before(values_[child])) {
                break;
            }
            values_[place] = values_[child];
            place = child;
        }
        if (n > 0) {
            values_[place] = last;
        }
        return top;
    }

  private:
    static constexpr std::size_t n_children = 4;

    std::size_t smallest(std::size_t first, std::size_t n) const {
        std::size_t found = first;
        for (std::size_t i = first + 1; i < first + n; ++i) {
            const auto is_before = static_cast<std::size_t>(values_[i].before(values_[found]));
            found += (i - found) & (0 - is_before);
        }
        return found;
    }

    PlainArray<T> values_;
};

} // namespace noctule
