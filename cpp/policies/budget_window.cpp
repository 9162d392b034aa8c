#include "policies/budget_window.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace noctule {

namespace {

constexpr TimerTag next_measurement = 1; // 0 is that of opportunistic shutdown

std::string in_joules(double joules) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", joules);
    return text;
}

} // namespace

BudgetWindow::BudgetWindow(const PolicySetup& setup)
    : budget_{.joules = setup.number("joules"),
              .start = setup.number("budget_start"),
              .end = setup.number("budget_end"),
              .idle_watts = setup.number("idle_watts"),
              .computing_watts = setup.number("computing_watts")},
      share_(setup.number("budget")), next_measurement_(budget_.start) {}

void BudgetWindow::follow(const View& view, Decisions& decisions) {
    now_ = view.now();
    if (!counter_) {
        n_hosts_ = view.n_hosts();
        if (share_ > 0.0) {
            budget_.joules =
                share_ * budget_.computing_watts * n_hosts_ * (budget_.end - budget_.start);
        }
        counter_.emplace(budget_);
        forecast_.emplace(budget_, n_hosts_);
        if (std::isfinite(budget_.joules)) {
            decisions.call_at(next_measurement_, next_measurement);
        }
    }
    is_limited_ = std::isfinite(budget_.joules) && now_ < budget_.end;
    counter_->advance(now_);
    if (now_ >= next_measurement_ && std::isfinite(budget_.joules)) {
        measure(view, decisions);
    }
    if (is_limited_) {
        forecast_->begin(now_, counter_->available(), view.releases());
        waking_seconds_ = waking_seconds(view);
    }
}

void BudgetWindow::measure(const View& view, Decisions& decisions) {
    if (!std::isnan(view.joules())) {
        counter_->measure(now_, view.joules());
    }
    ++n_measured_;
    next_measurement_ = infinity;
    if (is_limited_) {
        next_measurement_ = std::min(budget_.start + n_measured_ * period_, budget_.end);
        decisions.call_at(next_measurement_, next_measurement);
    }
}

// Which hosts a job gets is not known yet: if one is not awake, all may be as it is.
double BudgetWindow::waking_seconds(const View& view) {
    if (!view.wakes_hosts() || view.awake_free_hosts().count() == view.n_free()) {
        return 0.0;
    }
    for (HostId host = 0; !longest_waking_; ++host) {
        if (view.phase(host) != HostPhase::awake && view.phase(host) != HostPhase::failed) {
            longest_waking_ = view.switch_off_seconds(host) + view.switch_on_seconds(host);
        }
    }
    return *longest_waking_;
}

void BudgetWindow::settle(const View& view) {
    counter_->draw(budget_.watts(n_hosts_, static_cast<double>(view.releases().n_hosts())));
}

void BudgetWindow::started(const View& view, const QueuedJob& job) {
    if (is_limited_) {
        forecast_->add(job.n_hosts, view.expected_end(job.job));
    }
}

std::vector<std::string> BudgetWindow::warnings() const {
    if (!counter_ || budget_.joules >= budget_.floor(n_hosts_)) {
        return {};
    }
    std::string told = "the energy budget of " + in_joules(budget_.joules) +
                       " J is less than the " + in_joules(budget_.floor(n_hosts_)) +
                       " J that idle hosts are estimated to draw";
    if (counter_->measured() > budget_.joules) {
        told += "; " + in_joules(counter_->measured() - budget_.joules) + " J were overdrawn";
    }
    return {told};
}

} // namespace noctule
