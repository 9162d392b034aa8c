// Where jobs can start now, and where the first waiting one will, around windows of time.
//
// Hosts that are free now are held by nobody, so that only a reservation asks when running jobs
// give theirs back. It counts hosts as long as no window comes near, and names them otherwise.
#pragma once

#include "host_plan.hpp"
#include "policy.hpp"

namespace noctule {

class WindowPlaces {
  public:
    using Request = HostPlan::Request;

    // What a waiting job has reserved.
    struct Held {
        double start = infinity;
        double end = infinity;
        HostSet hosts = {};         // of those that are usable now, at least
        std::uint32_t n_lowest = 0; // of the hosts that are free now, instead of names

        bool meets(double from, double to) const {
            return end > from && (start <= from || start < to);
        }
    };

    explicit WindowPlaces(Allocation allocation) : allocation_(allocation) {}

    // Whether neither a window nor the reservation comes in the way of a job that starts now.
    bool is_clear(const View& view, const Request& request, const Held& held) const;

    // Those of the usable hosts on which a job can start now.
    std::optional<HostSet> fit_now(const View& view, const Request& request,
                                   const FreeHosts& usable, const Held& held) const;

    // The earliest place of a job that cannot start now. Where any hosts will do, those that are
    // usable now come last.
    Held reserve(const View& view, const Request& request, const FreeHosts& usable) const;

  private:
    std::optional<Held> reserve_by_number(const View& view, const Request& request) const;
    Held reserve_by_name(const View& view, const Request& request, const FreeHosts& usable) const;
    HostSet choose(const Hierarchy& hierarchy, FreeHosts among, std::uint32_t n,
                   const FreeHosts& usable) const;

    Allocation allocation_;
};

} // namespace noctule
