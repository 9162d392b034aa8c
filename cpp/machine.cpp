#include "machine.hpp"

#include "errors.hpp"

#include <algorithm>
#include <limits>

namespace noctule {

namespace {

// Less than this of a task is nothing: tasks that end together do so although dates are rounded.
constexpr double nothing_left = 1e-14;
// A latency or a sleep with less left than so many seconds is over: SimGrid's precision of dates.
constexpr double instant = 1e-9;
// Where dates are rounded, tasks with so many roundings of the date left are over.
constexpr double n_roundings = 4;

} // namespace

Machine::Machine(std::shared_ptr<const MachinePlan> plan, const MachineOptions& options)
    : plan_(std::move(plan)), options_(options), network_(plan_->network), fluid_(options.sharing),
      ledger_(options.billing == Billing::none ? 0 : plan_->model_of.size(), plan_->n_billed),
      cursors_(plan_->availabilities.size()), use_of_host_(plan_->model_of.size(), 0) {
    hosts_.reserve(plan_->model_of.size());
    for (const std::uint32_t index : plan_->model_of) {
        const HostModel& model = plan_->models[index];
        hosts_.push_back({.state = model.state});
        fluid_.add_resource(model.speeds[model.state] * model.cores, false);
    }
    for (const Link& link : network_.links()) {
        fluid_.add_resource(link.bandwidth, link.fatpipe);
    }
    for (std::uint32_t i = 0; i < cursors_.size(); ++i) {
        schedule_availability(i);
        hosts_come_and_go_ |= plan_->availabilities[i].what == Availability::What::host;
    }
    apply_availabilities();
    for (HostId host = 0; host < hosts_.size(); ++host) {
        touch(host);
        least_watts_ += least_watts_of(host);
    }
}

double Machine::next_time() {
    if (n_live_ == 0 && !hosts_come_and_go_) {
        if (!touched_.empty()) {
            solve(); // what has ended draws nothing any more
        }
        return infinity;
    }
    solve();
    return std::min(dates_.top_date(), availability_dates_.top_date());
}

void Machine::advance_to(double time) {
    solve();
    while (availability_dates_.top_date() < time) { // nobody was there to be waited for
        now_ = availability_dates_.top_date();
        apply_availabilities();
        solve();
    }
    now_ = time;
    ended_.clear();
    spare_.insert(spare_.end(), leaving_.begin(), leaving_.end());
    leaving_.clear();
    apply_availabilities();
    gather_due();
    for (const ActivityId id : due_) {
        const Activity& activity = activities_[id];
        if (activity.is_sleep || activity.task != no_task || activity.has_failed ||
            activity.left == 0) {
            finish(id);
        } else {
            enable(id);
        }
    }
}

// How far apart dates are, where that matters.
double Machine::rounding() const {
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    return options_.rounds_dates ? n_roundings * epsilon * now_ : 0.0;
}

// What ends at one instant does so in the order in which it began; failures come first.
void Machine::gather_due() {
    due_.clear();
    dates_.for_each_early([&](ActivityId id, double date) {
        const bool due = is_due(id);
        if (due) {
            due_.push_back(id);
        }
        return due || date - now_ < std::max(instant, rounding());
    });
    if (due_.size() > 1) {
        std::ranges::sort(due_, {}, [&](ActivityId id) {
            return std::pair(!activities_[id].has_failed, activities_[id].sequence);
        });
    }
}

bool Machine::is_due(ActivityId id) const {
    const Activity& activity = activities_[id];
    const double left = activity.date - now_;
    if (activity.task == no_task) {
        return left < instant;
    }
    return left <= 0 || left * activity.rate < nothing_left || left < rounding();
}

void Machine::solve() {
    for (const TaskId task : fluid_.solve()) {
        const ActivityId id = activity_of_[task];
        Activity& activity = activities_[id];
        activity.left = left_of(activity);
        activity.since = now_;
        activity.rate = fluid_.rate(task);
        const bool goes_on = activity.left > 0 && !activity.has_failed;
        set_date(id, goes_on ? now_ + activity.left / activity.rate : now_);
        if (options_.billing != Billing::none) {
            std::ranges::for_each(activity.hosts, [&](HostId host) { touch(host); });
        }
    }
    settle_power();
}

double Machine::left_of(const Activity& activity) const {
    const double left = activity.left - activity.rate * (now_ - activity.since);
    return left < nothing_left ? 0.0 : left;
}

double Machine::remaining(ActivityId id) const {
    const Activity& activity = activities_[id];
    if (!activity.is_sleep) {
        return left_of(activity);
    }
    const double whole = activity.date - activity.since;
    return whole > 0 ? (activity.date - now_) / whole : 0.0;
}

ActivityId Machine::begin(std::span<const HostId> hosts, Token token) {
    ActivityId id = static_cast<ActivityId>(activities_.size());
    if (spare_.empty()) {
        activities_.emplace_back();
    } else {
        id = spare_.back();
        spare_.pop_back();
    }
    Activity& activity = activities_[id];
    activity.token = token;
    activity.sequence = sequence_++;
    activity.task = no_task;
    activity.is_live = true;
    activity.is_sleep = false;
    activity.n_latency_changes = n_latency_changes_;
    activity.has_failed =
        std::ranges::any_of(hosts, [&](HostId host) { return !hosts_[host].is_on; });
    activity.final_state = no_state;
    activity.left = 1.0;
    activity.since = now_;
    activity.rate = 0.0;
    activity.hosts.assign(hosts.begin(), hosts.end());
    activity.flops.clear();
    activity.flows.clear();
    activity.bytes_of_each = 0.0;
    activity.loads.clear();
    activity.latency_bytes = 0.0;
    ++n_live_;
    set_date(id, activity.has_failed ? now_ : infinity);
    return id;
}

void Machine::set_date(ActivityId id, double date) {
    activities_[id].date = date;
    dates_.put(id, date, activities_[id].sequence);
}

ActivityId Machine::sleep(HostId host, double seconds, Token token) {
    const ActivityId id = begin({&host, 1}, token);
    activities_[id].is_sleep = true;
    set_date(id, activities_[id].has_failed ? now_ : now_ + std::max(seconds, 0.0));
    return id;
}

ActivityId Machine::execute(HostId host, double flops, Token token) {
    bill_lazily(host);
    const ActivityId id = begin({&host, 1}, token);
    activities_[id].flops.push_back(flops);
    start_task(id, {});
    return id;
}

ActivityId Machine::send(HostId from, HostId to, double bytes, Token token) {
    const HostId ends[] = {from, to};
    const Flow flow{from, to, bytes};
    return transfer(ends, {&flow, 1}, token);
}

ActivityId Machine::transfer(std::span<const HostId> hosts, std::span<const Flow> flows,
                             Token token) {
    const ActivityId id = begin(hosts, token);
    activities_[id].flows.assign(flows.begin(), flows.end());
    start_task(id, traffic_of(activities_[id]));
    return id;
}

ActivityId Machine::run(std::span<const HostId> hosts, std::span<const double> flops,
                        std::span<const double> bytes, Token token) {
    const std::size_t n = hosts.size();
    if (n == 1) {
        if (flops.empty()) {
            throw InputError("a task on one host: got no flops, expected a number");
        }
        return execute(hosts[0], flops[0], token);
    }
    if (!flops.empty() && flops.size() != n) {
        throw InputError("a task on " + std::to_string(n) + " hosts: got " +
                         std::to_string(flops.size()) + " numbers of flops, expected " +
                         std::to_string(n));
    }
    if (!bytes.empty() && bytes.size() != n * n) {
        throw InputError("a task on " + std::to_string(n) + " hosts: got " +
                         std::to_string(bytes.size()) + " numbers of bytes, expected " +
                         std::to_string(n * n));
    }
    const ActivityId id = begin(hosts, token);
    Activity& activity = activities_[id];
    activity.flops.assign(flops.begin(), flops.end());
    for (std::size_t pair = 0; pair < bytes.size(); ++pair) {
        if (bytes[pair] > 0) {
            activity.flows.push_back({hosts[pair / n], hosts[pair % n], bytes[pair]});
        }
    }
    start_task(id, traffic_of(activity));
    return id;
}

ActivityId Machine::run_alike(std::span<const HostId> hosts, double flops, double bytes,
                              Token token) {
    if (hosts.size() == 1) {
        return execute(hosts[0], flops, token);
    }
    const ActivityId id = begin(hosts, token);
    Activity& activity = activities_[id];
    if (flops > 0) {
        activity.flops.assign(hosts.size(), flops);
    }
    activity.bytes_of_each = bytes;
    start_task(id, traffic_of(activity));
    return id;
}

Traffic Machine::traffic_of(const Activity& activity) {
    if (activity.bytes_of_each > 0) {
        return network_.all_to_all(activity.hosts, activity.bytes_of_each);
    }
    return activity.flows.empty() ? Traffic{} : network_.traffic(activity.flows);
}

void Machine::start_task(ActivityId id, const Traffic& traffic) {
    Activity& activity = activities_[id];
    activity.loads.assign(traffic.loads.begin(), traffic.loads.end());
    activity.latency_bytes = traffic.latency_bytes;
    for (const LinkLoad& load : activity.loads) {
        activity.has_failed |= !links_off_.empty() && links_off_[load.link];
    }
    const bool computes = std::ranges::any_of(activity.flops, [](double f) { return f > 0; });
    if (activity.has_failed) {
        set_date(id, now_);
    } else if (!computes && activity.loads.empty()) {
        activity.left = 0.0;
        set_date(id, now_);
    } else if (traffic.latency > 0) {
        set_date(id, now_ + traffic.latency);
    } else {
        enable(id);
    }
}

void Machine::enable(ActivityId id) {
    Activity& activity = activities_[id];
    if (activity.n_latency_changes != n_latency_changes_) {
        activity.latency_bytes = traffic_of(activity).latency_bytes;
    }
    gather_uses(activity);
    activity.since = now_;
    activity.task = fluid_.add(uses_, bound_of(activity));
    if (activity.task >= activity_of_.size()) {
        activity_of_.resize(activity.task + std::size_t{1});
    }
    activity_of_[activity.task] = id;
    set_date(id, infinity);
}

// Each executor is a user of its host; alike ones on one host are counted together.
void Machine::gather_uses(const Activity& activity) {
    uses_.clear();
    for (std::size_t i = 0; i < activity.flops.size(); ++i) {
        const HostId host = activity.hosts[i];
        const double weight = activity.flops[i];
        if (weight > 0) {
            std::uint32_t& known = use_of_host_[host];
            if (known != 0 && uses_[known - 1].weight == weight) {
                ++uses_[known - 1].count;
            } else {
                uses_.push_back({host, weight});
                known = static_cast<std::uint32_t>(uses_.size());
            }
        }
    }
    for (const Use& use : uses_) {
        use_of_host_[use.resource] = 0;
    }
    for (const LinkLoad& load : activity.loads) {
        uses_.push_back({resource_of(load.link), load.bytes});
    }
}

// An executor uses one core at most, and a flow a window of bytes a round trip.
double Machine::bound_of(const Activity& activity) const {
    double bound = infinity;
    for (std::size_t i = 0; i < activity.flops.size(); ++i) {
        if (activity.flops[i] > 0) {
            bound = std::min(bound, speed_of(activity.hosts[i]) / activity.flops[i]);
        }
    }
    if (activity.latency_bytes > 0) {
        bound = std::min(bound, plan_->tcp_window / (2.0 * activity.latency_bytes));
    }
    return bound;
}

void Machine::cancel(ActivityId id) {
    if (!activities_[id].is_live) { // it has ended at this very advance
        return;
    }
    bill_lazily(activities_[id]);
    leave(id);
    spare_.push_back(id);
}

void Machine::finish(ActivityId id) {
    const Activity& activity = activities_[id];
    if (!activity.has_failed) { // SimGrid bills the host that failed alone
        bill_lazily(activity);
    }
    const std::uint32_t final_state = activity.final_state;
    ended_.push_back({id, activity.token, activity.has_failed ? Ending::failed : Ending::done});
    leave(id);
    leaving_.push_back(id);
    if (final_state != no_state && ended_.back().how == Ending::done) {
        set_state(activity.hosts[0], final_state);
    }
}

void Machine::leave(ActivityId id) {
    Activity& activity = activities_[id];
    if (activity.task != no_task) {
        fluid_.remove(activity.task);
        activity.task = no_task;
    }
    for (const HostId host : activity.hosts) {
        touch(host);
    }
    dates_.remove(id);
    activity.is_live = false;
    --n_live_;
}

// Ends what uses something that is off.
void Machine::fail_if(auto uses_it) {
    for (ActivityId id = 0; id < activities_.size(); ++id) {
        if (activities_[id].is_live && uses_it(activities_[id])) {
            activities_[id].has_failed = true;
            set_date(id, now_);
        }
    }
}

void Machine::set_on(HostId host, bool is_on) {
    if (hosts_[host].is_on == is_on) {
        return;
    }
    bill_lazily(host);
    touch(host);
    hosts_[host].is_on = is_on;
    if (!is_on) {
        fail_if([&](const Activity& activity) {
            return std::ranges::find(activity.hosts, host) != activity.hosts.end();
        });
    }
}

void Machine::set_link_on(LinkId link, bool is_on) {
    links_off_.resize(network_.links().size(), false);
    links_off_[link] = !is_on;
    if (!is_on) {
        fail_if([&](const Activity& activity) {
            return std::ranges::any_of(activity.loads,
                                       [&](const LinkLoad& load) { return load.link == link; });
        });
    }
}

} // namespace noctule
