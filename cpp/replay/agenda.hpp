// The dates of submissions that are known, the next one first.
#pragma once

#include "types.hpp"
#include "wide_heap.hpp"

namespace noctule {

// At one date, in the order of the workload.
class Agenda {
  public:
    double next_date() const { return heap_.empty() ? infinity : heap_.top().date; }

    void add(double date, JobIndex job) { heap_.push({date, job}); }

    // The next job whose date has come; no_job if there is none.
    JobIndex take(double now) {
        return heap_.empty() || heap_.top().date > now ? no_job : heap_.pop().job;
    }

  private:
    struct Entry {
        double date;
        JobIndex job;

        bool before(const Entry& other) const {
            return (date < other.date) | ((date == other.date) & (job < other.job));
        }
    };

    WideHeap<Entry> heap_;
};

} // namespace noctule
