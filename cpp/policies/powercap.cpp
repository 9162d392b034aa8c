// EASY backfilling under a power cap: no job starts that would bring the estimated watts above the
// rate at which a budget is spent evenly. An off host counts as an idle one.
//
// Thesis of Poquet, section 6.5.2.
#include "policies/backfilling.hpp"
#include "policies/budget_window.hpp"

#include <algorithm>

namespace noctule {

namespace {

class PowerLimit : public BudgetWindow {
  public:
    using BudgetWindow::BudgetWindow;

    bool admits(const QueuedJob& job) const {
        return !is_limited() || forecast().keeps_rate(now(), job.n_hosts, holding_time(job));
    }

    double reserve(const QueuedJob& job, double date) {
        if (is_limited()) {
            date = forecast().first_below_rate(date, job.n_hosts, holding_time(job));
        }
        reserved_from_ = std::max(date, budget().start);
        reserved_watts_ = budget().seconds_inside(date, job.walltime) > 0.0
                              ? budget().extra_watts(job.n_hosts)
                              : 0.0;
        return date;
    }

    // The first job must find its watts when it starts, or when the window begins.
    bool lets_pass(const QueuedJob& job) const {
        return admits(job) && (!is_limited() || reserved_watts_ == 0.0 ||
                               now() + holding_time(job) <= reserved_from_ ||
                               forecast().keeps_rate(reserved_from_, job.n_hosts, holding_time(job),
                                                     reserved_watts_));
    }

  private:
    double reserved_from_ = 0.0;
    double reserved_watts_ = 0.0;
};

} // namespace

std::unique_ptr<Policy> make_powercap(PolicySetup setup) {
    PowerLimit limit(setup);
    return make_backfilling(std::move(setup.order), setup.allocation, std::move(limit));
}

} // namespace noctule
