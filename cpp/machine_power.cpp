// Power states, changes of what hosts and links can do, and what the hosts draw.
#include "machine.hpp"

#include <algorithm>

namespace noctule {

double Machine::speed_of(HostId host) const {
    return model(host).speeds[hosts_[host].state] * hosts_[host].availability;
}

void Machine::refresh_host(HostId host) {
    fluid_.set_capacity(host, speed_of(host) * model(host).cores);
    refresh_bounds(host);
    touch(host);
}

void Machine::refresh_bounds(ResourceId resource) {
    fluid_.for_each_user(resource, [&](TaskId task) {
        fluid_.set_bound(task, bound_of(activities_[activity_of_[task]]));
    });
}

void Machine::set_state(HostId host, std::uint32_t state) {
    least_watts_ -= least_watts_of(host);
    hosts_[host].state = state;
    least_watts_ += least_watts_of(host);
    bill_lazily(host); // still in the state before
    refresh_host(host);
}

double Machine::least_watts_of(HostId host) const {
    const std::vector<Watts>& watts = model(host).watts;
    return host < plan_->n_billed && !watts.empty() ? watts[hosts_[host].state].epsilon : 0.0;
}

ActivityId Machine::switch_state(HostId host, std::uint32_t through, std::uint32_t state,
                                 Token token) {
    set_state(host, through);
    const ActivityId id = execute(host, 1.0, token);
    activities_[id].final_state = state;
    return id;
}

void Machine::set_bandwidth(LinkId link, double bandwidth) {
    network_.set_bandwidth(link, bandwidth);
    fluid_.set_capacity(resource_of(link), bandwidth);
}

// Tasks that run have paid their latency; only the window of their flows is another one now.
void Machine::set_latency(LinkId link, double latency) {
    network_.set_latency(link, latency);
    ++n_latency_changes_;
    fluid_.for_each_user(resource_of(link), [&](TaskId task) {
        Activity& activity = activities_[activity_of_[task]];
        activity.latency_bytes = traffic_of(activity).latency_bytes;
    });
    refresh_bounds(resource_of(link));
}

void Machine::apply(const Availability& change, double value) {
    switch (change.what) {
    case Availability::What::speed:
        if (now_ > 0) { // what holds from the beginning is no change
            bill_lazily(change.subject);
        }
        hosts_[change.subject].availability = value;
        refresh_host(change.subject);
        break;
    case Availability::What::host:
        if (hosts_[change.subject].is_on != (value > 0)) {
            set_on(change.subject, value > 0);
            toggled_.push_back(change.subject);
        }
        break;
    case Availability::What::bandwidth:
        set_bandwidth(change.subject, value);
        break;
    case Availability::What::latency:
        set_latency(change.subject, value);
        break;
    case Availability::What::link:
        set_link_on(change.subject, value > 0);
        break;
    }
}

void Machine::schedule_availability(std::uint32_t index) {
    const Availability& availability = plan_->availabilities[index];
    const Cursor& cursor = cursors_[index];
    const double date = cursor.offset + availability.points[cursor.next].time;
    availability_dates_.put(index, date, index);
}

void Machine::apply_availabilities() {
    while (availability_dates_.top_date() <= now_) {
        const std::uint32_t index = availability_dates_.top();
        const Availability& availability = plan_->availabilities[index];
        Cursor& cursor = cursors_[index];
        apply(availability, availability.points[cursor.next].value);
        if (++cursor.next == availability.points.size()) {
            cursor.next = 0;
            cursor.offset += availability.period;
        }
        if (cursor.offset < infinity) {
            schedule_availability(index);
        } else {
            availability_dates_.remove(index);
        }
    }
}

void Machine::touch(HostId host) {
    if (options_.billing != Billing::none && !hosts_[host].is_touched) {
        hosts_[host].is_touched = true;
        touched_.push_back(host);
    }
}

void Machine::settle_power() {
    if (options_.billing == Billing::exact) {
        for (const HostId host : touched_) {
            ledger_.set(host, now_, watts(host), spending(host));
        }
    }
    for (const HostId host : touched_) {
        hosts_[host].is_touched = false;
    }
    touched_.clear();
}

double Machine::watts(HostId host) const {
    const HostStatus& status = hosts_[host];
    return watts_in(host, options_.billing == Billing::lazy ? status.billed_state : status.state);
}

double Machine::watts_in(HostId host, std::uint32_t state) const {
    const HostModel& kind = model(host);
    if (!hosts_[host].is_on) {
        return kind.watts_off;
    }
    if (kind.watts.empty()) {
        return 0.0;
    }
    const double speed = kind.speeds[state] * kind.cores;
    return kind.watts[state].at(speed > 0 ? std::min(1.0, fluid_.usage(host) / speed) : 1.0);
}

Spending Machine::spending(HostId host) const {
    const StateKind kind = model(host).kinds[hosts_[host].state];
    if (!hosts_[host].is_on || kind == StateKind::sleeping) {
        return Spending::sleeping;
    }
    if (kind == StateKind::switching) {
        return Spending::switching;
    }
    return fluid_.usage(host) > 0 ? Spending::computing : Spending::idle;
}

void Machine::bill_lazily(HostId host) {
    if (options_.billing == Billing::lazy) {
        HostStatus& status = hosts_[host];
        ledger_.bill(host, now_, watts_in(host, status.billed_state), spending(host));
        status.billed_state = status.state;
    }
}

void Machine::bill_lazily(const Activity& activity) {
    if (options_.billing == Billing::lazy) {
        for (const HostId host : activity.hosts) {
            bill_what_is_due(host);
        }
    }
}

// Where no time has passed, SimGrid does not even look at the power state.
void Machine::bill_what_is_due(HostId host) {
    if (now_ > ledger_.since(host)) {
        bill_lazily(host);
    }
}

double Machine::joules(HostId host) {
    bill_what_is_due(host);
    return ledger_.joules(host, now_);
}

// Whoever asks SimGrid for the energy of hosts makes it bill them.
double Machine::total_joules() {
    if (options_.billing != Billing::lazy) {
        return ledger_.total_joules(now_);
    }
    double total = 0.0;
    for (HostId host = 0; host < plan_->n_billed; ++host) {
        total += joules(host);
    }
    return total;
}

Joules Machine::spent(HostId host) {
    bill_what_is_due(host);
    return ledger_.spent(host, now_);
}

} // namespace noctule
