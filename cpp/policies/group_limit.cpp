// Refuses jobs that no group of hosts can ever hold: under a policy that keeps every job in one
// group they would wait for ever, and all others behind them.
#include "policies/policies.hpp"

#include <algorithm>

namespace noctule {

namespace {

class GroupLimit final : public Policy {
  public:
    explicit GroupLimit(std::unique_ptr<Policy> policy) : policy_(std::move(policy)) {}

    void decide(const View& view, std::span<const Event> events, Decisions& decisions) override {
        const std::uint32_t most = view.hierarchy().largest();
        const auto is_refused = [&](const Event& event) {
            return (event.kind == EventKind::job_submitted ||
                    event.kind == EventKind::job_cancelled) &&
                   view.n_hosts(event.subject) > most;
        };
        if (std::ranges::none_of(events, is_refused)) {
            policy_->decide(view, events, decisions);
            return;
        }
        others_.clear();
        std::ranges::remove_copy_if(events, std::back_inserter(others_), is_refused);
        for (const Event& event : events) {
            if (is_refused(event) && event.kind == EventKind::job_submitted &&
                view.is_waiting(event.subject)) {
                decisions.reject(event.subject);
            }
        }
        policy_->decide(view, others_, decisions);
    }

    bool wakes_hosts() const override { return policy_->wakes_hosts(); }
    std::vector<std::string> warnings() const override { return policy_->warnings(); }

  private:
    std::unique_ptr<Policy> policy_;
    std::vector<Event> others_;
};

} // namespace

std::unique_ptr<Policy> make_group_limit(std::unique_ptr<Policy> policy) {
    return std::make_unique<GroupLimit>(std::move(policy));
}

} // namespace noctule
