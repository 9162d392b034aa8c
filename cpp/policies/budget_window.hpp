// What the policies with an energy budget have in common: its clock, its counter and its forecast.
//
// Between its two dates, what was drawn is measured at regular dates; in between it is estimated.
// At every call there is a forecast of what will be left if all jobs that run do so to their
// walltimes. Before and after, and with an infinite budget, nothing is limited but the part of a
// job that reaches in.
//
// Poquet, "Approche par la simulation pour la gestion de ressources", thesis, Grenoble 2017, ch. 6.
#pragma once

#include "energy_budget.hpp"
#include "policies/policies.hpp"
#include "policies/queue.hpp"

#include <optional>

namespace noctule {

class BudgetWindow {
  public:
    explicit BudgetWindow(const PolicySetup& setup);

    void follow(const View& view, Decisions& decisions);
    void settle(const View& view);
    void started(const View& view, const QueuedJob& job);

    // That idle hosts would draw more, and how much was drawn.
    std::vector<std::string> warnings() const;

  protected:
    // Seconds between measurements; never, for a policy that has no use for them.
    void measure_every(double seconds) { period_ = seconds; }

    // How long a job that starts now would hold its hosts: they may have to be woken.
    double holding_time(const QueuedJob& job) const { return job.walltime + waking_seconds_; }

    bool is_limited() const { return is_limited_; } // now
    double now() const { return now_; }
    const EnergyBudget& budget() const { return budget_; }
    const EnergyForecast& forecast() const { return *forecast_; }

  private:
    void measure(const View& view, Decisions& decisions);
    double waking_seconds(const View& view);

    EnergyBudget budget_;
    double share_; // of what all hosts would draw if all computed, unless joules were given
    double period_ = infinity;
    double now_ = 0.0;
    bool is_limited_ = false;
    double waking_seconds_ = 0.0;
    std::optional<double> longest_waking_; // once a host was seen that is not awake
    std::uint32_t n_hosts_ = 0;
    std::uint32_t n_measured_ = 0;
    double next_measurement_ = 0.0;
    std::optional<EnergyCounter> counter_;
    std::optional<EnergyForecast> forecast_;
};

} // namespace noctule
