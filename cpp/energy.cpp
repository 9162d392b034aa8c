#include "energy.hpp"

#include <cmath>
#include <numeric>

namespace noctule {

void EnergyLedger::set(HostId host, double now, double watts, Spending spending) {
    Account& account = hosts_[host];
    bill(host, now, account.watts, account.spending);
    if (host < n_counted_ && watts != account.watts) {
        joules_ = total_joules(now);
        since_ = now;
        add_watts(watts - account.watts);
    }
    account.watts = watts;
    account.spending = spending;
}

// Neumaier's sum: hosts change their watts too often for a plain one.
void EnergyLedger::add_watts(double change) {
    const double sum = watts_ + change;
    watts_error_ +=
        std::abs(watts_) >= std::abs(change) ? (watts_ - sum) + change : (change - sum) + watts_;
    watts_ = sum;
}

void EnergyLedger::bill(HostId host, double now, double watts, Spending spending) {
    Account& account = hosts_[host];
    account.joules[static_cast<std::size_t>(spending)] += watts * (now - account.since);
    account.since = now;
}

void EnergyLedger::add(HostId host, const Joules& joules) {
    for (std::size_t what = 0; what < n_spendings; ++what) {
        hosts_[host].joules[what] += joules[what];
    }
}

Joules EnergyLedger::spent(HostId host, double now) const {
    const Account& account = hosts_[host];
    Joules joules = account.joules;
    joules[static_cast<std::size_t>(account.spending)] += account.watts * (now - account.since);
    return joules;
}

double EnergyLedger::joules(HostId host, double now) const {
    const Joules parts = spent(host, now);
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

} // namespace noctule
