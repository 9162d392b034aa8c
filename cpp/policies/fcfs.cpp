// First come, first served: jobs start in the order of the queue; the first that does not fit
// holds back all others.
#include "policies/policies.hpp"
#include "policies/queue.hpp"

namespace noctule {

namespace {

class Fcfs final : public Policy {
  public:
    Fcfs(Order order, Allocation allocation) : queue_(std::move(order)), allocation_(allocation) {}

    void decide(const View& view, std::span<const Event> events, Decisions& decisions) override {
        queue_.follow(view, events);
        while (!queue_.empty() && fits(view, queue_.front().n_hosts, allocation_)) {
            decisions.start(queue_.front().job, allocation_);
            queue_.remove(queue_.first());
        }
    }

  private:
    JobQueue queue_;
    Allocation allocation_;
};

} // namespace

std::unique_ptr<Policy> make_fcfs(Order order, Allocation allocation) {
    return std::make_unique<Fcfs>(std::move(order), allocation);
}

} // namespace noctule
