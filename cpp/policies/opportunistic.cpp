#include "policies/opportunistic.hpp"

#include "policies/idle_hosts.hpp"

#include <algorithm>
#include <map>

namespace noctule {

namespace {

class Opportunistic final : public Policy {
  public:
    Opportunistic(std::unique_ptr<Policy> policy, double t_idle, ShutdownWindow window)
        : policy_(std::move(policy)), t_idle_(t_idle), window_(window) {}

    void decide(const View& view, std::span<const Event> events, Decisions& decisions) override {
        idle_.follow(view, events);
        decide_inside(view, events, decisions);
        if (view.now() >= window_.begin && view.now() < window_.end) {
            tired_.clear();
            idle_.take(view, t_idle_, [&](HostId host) { tired_.push_back(host); });
            switch_off(view, tired_, decisions);
        }
        set_timer(view, decisions);
    }

    bool wakes_hosts() const override { return true; }
    std::vector<std::string> warnings() const override { return policy_->warnings(); }

  private:
    static bool is_ours(const Event& event) {
        return event.kind == EventKind::timer_fired && event.subject == idle_timer;
    }

    // Jobs come first: those that start now may use hosts that are due to be switched off.
    void decide_inside(const View& view, std::span<const Event> events, Decisions& decisions) {
        if (std::ranges::none_of(events, is_ours)) {
            policy_->decide(view, events, decisions);
            return;
        }
        timer_is_set_ = false;
        others_.clear();
        std::ranges::remove_copy_if(events, std::back_inserter(others_), is_ours);
        if (!others_.empty()) {
            policy_->decide(view, others_, decisions);
        }
    }

    // Hosts become due in the order in which they became idle, so that one timer is enough.
    void set_timer(const View& view, Decisions& decisions) {
        if (timer_is_set_) {
            return;
        }
        const double due = std::max(idle_.oldest(view) + t_idle_, window_.begin);
        if (due < window_.end) {
            decisions.call_at(due, idle_timer);
            timer_is_set_ = true;
        }
    }

    std::unique_ptr<Policy> policy_;
    double t_idle_;
    ShutdownWindow window_;
    IdleHosts idle_;
    bool timer_is_set_ = false;
    std::vector<Event> others_;
    std::vector<HostId> tired_;
};

} // namespace

std::unique_ptr<Policy> make_opportunistic(std::unique_ptr<Policy> policy, double t_idle,
                                           ShutdownWindow window) {
    return std::make_unique<Opportunistic>(std::move(policy), t_idle, window);
}

void switch_off(const View& view, std::vector<HostId>& hosts, Decisions& decisions) {
    std::ranges::sort(hosts);
    std::map<std::uint32_t, HostSet> by_state;
    for (const HostId host : hosts) {
        by_state[view.sleep_state(host)].append({host, host});
    }
    for (const auto& [state, sleepers] : by_state) {
        decisions.set_power_state(sleepers, state);
    }
}

} // namespace noctule
