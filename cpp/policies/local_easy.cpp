// EASY backfilling where every job lies in one group of hosts.
//
// The reservation is for hosts of one group, the first that can hold the job. A later job that
// would outlast the shadow may use any other group, and of that one the extra hosts.
#include "policies/policies.hpp"
#include "policies/queue.hpp"

#include <algorithm>

namespace noctule {

namespace {

class LocalEasy final : public Policy {
  public:
    explicit LocalEasy(Order order) : queue_(std::move(order)) {}

    void decide(const View& view, std::span<const Event> events, Decisions& decisions) override {
        queue_.follow(view, events);
        if (queue_.empty()) {
            return;
        }
        count_free(view);
        while (!queue_.empty()) {
            const QueuedJob first = queue_.front();
            const auto group = find([&](Group g) { return free_[g] >= first.n_hosts; });
            if (!group) {
                backfill(view, decisions);
                return;
            }
            start(view, first, *group, decisions);
            queue_.remove(queue_.first());
        }
    }

  private:
    using Group = Hierarchy::Group;

    struct Reservation {
        double time = infinity; // never, if a running job has no walltime
        std::optional<Group> group = {};
        std::uint32_t extra = 0; // hosts of the group that are left over then
    };

    void count_free(const View& view) {
        free_.resize(view.hierarchy().n_groups());
        for (Group group = 0; group < free_.size(); ++group) {
            free_[group] = view.free_hosts().count(view.hierarchy().hosts(group));
        }
    }

    template <typename Condition> std::optional<Group> find(Condition&& holds) const {
        for (Group group = 0; group < free_.size(); ++group) {
            if (holds(group)) {
                return group;
            }
        }
        return std::nullopt;
    }

    void start(const View& view, const QueuedJob& job, Group group, Decisions& decisions) {
        const HostSet& hosts = view.hierarchy().hosts(group);
        decisions.start(job.job, view.first_free_of(hosts, job.n_hosts));
        free_[group] -= job.n_hosts;
        if (job.job >= group_of_job_.size()) {
            group_of_job_.resize(job.job + std::size_t{1});
        }
        group_of_job_[job.job] = group;
    }

    Reservation reserve(const View& view, std::uint32_t n) const {
        std::vector<std::uint32_t> free = free_;
        Reservation found;
        double time = view.now();
        view.releases().for_each([&](const Release& release) {
            if (found.group && release.time > time) {
                return;
            }
            time = std::max(time, release.time);
            const Group group = group_of_job_[release.job];
            free[group] += release.n_hosts;
            if (free[group] >= n && (!found.group || group <= *found.group)) {
                found = {time, group, 0};
            }
        });
        if (found.group) {
            found.extra = free[*found.group] - n;
        }
        return found;
    }

    void backfill(const View& view, Decisions& decisions) {
        Reservation reservation = reserve(view, queue_.front().n_hosts);
        Window window{view.now(), reservation.time, 0, 0};
        const auto search = [&](JobQueue::Position from) {
            window.n_free = window.extra = *std::ranges::max_element(free_);
            return queue_.find(from, window);
        };
        auto position = search(queue_.after(queue_.first()));
        while (queue_.valid(position) && window.n_free > 0) {
            const QueuedJob job = queue_.at(position);
            const bool in_time = window.ends_in_time(job.walltime);
            const auto group = find([&](Group g) {
                return free_[g] >= job.n_hosts &&
                       (in_time || g != reservation.group || reservation.extra >= job.n_hosts);
            });
            if (!group) {
                position = search(queue_.after(position));
                continue;
            }
            start(view, job, *group, decisions);
            if (!in_time && group == reservation.group) {
                reservation.extra -= job.n_hosts;
            }
            position = search(queue_.remove(position));
        }
    }

    JobQueue queue_;
    std::vector<std::uint32_t> free_; // hosts by group
    std::vector<Group> group_of_job_; // of those that were started
};

} // namespace

std::unique_ptr<Policy> make_local_easy(Order order) {
    return std::make_unique<LocalEasy>(std::move(order));
}

} // namespace noctule
