#include "load_horizon.hpp"

#include <algorithm>
#include <utility>

namespace noctule {

void LoadHorizon::restart(double now, double load, std::uint32_t n_free,
                          std::vector<ComingHosts>& coming) {
    now_ = now;
    load_ = load;
    if (load == 0) {
        return;
    }
    std::swap(coming_, coming); // whose memory is used again
    n_now_ = n_free;
    coming_now_ = 0;
    for (; next(coming_now_) <= now; ++coming_now_) {
        n_now_ += coming_[coming_now_].n_hosts;
    }
    find_horizon();
}

void LoadHorizon::find_horizon() {
    double left = load_;
    horizon_ = now_;
    n_horizon_ = n_now_;
    coming_horizon_ = coming_now_;
    while (horizon_ < infinity) {
        const double end = next(coming_horizon_);
        if (n_horizon_ > 0 && left <= n_horizon_ * (end - horizon_)) {
            horizon_ += left / n_horizon_;
            return;
        }
        left -= n_horizon_ > 0 ? n_horizon_ * (end - horizon_) : 0.0;
        horizon_ = end;
        if (end < infinity) {
            n_horizon_ += coming_[coming_horizon_++].n_hosts;
        }
    }
}

double LoadHorizon::advance(double time) {
    if (load_ == 0 || horizon_ == infinity) {
        const double lasted = std::exchange(now_, std::max(now_, time));
        return load_ == 0 || now_ == lasted ? 0.0 : infinity;
    }
    double integral = 0.0;
    while (now_ < time) {
        // The horizon moves on by what stays unused.
        const double speed = n_now_ / n_horizon_;
        double end = std::min(time, next(coming_now_));
        const bool passes_step =
            speed > 0 && now_ + (next(coming_horizon_) - horizon_) / speed < end;
        if (passes_step) {
            end = std::max(now_, now_ + (next(coming_horizon_) - horizon_) / speed);
        }
        const double moved = passes_step ? next(coming_horizon_) : horizon_ + speed * (end - now_);
        integral += ((horizon_ - now_) + (moved - end)) / 2 * (end - now_);
        horizon_ = moved;
        now_ = end;
        if (passes_step) {
            n_horizon_ += coming_[coming_horizon_++].n_hosts;
        }
        for (; next(coming_now_) <= now_; ++coming_now_) {
            n_now_ += coming_[coming_now_].n_hosts;
        }
    }
    return integral;
}

} // namespace noctule
