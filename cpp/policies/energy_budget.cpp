// EASY backfilling with an energy budget (energyBud, algorithm 2, and its variant reducePC).
//
// Energy is released at a constant rate; what is not spent is saved, and a job may spend it. A job
// starts only if that leaves no debt at any time, with all jobs running to their walltimes. The
// first job that cannot start reserves hosts and energy, from the first date on at which it finds
// both. Others pass it with what it leaves over:
// - energyBud: of the energy that is there, all but what the first job reserves;
// - reducePC: of the rate, all but what must be put aside until the first job starts; no savings.
//
// Thesis of Poquet, sections 6.4.2 to 6.4.4.
#include "policies/backfilling.hpp"
#include "policies/budget_window.hpp"

#include <algorithm>

namespace noctule {

namespace {

class EnergyLimit : public BudgetWindow {
  public:
    explicit EnergyLimit(const PolicySetup& setup)
        : BudgetWindow(setup), reserves_above_rate_(setup.number("reserve_above_rate") != 0.0) {
        measure_every(setup.number("monitoring"));
    }

    bool admits(const QueuedJob& job) const {
        return !is_limited() || forecast().affords(now(), job.n_hosts, holding_time(job));
    }

    double reserve(const QueuedJob& job, double date) {
        if (!is_limited()) {
            return date;
        }
        date = forecast().first_affordable(date, job.n_hosts, holding_time(job));
        reserved_from_ = date;
        reserved_watts_ = date < budget().end ? watts_to_reserve(job) : 0.0;
        reserved_seconds_ = budget().seconds_inside(date, job.walltime);
        return date;
    }

  protected:
    // Of the first job, while it runs in the window.
    double reserved_from_ = 0.0;
    double reserved_watts_ = 0.0;
    double reserved_seconds_ = 0.0;

  private:
    // All that the job adds, or only what is above the rate.
    double watts_to_reserve(const QueuedJob& job) const {
        const double watts = budget().extra_watts(job.n_hosts);
        const double left = reserves_above_rate_ ? forecast().watts_left(reserved_from_) : 0.0;
        return std::clamp(watts - left, 0.0, watts);
    }

    bool reserves_above_rate_;
};

class SavingsLimit final : public EnergyLimit {
  public:
    using EnergyLimit::EnergyLimit;

    bool lets_pass(const QueuedJob& job) const {
        return !is_limited() || forecast().affords(now(), job.n_hosts, holding_time(job),
                                                   reserved_watts_ * reserved_seconds_);
    }
};

class ReducedRateLimit final : public EnergyLimit {
  public:
    using EnergyLimit::EnergyLimit;

    // In debt nobody passes, even below the rate.
    bool lets_pass(const QueuedJob& job) const {
        return !is_limited() ||
               (forecast().keeps_rate(now(), job.n_hosts, holding_time(job), watts_put_aside()) &&
                forecast().affords(now(), job.n_hosts, holding_time(job)));
    }

  private:
    // Until the first job starts; if it starts before the window does, it will just be there.
    double watts_put_aside() const {
        const double seconds = reserved_from_ - std::max(now(), budget().start);
        return seconds > 0.0 ? reserved_watts_ * reserved_seconds_ / seconds : reserved_watts_;
    }
};

template <typename Limit> std::unique_ptr<Policy> make(PolicySetup setup) {
    Limit limit(setup);
    return make_backfilling(std::move(setup.order), setup.allocation, std::move(limit));
}

} // namespace

std::unique_ptr<Policy> make_energy_budget(PolicySetup setup) {
    return make<SavingsLimit>(std::move(setup));
}

std::unique_ptr<Policy> make_reduce_powercap(PolicySetup setup) {
    return make<ReducedRateLimit>(std::move(setup));
}

} // namespace noctule
