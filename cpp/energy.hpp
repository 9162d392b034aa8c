// Watts now and joules so far, host by host and in all.
#pragma once

#include "types.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace noctule {

// Of a host in one power state: idle without load, otherwise between epsilon and computing.
struct Watts {
    double idle = 0.0;
    double epsilon = 0.0;
    double computing = 0.0;

    double at(double load) const {
        return load > 0 ? epsilon + load * (computing - epsilon) : idle;
    }
};

// What a host spends its energy on.
enum class Spending : std::uint8_t { idle, computing, switching, sleeping };
inline constexpr std::size_t n_spendings = 4;
using Joules = std::array<double, n_spendings>;

class EnergyLedger {
  public:
    // The first hosts count in totals.
    EnergyLedger(std::size_t n_hosts, std::size_t n_counted)
        : hosts_(n_hosts), n_counted_(n_counted) {}

    // From `now` on; the time since the last change is billed at the old watts.
    void set(HostId host, double now, double watts, Spending spending);
    // The time since the last bill is billed at these watts, whatever they were meanwhile.
    void bill(HostId host, double now, double watts, Spending spending);

    // What was drawn besides.
    void add(HostId host, const Joules& joules);

    double since(HostId host) const { return hosts_[host].since; } // the last bill
    double joules(HostId host, double now) const;
    Joules spent(HostId host, double now) const;
    double total_watts() const { return watts_ + watts_error_; }
    double total_joules(double now) const { return joules_ + total_watts() * (now - since_); }

  private:
    struct Account {
        double watts = 0.0;
        double since = 0.0;
        Spending spending = Spending::idle;
        Joules joules = {};
    };

    void add_watts(double change);

    std::vector<Account> hosts_;
    std::size_t n_counted_;
    // Of all that count.
    double joules_ = 0.0;
    double since_ = 0.0;
    double watts_ = 0.0;
    double watts_error_ = 0.0; // what rounding has left out of the sum
};

} // namespace noctule
