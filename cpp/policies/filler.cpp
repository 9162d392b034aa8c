// Filler: every job that fits starts, in the order of the queue; nothing is held back for anyone,
// so large jobs can starve.
#include "policies/policies.hpp"
#include "policies/queue.hpp"

namespace noctule {

namespace {

class Filler final : public Policy {
  public:
    Filler(Order order, Allocation allocation)
        : queue_(std::move(order)), allocation_(allocation) {}

    void decide(const View& view, std::span<const Event> events, Decisions& decisions) override {
        queue_.follow(view, events);
        if (queue_.empty() || view.n_free() == 0) {
            return;
        }
        Window window{view.now(), infinity, view.n_free(), view.n_free()};
        auto position = queue_.find(queue_.first(), window);
        while (queue_.valid(position)) {
            const QueuedJob job = queue_.at(position);
            if (fits(view, job.n_hosts, allocation_)) {
                decisions.start(job.job, allocation_);
                window.n_free = window.extra = view.n_free();
                position = queue_.remove(position);
                if (window.n_free == 0) {
                    return;
                }
            } else {
                position = queue_.after(position);
            }
            position = queue_.find(position, window);
        }
    }

  private:
    JobQueue queue_;
    Allocation allocation_;
};

} // namespace

std::unique_ptr<Policy> make_filler(Order order, Allocation allocation) {
    return std::make_unique<Filler>(std::move(order), allocation);
}

} // namespace noctule
