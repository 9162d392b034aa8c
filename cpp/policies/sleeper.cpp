// One job at a time; all hosts that it does not use sleep.
//
// Batsched's `sleeper`, made to test power states: all hosts are switched off before any job is
// looked at, and a job begins once its hosts are awake, which are those that the job before has
// left, and the lowest of the others.
#include "policies/opportunistic.hpp"
#include "policies/policies.hpp"
#include "policies/queue.hpp"

namespace noctule {

namespace {

class Sleeper final : public Policy {
  public:
    Sleeper(Order order, Allocation allocation)
        : queue_(std::move(order)), allocation_(allocation) {}

    void decide(const View& view, std::span<const Event> events, Decisions& decisions) override {
        queue_.follow(view, events);
        if (!events.empty() && events.front().kind == EventKind::simulation_started) {
            let_sleep(view, decisions);
        }
        if (!queue_.empty() && view.releases().empty() &&
            fits(view, queue_.front().n_hosts, allocation_)) {
            decisions.start(queue_.front().job, allocation_);
            queue_.remove(queue_.first());
        }
        let_sleep(view, decisions);
    }

    bool wakes_hosts() const override { return true; }

  private:
    static void let_sleep(const View& view, Decisions& decisions) {
        std::vector<HostId> unused;
        const HostSet awake = view.awake_free_hosts().to_host_set();
        for (const Interval& run : awake.intervals()) {
            for (HostId host = run.first; host <= run.last; ++host) {
                unused.push_back(host);
            }
        }
        switch_off(view, unused, decisions);
    }

    JobQueue queue_;
    Allocation allocation_;
};

} // namespace

std::unique_ptr<Policy> make_sleeper(PolicySetup setup) {
    return std::make_unique<Sleeper>(std::move(setup.order), setup.allocation);
}

} // namespace noctule
