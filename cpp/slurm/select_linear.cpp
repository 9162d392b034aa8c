// select/linear: whole nodes, chosen as runs of neighbours; jobs share a node only where their
// partition lets them.
#include "slurm/best_fit.hpp"
#include "slurm/ends.hpp"
#include "slurm/select.hpp"
#include "slurm/tree_fit.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <unordered_map>
#include <utility>

namespace noctule::slurm {

namespace {

class Linear final : public Select {
  public:
    Linear(const Settings& settings, const NodeStates& states)
        : settings_(settings), states_(states), fit_(settings.nodes),
          tree_(settings.nodes, settings.switches), free_(settings.n_nodes(), true),
          n_jobs_(settings.nodes.size(), 0), taken_alone_(settings.nodes.size(), 0),
          ends_(settings.n_nodes()), offered_(settings.n_nodes()), chosen_(settings.n_nodes()) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, NodeSet> lines, weights;
        for (NodeIndex i = 0; i < settings.n_nodes(); ++i) {
            const Node& node = settings.nodes[i];
            lines.try_emplace({node.weight, node.line}, settings.n_nodes()).first->second.add(i);
            weights.try_emplace({node.weight, 0U}, settings.n_nodes()).first->second.add(i);
        }
        std::ranges::copy(std::views::values(lines), std::back_inserter(lines_));
        std::ranges::copy(std::views::values(weights), std::back_inserter(weights_));
    }

    std::optional<Choice> run_now(const Trial& trial) override;
    std::optional<Prediction> will_run(const Trial& trial, Seconds now, bool now_only) override;
    bool predicts_ends() const override { return true; }
    std::uint32_t most_by(const Trial& trial, Seconds date) override;
    std::optional<Choice> run_without(const Trial& trial) override;
    bool goes_over_nodes() const override { return true; }
    bool could_ever_run(const Trial& trial) override {
        return fits(trial.candidates, need_of(trial));
    }
    bool has_busy(const Trial& trial) const override;

    void allocate(JobIndex job, const Request&, const Choice& choice,
                  Seconds expected_end) override;
    void release(JobIndex job) override;
    void set_expected_end(JobIndex job, Seconds expected_end) override;
    const NodeSet& idle() const override { return free_; }
    std::uint64_t take_prediction_steps() override { return std::exchange(n_steps_, 0); }

  private:
    struct Running {
        SparseNodes sparse;
        NodeSet nodes;
        Seconds end;
        bool alone;
    };

    // Nodes for the job into `chosen_`; false if those offered are not enough.
    bool fits(const NodeSet& offered, const NodeNeed& need) {
        return tree_.has_switches() ? tree_.choose(offered, need, chosen_)
                                    : fit_.choose(offered, need, chosen_);
    }
    NodeNeed need_of(const Trial& trial) const;
    bool choose_by_weight(const NodeNeed& need, bool shares);
    bool shares(const Trial& trial) const;
    std::uint32_t jobs_a_node(const Trial& trial) const;
    void offer_without(const Trial& trial);
    Choice choice_of(bool is_shared) const;
    std::optional<Prediction> predict(const NodeNeed& need, const Trial& trial, Seconds now);

    const Settings& settings_;
    const NodeStates& states_;
    BestFit fit_;
    TreeFit tree_;
    std::vector<NodeSet> lines_, weights_; // nodes that are tried together, lowest weights first
    NodeSet free_;                         // nodes without any job
    std::vector<std::uint16_t> n_jobs_;
    std::vector<std::uint16_t> taken_alone_; // jobs there that share with nobody
    std::unordered_map<JobIndex, Running> running_;
    ExpectedEnds ends_;
    std::vector<std::uint16_t> n_left_; // jobs on nodes, without those that make way
    NodeSet offered_, chosen_;          // kept to save allocations
    std::uint64_t n_steps_ = 0;
};

NodeNeed Linear::need_of(const Trial& trial) const {
    const Request& request = trial.request;
    NodeNeed need{.min_nodes = trial.min_nodes,
                  .wanted_nodes = trial.max_nodes,
                  .max_nodes = std::max(trial.max_nodes, trial.min_nodes)};
    need.cpus = std::max({std::int64_t{request.min_cpus},
                          std::int64_t{request.tasks} * request.cpus_per_task,
                          std::int64_t{trial.min_nodes}});
    // Without a bound of its own a job may take as many nodes as its CPUs need.
    if (request.max_nodes == 0) {
        need.max_nodes = std::max(need.max_nodes, std::min(trial.partition.max_nodes, no_bound));
    }
    need.contiguous = request.contiguous;
    need.required = request.required.n_nodes() > 0 ? &request.required : nullptr;
    return need;
}

bool Linear::shares(const Trial& trial) const {
    const Oversubscribe oversubscribe = trial.partition.oversubscribe;
    return oversubscribe == Oversubscribe::force ||
           (oversubscribe == Oversubscribe::yes && trial.request.oversubscribe &&
            !trial.request.exclusive);
}

bool Linear::has_busy(const Trial& trial) const {
    bool found = trial.candidates.intersects(states_.completing);
    trial.candidates.for_each([&](NodeIndex node) {
        found |= shares(trial) ? taken_alone_[node] > 0 : n_jobs_[node] > 0;
    });
    return found;
}

// How many jobs may be on a node that this one goes to.
std::uint32_t Linear::jobs_a_node(const Trial& trial) const {
    return shares(trial) ? std::max(trial.partition.oversubscribe_jobs, 1U) : 1;
}

// From `offered_` into `chosen_`: nodes of the lowest weights that are enough. Those of one line of
// the configuration come before those of the next; they are taken together only where more than
// idleness tells nodes apart.
bool Linear::choose_by_weight(const NodeNeed& need, bool shares) {
    const bool together =
        shares || tree_.has_switches() || settings_.parameters.preempt_type != PreemptType::none;
    const std::vector<NodeSet>& sets = together ? weights_ : lines_;
    if (sets.size() == 1) {
        return offered_.count() >= need.min_nodes && fits(offered_, need);
    }
    NodeSet gathered(settings_.n_nodes());
    for (std::size_t i = 0; i < sets.size(); ++i) {
        gathered |= sets[i] & offered_;
        const std::uint32_t n = gathered.count();
        const bool last = i + 1 == sets.size();
        if (n < need.min_nodes || (n < need.wanted_nodes && !last)) {
            continue;
        }
        if (fits(gathered, need)) {
            return true;
        }
    }
    return false;
}

std::optional<Choice> Linear::run_now(const Trial& trial) {
    const NodeNeed need = need_of(trial);
    const std::uint32_t most = jobs_a_node(trial);
    for (std::uint32_t n = 0; n < most; ++n) { // least shared first
        offered_.assign_common(trial.candidates, free_);
        if (n > 0) {
            trial.candidates.for_each([&](NodeIndex node) {
                if (n_jobs_[node] <= n && taken_alone_[node] == 0) {
                    offered_.add(node);
                }
            });
        }
        offered_ -= states_.completing;
        if (!choose_by_weight(need, shares(trial))) {
            continue;
        }
        return choice_of(most > 1);
    }
    return std::nullopt;
}

Choice Linear::choice_of(bool is_shared) const {
    Choice choice{
        .nodes = chosen_, .hosts = {}, .cpus = 0, .whole_nodes = false, .is_shared = is_shared};
    chosen_.for_each([&](NodeIndex index) {
        const Node& node = settings_.nodes[index];
        choice.cpus += node.cpus;
        choice.hosts.append({node.first_host, node.first_host + node.n_hosts - 1});
    });
    return choice;
}

std::optional<Prediction> Linear::will_run(const Trial& trial, Seconds now, bool now_only) {
    const NodeNeed need = need_of(trial);
    offered_.assign_common(trial.candidates, free_);
    if (const std::uint32_t most = jobs_a_node(trial); most > 1) {
        trial.candidates.for_each([&](NodeIndex node) {
            if (n_jobs_[node] < most && taken_alone_[node] == 0) {
                offered_.add(node);
            }
        });
    }
    if (offered_.count() >= need.min_nodes && fits(offered_, need)) {
        return Prediction{now, chosen_};
    }
    if (!trial.gone.empty() || !trial.over.empty()) {
        offer_without(trial);
        if (offered_.count() >= need.min_nodes && fits(offered_, need)) {
            return Prediction{now, chosen_};
        }
    }
    if (now_only) {
        return std::nullopt;
    }
    return predict(need, trial, now);
}

// Nodes that have no job but such as make way, into `offered_`.
void Linear::offer_without(const Trial& trial) {
    n_left_ = n_jobs_;
    offered_ = free_;
    for (const std::span<const JobIndex> jobs : {trial.gone, trial.over}) {
        for (const JobIndex job : jobs) {
            running_.at(job).nodes.for_each([&](NodeIndex node) {
                if (--n_left_[node] == 0) {
                    offered_.add(node);
                }
            });
        }
    }
    offered_ &= trial.candidates;
}

std::optional<Choice> Linear::run_without(const Trial& trial) {
    offer_without(trial);
    offered_ -= states_.completing;
    return choose_by_weight(need_of(trial), shares(trial))
               ? std::optional(choice_of(jobs_a_node(trial) > 1))
               : std::nullopt;
}

std::uint32_t Linear::most_by(const Trial& trial, Seconds date) {
    if (jobs_a_node(trial) > 1) {
        return none;
    }
    const std::size_t n = ends_.n_by(date);
    offered_.assign_common(trial.candidates, free_);
    return n == 0 ? offered_.count()
                  : offered_.count_with_common(ends_.nodes_of_first(n), trial.candidates);
}

// Adds the nodes of running jobs to `offered_` in the order of their expected ends, until it fits.
// Those that leave too few nodes are passed over at once.
std::optional<Prediction> Linear::predict(const NodeNeed& need, const Trial& trial, Seconds now) {
    const std::vector<ExpectedEnds::Entry>& entries = ends_.entries();
    const std::size_t n_jobs = ends_.n_by(trial.latest);
    const auto are_too_few = [&](std::size_t n) {
        return offered_.count_with_common(ends_.nodes_of_first(n), trial.candidates) <
               need.min_nodes;
    };
    const auto counts = std::views::iota(std::size_t{1}, n_jobs + 1);
    std::size_t n = *std::ranges::partition_point(counts, are_too_few);
    if (n <= n_jobs) {
        offered_ |= ends_.nodes_of_first(n);
    }
    for (; n <= n_jobs; ++n) {
        const ExpectedEnds::Entry& entry = entries[n - 1];
        if (entry.nodes->count_common(trial.candidates) == 0) {
            continue;
        }
        entry.nodes->add_to(offered_);
        offered_ &= trial.candidates;
        if (fits(offered_, need)) {
            n_steps_ += n;
            return Prediction{entry.end <= now ? now + 1 : entry.end, chosen_};
        }
    }
    n_steps_ += n_jobs;
    return std::nullopt;
}

void Linear::allocate(JobIndex job, const Request&, const Choice& choice, Seconds expected_end) {
    const bool alone = !choice.is_shared;
    const auto [found, _] = running_.insert_or_assign(
        job, Running{SparseNodes(choice.nodes), choice.nodes, expected_end, alone});
    free_ -= choice.nodes;
    choice.nodes.for_each([&](NodeIndex node) {
        ++n_jobs_[node];
        taken_alone_[node] = static_cast<std::uint16_t>(taken_alone_[node] + (alone ? 1 : 0));
    });
    ends_.add({expected_end, job, &found->second.sparse});
}

void Linear::release(JobIndex job) {
    const auto found = running_.find(job);
    const Running& running = found->second;
    running.nodes.for_each([&](NodeIndex node) {
        taken_alone_[node] =
            static_cast<std::uint16_t>(taken_alone_[node] - (running.alone ? 1 : 0));
        if (--n_jobs_[node] == 0) {
            free_.add(node);
        }
    });
    ends_.remove(running.end, job);
    running_.erase(found);
}

void Linear::set_expected_end(JobIndex job, Seconds expected_end) {
    Running& running = running_.at(job);
    ends_.remove(running.end, job);
    running.end = expected_end;
    ends_.add({expected_end, job, &running.sparse});
}

} // namespace

std::unique_ptr<Select> make_select_linear(const Settings& settings, const NodeStates& states) {
    return std::make_unique<Linear>(settings, states);
}

} // namespace noctule::slurm
