// Who submits the jobs of a run, and when, where the dates are not those of the workload.
//
// The engine asks for the jobs whose dates have come, and tells which have ended; what users do in
// between is theirs.
#pragma once

#include "types.hpp"

namespace noctule {

// How a job ended, with all its attempts; it never started if it was rejected or cancelled.
struct JobEnd {
    JobIndex job;
    double submit_time;
    double start_time; // not_a_time if it never started
    double finish_time;
};

class Arrivals {
  public:
    virtual ~Arrivals() = default;

    // The date of the next submission, as far as is known; infinite if none is.
    double next_date() const { return next_date_; }
    // Whether there are jobs still to come, now or once others have ended.
    bool has_more() const { return n_left_ > 0; }

    // The next job whose date has come; no_job if there is none.
    virtual JobIndex take(double now) = 0;
    virtual void job_ended(const JobEnd& end) = 0;

  protected:
    // What the engine asks at every instant.
    double next_date_ = infinity;
    std::size_t n_left_ = 0;
};

} // namespace noctule
