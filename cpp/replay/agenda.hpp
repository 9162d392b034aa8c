// The dates of submissions that are known, the next one first.
#pragma once

#include "types.hpp"

#include <algorithm>
#include <vector>

namespace noctule {

// At one date, in the order of the workload.
class Agenda {
  public:
    double next_date() const { return heap_.empty() ? infinity : heap_.front().date; }

    void add(double date, JobIndex job) {
        heap_.push_back({date, job});
        std::push_heap(heap_.begin(), heap_.end(), Later{});
    }

    // The next job whose date has come; no_job if there is none.
    JobIndex take(double now) {
        if (heap_.empty() || heap_.front().date > now) {
            return no_job;
        }
        std::pop_heap(heap_.begin(), heap_.end(), Later{});
        const JobIndex job = heap_.back().job;
        heap_.pop_back();
        return job;
    }

  private:
    struct Entry {
        double date;
        JobIndex job;
    };
    struct Later {
        bool operator()(const Entry& a, const Entry& b) const {
            return a.date != b.date ? a.date > b.date : a.job > b.job;
        }
    };

    std::vector<Entry> heap_;
};

} // namespace noctule
