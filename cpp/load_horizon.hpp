// The liquid load horizon: how long the waiting load would take if it were a liquid.
//
// The load (hosts x walltime of all waiting jobs) is poured over the hosts that are free, from now
// on or from known later dates on; the horizon is how far it reaches. Poquet's thesis (Grenoble
// 2017), section 7.4.1. While nothing happens it falls, along straight lines: what is free and
// unused is lost, and all else comes nearer. So its integral is exact.
#pragma once

#include "types.hpp"

#include <cstddef>
#include <vector>

namespace noctule {

// Hosts that come free at a date.
struct ComingHosts {
    double time;
    std::uint32_t n_hosts;
};

class LoadHorizon {
  public:
    // What is known now. Hosts that come are sorted by date; those of the past are free.
    void restart(double now, double load, std::uint32_t n_free, std::vector<ComingHosts>& coming);

    double now() const { return now_; }
    // In seconds; zero without a load, infinity if no host will ever be free.
    double value() const { return load_ > 0 ? horizon_ - now_ : 0.0; }

    // Goes on to a date, with nothing but time passing; returns the integral of the value.
    double advance(double time);

  private:
    void find_horizon();
    double next(std::size_t step) const {
        return step < coming_.size() ? coming_[step].time : infinity;
    }

    double now_ = 0.0;
    double load_ = 0.0;
    double horizon_ = 0.0; // the date at which the load is done
    std::vector<ComingHosts> coming_;
    std::size_t coming_now_ = 0;     // the first step after now
    std::size_t coming_horizon_ = 0; // the first step after the horizon
    double n_now_ = 0.0;             // hosts free now
    double n_horizon_ = 0.0;         // and at the horizon
};

} // namespace noctule
