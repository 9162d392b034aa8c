// Inertial shutdown: the off reservation follows how responsive the system is.
//
// At the end of each period the mean of the liquid load horizon is compared with that of the period
// before. While it falls hosts are switched off, while it rises they are switched on, each time
// some more than the last time; where it turns, nothing is done but to note it. A horizon that
// reaches the upper bound switches hosts on, whatever was before. Poquet's thesis (Grenoble 2017),
// section 7.4.3, algorithm 3.
#include "load_horizon.hpp"
#include "policies/shutdown_easy.hpp"

#include <algorithm>

namespace noctule {

namespace {

class Inertial final : public ShutdownEasy {
  public:
    struct Inertia {
        double upper_bound;   // of the horizon, in seconds
        bool doubles;         // f(n) is 2n, or else n + 1
        bool future_switches; // hosts may be chosen that cannot be switched now
    };

    Inertial(Order order, const Parameters& parameters, const Inertia& inertia)
        : ShutdownEasy(std::move(order), parameters), inertia_(inertia) {}

  protected:
    void observe_time(const View& view) override { integral_ += horizon_.advance(view.now()); }

    void observe_change(const View& view) override {
        coming_.clear();
        if (load() > 0) {
            view.releases().for_each([&](const Release& release) {
                coming_.push_back({release.time, release.n_hosts - n_marked(release.job)});
            });
            for (const Waking& host : waking()) {
                if (view.free_hosts().contains(host.host)) {
                    coming_.push_back({host.time, 1});
                }
            }
            if (!waking().empty()) {
                std::ranges::stable_sort(coming_, {}, &ComingHosts::time);
            }
        }
        horizon_.restart(view.now(), load(), view.awake_free_hosts().count(), coming_);
    }

    // Hosts that were still being switched off when they were to be switched on.
    void prepare(const View& view, Decisions& decisions) override {
        std::vector<HostId> asleep;
        std::erase_if(to_wake_, [&](HostId host) {
            const bool is_ready = is_reserved(host) && view.phase(host) == HostPhase::asleep;
            if (is_ready) {
                asleep.push_back(host);
            }
            return is_ready || !is_reserved(host);
        });
        if (!asleep.empty()) {
            wake(view, asleep, decisions);
            n_switched_ += static_cast<std::uint32_t>(asleep.size());
        }
    }

    void end_period(const View& view, Decisions& decisions) override {
        const double mean = integral_ / period();
        double before = std::exchange(before_, mean);
        integral_ = 0.0;
        std::uint32_t n_switched = std::exchange(n_switched_, 0) + take_n_executed_marks();
        cancel_marks();
        to_wake_.clear();
        if (take_woke_for_first() || is_first_period_) {
            is_first_period_ = false;
            return;
        }
        if (mean >= inertia_.upper_bound) {
            if (!switches_on_) {
                switches_on_ = true;
                n_switched = 0;
            }
            before = 0.0;
        }
        if (switches_on_ ? mean > before : mean <= before) {
            const std::uint32_t grown = inertia_.doubles ? 2 * n_switched : n_switched + 1;
            const std::uint32_t n_due = std::max<std::uint32_t>(grown, 1);
            switches_on_ ? switch_on(view, n_due, decisions) : reserve(view, n_due, decisions);
        } else {
            switches_on_ = !switches_on_;
        }
    }

  private:
    void switch_on(const View& view, std::uint32_t n_due, Decisions& decisions) {
        std::vector<HostId> asleep;
        for (HostId host = 0; n_reserved() > 0 && host < view.n_hosts(); ++host) {
            if (is_reserved(host) && asleep.size() + to_wake_.size() < n_due) {
                if (view.phase(host) == HostPhase::asleep) {
                    asleep.push_back(host);
                } else if (inertia_.future_switches) {
                    to_wake_.push_back(host);
                }
            }
        }
        wake(view, asleep, decisions);
        n_switched_ += static_cast<std::uint32_t>(asleep.size());
    }

    // Hosts that are off already are stolen, then free ones are switched off, then those marked
    // that will be free first.
    void reserve(const View& view, std::uint32_t n_due, Decisions& decisions) {
        std::vector<HostId> off;
        std::vector<HostId> awake;
        sort_out(view, off, awake);
        n_due = std::min(n_due, n_switchable(view, awake.size()));
        off.resize(std::min<std::size_t>(off.size(), n_due));
        n_due -= static_cast<std::uint32_t>(off.size());
        awake.resize(std::min<std::size_t>(awake.size(), n_due));
        n_due -= static_cast<std::uint32_t>(awake.size());
        if (inertia_.future_switches && n_due > 0) {
            mark_busy(view, n_due);
        }
        for (const HostId host : off) {
            steal(host);
        }
        if (!awake.empty()) {
            n_switched_ += static_cast<std::uint32_t>(awake.size());
            reserve_awake(view, awake, decisions);
        }
    }

    // The free hosts that the first job can do without.
    void sort_out(const View& view, std::vector<HostId>& off, std::vector<HostId>& awake) {
        if (n_usable(view) == 0) {
            return;
        }
        const HostSet free = view.free_hosts().to_host_set();
        for (const Interval& run : free.intervals()) {
            for (HostId host = run.first; host <= run.last; ++host) {
                if (!is_reserved(host) && view.phase(host) != HostPhase::switching_on &&
                    !is_kept(view, host)) {
                    (is_off(view, host) ? off : awake).push_back(host);
                }
            }
        }
    }

    // Hosts that are awake, and not kept for the first job.
    std::uint32_t n_switchable(const View& view, std::size_t n_awake_now) const {
        if (!inertia_.future_switches) {
            return static_cast<std::uint32_t>(n_awake_now);
        }
        std::uint32_t n = view.awake_free_hosts().count();
        view.releases().for_each([&](const Release& release) { n += release.n_hosts; });
        const std::uint32_t n_kept = queue().empty() ? 0 : queue().front().n_hosts;
        return n - std::min(n, n_kept);
    }

    // Soonest free first, then lowest.
    void mark_busy(const View& view, std::uint32_t n_due) {
        chosen_.clear();
        view.releases().for_each([&](const Release& release) {
            if (chosen_.size() >= n_due && release.time > chosen_.back().time) {
                return;
            }
            view.for_each_run(release.job, [&](Interval run) {
                for (HostId host = run.first; host <= run.last; ++host) {
                    if (view.phase(host) == HostPhase::awake && !is_kept(view, host)) {
                        chosen_.push_back({release.time, host, release.job});
                    }
                }
            });
        });
        std::ranges::sort(chosen_, [](const Busy& a, const Busy& b) {
            return a.time != b.time ? a.time < b.time : a.host < b.host;
        });
        chosen_.resize(std::min<std::size_t>(chosen_.size(), n_due));
        for (const Busy& busy : chosen_) {
            mark(busy.job, busy.host);
        }
    }

    struct Busy {
        double time;
        HostId host;
        JobIndex job;
    };

    Inertia inertia_;
    LoadHorizon horizon_;
    std::vector<ComingHosts> coming_;
    double integral_ = 0.0; // of the horizon since the period began
    double before_ = 0.0;   // mean over the last period
    bool is_first_period_ = true;
    bool switches_on_ = true;      // the kind of the last decision
    std::uint32_t n_switched_ = 0; // switches that it has begun
    std::vector<HostId> to_wake_;  // once they are off
    std::vector<Busy> chosen_;
};

} // namespace

std::unique_ptr<Policy> make_inertial(PolicySetup setup) {
    const auto parameters = ShutdownEasy::Parameters::of(setup);
    const Inertial::Inertia inertia{setup.number("upper_bound"), setup.number("growth") == 2,
                                    setup.number("future_switches") != 0};
    return std::make_unique<Inertial>(std::move(setup.order), parameters, inertia);
}

} // namespace noctule
