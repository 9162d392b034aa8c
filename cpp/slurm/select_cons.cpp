#include "slurm/select_cons.hpp"

#include "slurm/select_needs.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace noctule::slurm {

SelectCons::SelectCons(const Settings& settings, const NodeStates& states)
    : settings_(settings), states_(states), empty_(settings), book_(settings), future_(settings),
      row_(settings), shares_cores_(shares_cores(settings)) {}

std::uint32_t SelectCons::cpus_per_core(NodeIndex node) const {
    return std::max(1U, settings_.nodes[node].cpus / std::max(1U, book_.n_cores(node)));
}

SelectCons::Needs SelectCons::needs(const Trial& trial) const {
    const SelectParameters& parameters = settings_.parameters.select;
    const Request& request = trial.request;
    const Partition& partition = trial.partition;
    Needs needs{.demand = {},
                .request = request,
                .partition = static_cast<std::uint32_t>(&partition - settings_.partitions.data()),
                .max_cpus_of_a_node = partition.max_cpus_per_node};
    needs.counts_memory = parameters.memory;
    if (!request.all_memory) {
        const bool is_told = request.memory_mb > 0;
        needs.memory_mb = is_told ? request.memory_mb : partition.default_memory_mb;
        needs.memory_is_per_cpu =
            is_told ? request.memory_is_per_cpu : partition.default_memory_is_per_cpu;
    }
    needs.whole_sockets = parameters.unit == SelectParameters::Unit::socket;
    needs.tasks_go_round = needs.whole_sockets && !parameters.core_default_block;
    needs.task_per_core = parameters.one_task_per_core;
    needs.shares = partition.oversubscribe == Oversubscribe::force ||
                   (partition.oversubscribe == Oversubscribe::yes &&
                    partition.oversubscribe_jobs > 1 && request.oversubscribe);

    Demand& demand = needs.demand;
    const std::int64_t a_task = request.cpus_per_task;
    const std::int64_t tasks_per_node = request.tasks_per_node;
    demand.tasks = request.tasks;
    demand.min_nodes = std::max(1U, trial.min_nodes);
    if (demand.tasks > 0 && tasks_per_node > 0) {
        demand.min_nodes =
            std::max(demand.min_nodes, (demand.tasks + tasks_per_node - 1) / tasks_per_node);
    }
    const bool has_max = request.max_nodes > 0;
    demand.wanted_nodes =
        has_max ? std::max<std::int64_t>(trial.max_nodes, demand.min_nodes) : demand.min_nodes;
    demand.max_nodes = has_max ? demand.wanted_nodes : std::int64_t{partition.max_nodes};
    const std::int64_t tasks = demand.tasks > 0
                                   ? demand.tasks
                                   : demand.min_nodes * std::max<std::int64_t>(tasks_per_node, 1);
    demand.cpus = std::max({std::int64_t{request.min_cpus}, tasks * a_task, demand.min_nodes});
    demand.cpus_of_a_task = a_task;
    demand.cpus_of_a_node = a_task * (tasks > 1 ? std::max<std::int64_t>(tasks_per_node, 1) : 1);
    demand.whole_nodes = request.exclusive || partition.oversubscribe == Oversubscribe::exclusive ||
                         kept_whole_.contains(trial.job);
    demand.contiguous = request.contiguous;
    for (const GresRequest& gres : request.gres) {
        if (gres.per_job > 0) {
            demand.gres.push_back(gres.per_job);
        }
    }
    if (parameters.least_loaded_nodes || partition.least_loaded_nodes) {
        demand.rule = ChoiceRule::least_loaded;
    } else if (parameters.pack_serial_at_end && demand.cpus == 1 && demand.wanted_nodes == 1) {
        demand.rule = ChoiceRule::serial_at_end;
    } else if (!settings_.switches.empty() && !demand.contiguous) {
        demand.rule = ChoiceRule::switches;
    }
    return needs;
}

// CPUs that the free memory of a node pays for, at most so many.
std::uint32_t SelectCons::affordable_cpus(const NodeBook& book, const Needs& needs, NodeIndex node,
                                          std::uint32_t cpus) const {
    if (needs.memory_mb == 0) {
        return book.memory_is_untouched(node) ? cpus : 0;
    }
    const std::uint64_t free = book.free_memory(node);
    if (!needs.memory_is_per_cpu) {
        return free >= needs.memory_mb ? cpus : 0;
    }
    if (needs.demand.whole_nodes && needs.memory_mb * cpus > free) {
        return 0;
    }
    // CPUs go in whole cores, or sockets, and then in whole tasks.
    const bool by_cpu = settings_.parameters.select.unit == SelectParameters::Unit::cpu;
    const std::uint32_t unit =
        by_cpu ? 1
               : cpus_per_core(node) *
                     (needs.whole_sockets ? settings_.nodes[node].cores_per_socket : 1);
    const std::uint64_t paid = std::min<std::uint64_t>(free / needs.memory_mb, cpus);
    const std::uint64_t unpaid = (cpus - paid + unit - 1) / unit * unit;
    const auto affordable = static_cast<std::uint32_t>(unpaid > cpus ? 0 : cpus - unpaid);
    return affordable - affordable % std::max(1U, needs.request.cpus_per_task);
}

// As many CPUs as cores, memory and generic resources of the node allow; 0 if no task fits.
std::uint32_t SelectCons::offered_cpus(const NodeBook& book, const Needs& needs,
                                       NodeIndex node) const {
    const Request& request = needs.request;
    const std::uint32_t cores =
        needs.whole_sockets ? book.cores_of_free_sockets(node) : book.free_cores(node);
    if (cores == 0 || (needs.demand.whole_nodes && cores < book.n_cores(node))) {
        return 0;
    }
    const std::uint32_t threads = cpus_per_core(node);
    const std::uint32_t a_task = std::max(1U, request.cpus_per_task);
    std::uint32_t cpus = cores * threads;
    if (needs.max_cpus_of_a_node != no_bound) {
        const std::uint32_t used = book.cores_of_partition(node, needs.partition) * threads;
        const std::uint32_t left =
            needs.max_cpus_of_a_node - std::min(used, needs.max_cpus_of_a_node);
        if (needs.demand.whole_nodes && cpus > left) {
            return 0;
        }
        cpus = std::min(cpus, left);
    }
    if (needs.task_per_core) { // CPUs that are left for a part of a task count, too
        const std::uint32_t cores_of_a_task = (a_task + threads - 1) / threads;
        cpus = std::min(cpus, cores / cores_of_a_task * a_task + cores % cores_of_a_task * threads);
    }
    std::uint32_t tasks = cpus / a_task;
    for (const GresRequest& gres : request.gres) {
        const std::uint32_t free = book.free_gres(node, gres.kind);
        if (free < gres.per_node || (gres.per_job > 0 && free == 0)) {
            return 0;
        }
        if (gres.per_task > 0) {
            tasks = std::min(tasks, free / gres.per_task);
            cpus = std::min(cpus, tasks * a_task);
        }
    }
    if (needs.counts_memory) {
        const std::uint32_t affordable = affordable_cpus(book, needs, node, cpus);
        if (affordable == 0) {
            return 0;
        }
        cpus = affordable;
        tasks = std::min(tasks, cpus / a_task);
    }
    return tasks < std::max(1U, request.tasks_per_node) ? 0 : cpus;
}

// CPUs of a core that tasks can use, or of the cores of a socket.
std::uint32_t SelectCons::cpus_kept(const Needs& needs, NodeIndex node) const {
    const std::uint32_t a_task = std::max(1U, needs.request.cpus_per_task);
    const std::uint32_t of_a_core =
        needs.task_per_core ? std::min(cpus_per_core(node), a_task) : cpus_per_core(node);
    return of_a_core * (needs.whole_sockets ? settings_.nodes[node].cores_per_socket : 1);
}

Offers SelectCons::offers(const NodeBook& book, const Needs& needs, const NodeSet& among) const {
    Offers offers;
    const NodeSet& required = needs.request.required;
    among.for_each([&](NodeIndex node) {
        const std::uint32_t cpus = offered_cpus(book, needs, node);
        if (cpus == 0) {
            return;
        }
        Offer offer{.node = node,
                    .cpus = cpus,
                    .free_cpus = book.free_cores(node) * cpus_per_core(node),
                    .all_cpus = settings_.nodes[node].cpus,
                    .weight = settings_.nodes[node].weight,
                    .cpus_kept = cpus_kept(needs, node),
                    .required = required.n_nodes() > 0 && required.contains(node),
                    .idle = book_.idle().contains(node)};
        for (const GresRequest& gres : needs.request.gres) {
            const std::uint32_t free = book.free_gres(node, gres.kind);
            offer.gpus += free;
            if (gres.per_job > 0) {
                offers.gres.push_back(free);
            }
        }
        offers.nodes.push_back(offer);
    });
    return offers;
}

std::optional<std::vector<NodeShare>> SelectCons::choose(const NodeBook& book, const Needs& needs,
                                                         const NodeSet& among,
                                                         bool busy_first) const {
    NodeSet usable = among;
    if (needs.request.excluded.n_nodes() > 0) {
        usable -= needs.request.excluded;
    }
    if (needs.request.constraint != none) {
        usable &= settings_.constraints[needs.request.constraint];
    }
    Offers found = offers(book, needs, usable);
    const auto n_required =
        std::ranges::count_if(found.nodes, [](const Offer& offer) { return offer.required; });
    if (needs.request.required.n_nodes() > 0 &&
        n_required != static_cast<std::ptrdiff_t>(needs.request.required.count())) {
        return std::nullopt;
    }
    Demand demand = needs.demand;
    if (busy_first && !demand.contiguous) {
        demand.rule = ChoiceRule::busy_first;
    }
    return choose_nodes(std::move(found), std::move(demand), settings_.switches);
}

NodeSet SelectCons::nodes_of(const std::vector<NodeShare>& shares) const {
    NodeSet nodes(settings_.n_nodes());
    for (const NodeShare& share : shares) {
        nodes.add(share.node);
    }
    return nodes;
}

// A job that was tried in a partition with OverSubscribe=EXCLUSIVE takes whole nodes in its other
// partitions too, from then on.
void SelectCons::keep_whole(const Trial& trial) {
    if (trial.partition.oversubscribe == Oversubscribe::exclusive &&
        trial.request.partitions.size() > 1) {
        kept_whole_.insert(trial.job);
    }
}

std::optional<Choice> SelectCons::run_now(const Trial& trial) {
    keep_whole(trial);
    const Needs asked = needs(trial);
    const auto found =
        place(book_, asked, trial, (trial.candidates & states_.up) - states_.completing);
    return found ? std::optional(choice_of(asked, *found)) : std::nullopt;
}

Choice SelectCons::choice_of(const Needs& needs, const Place& place) const {
    Choice choice{
        .nodes = nodes_of(place.shares), .hosts = {}, .whole_nodes = needs.demand.whole_nodes};
    choice.shares = holdings(*place.book, needs, place.shares);
    choice.shares.row = place.row;
    choice.hosts = hosts(choice.shares);
    for (const Holding& holding : choice.shares.nodes) {
        choice.cpus += holding.cpus;
    }
    return choice;
}

std::optional<Choice> SelectCons::run_without(const Trial& trial) {
    const Needs asked = needs(trial);
    future_ = book_;
    for (const JobIndex job : trial.gone) {
        future_.give_back(running_.at(job).holdings);
    }
    const auto found =
        place(future_, asked, trial, (trial.candidates & states_.up) - states_.completing);
    return found ? std::optional(choice_of(asked, *found)) : std::nullopt;
}

bool SelectCons::could_ever_run(const Trial& trial) {
    return choose(empty_, needs(trial), trial.candidates, false).has_value();
}

bool SelectCons::has_busy(const Trial& trial) const {
    const bool whole = needs(trial).demand.whole_nodes;
    return trial.candidates.intersects(states_.completing) ||
           std::ranges::any_of(running_, [&](const auto& entry) {
               return (whole || entry.second.whole_nodes) &&
                      entry.second.nodes.intersects(trial.candidates);
           });
}

void SelectCons::allocate(JobIndex job, const Request& request, const Choice& choice,
                          Seconds expected_end) {
    const Partition& partition = settings_.partitions[choice.shares.partition];
    const Minutes over = partition.over_time_limit >= 0 ? partition.over_time_limit
                                                        : settings_.parameters.over_time_limit;
    running_.emplace(job, Running{choice.shares, choice.nodes, expected_end, request.limit, over,
                                  choice.whole_nodes});
    ends_.emplace(expected_end, job);
    book_.take(choice.shares);
}

void SelectCons::release(JobIndex job) {
    const auto at = running_.find(job);
    assert(at != running_.end());
    book_.give_back(at->second.holdings);
    ends_.erase({at->second.expected_end, job});
    running_.erase(at);
    kept_whole_.erase(job);
}

void SelectCons::set_expected_end(JobIndex job, Seconds expected_end) {
    Running& running = running_.at(job);
    ends_.erase({running.expected_end, job});
    running.expected_end = expected_end;
    ends_.emplace(expected_end, job);
}

// Of a job past its limit: when it will have been killed.
Seconds SelectCons::guessed_end(const Running& job, Seconds now) const {
    if (job.expected_end > now) {
        return job.expected_end;
    }
    if (job.over_time_limit >= no_limit) {
        constexpr Seconds year = 365 * 86400;
        return now + (job.limit >= no_limit ? year : job.limit * 60);
    }
    const Seconds end =
        job.expected_end + settings_.parameters.kill_wait + job.over_time_limit * 60;
    return std::max(end, now + 1);
}

// Jobs are taken away in groups that end within a window. The window grows at each test, and is
// counted from the first end, rounded up to the first window; a group's date is its last end.
std::optional<Prediction> SelectCons::will_run(const Trial& trial, Seconds now, bool now_only) {
    const Needs asked = needs(trial);
    const NodeSet among = trial.candidates & states_.up;
    if (const auto found = place(book_, asked, trial, among)) {
        return Prediction{now, nodes_of(found->shares)};
    }
    future_ = book_;
    if (!trial.gone.empty()) {
        for (const JobIndex job : trial.gone) {
            future_.give_back(running_.at(job).holdings);
        }
        if (const auto found = place(future_, asked, trial, among)) {
            return Prediction{now, nodes_of(found->shares)};
        }
    }
    if (now_only) {
        return std::nullopt;
    }
    Seconds window = 30;
    std::optional<Seconds> first_end;
    const bool busy_first = settings_.parameters.bf_busy_nodes;
    for (auto next = ends_.begin(); next != ends_.end();) {
        const Running* last = nullptr;
        while (next != ends_.end()) {
            const Running& job = running_.at(next->second);
            ++next;
            const JobIndex index = std::prev(next)->second;
            if (!job.nodes.intersects(among) ||
                std::ranges::find(trial.gone, index) != trial.gone.end()) {
                continue;
            }
            ++n_steps_;
            future_.give_back(job.holdings);
            first_end = first_end.value_or(job.expected_end + window - job.expected_end % window);
            last = &job;
            if (next != ends_.end() && next->first > *first_end + window) {
                break;
            }
        }
        if (last == nullptr) {
            break;
        }
        do {
            const Seconds more = settings_.parameters.bf_window_linear;
            window = more > 0 ? window + more : window * 2;
        } while (next != ends_.end() && next->first > *first_end + window);
        if (const auto shares = choose(future_, asked, among, busy_first)) {
            return Prediction{guessed_end(*last, now), nodes_of(*shares)};
        }
    }
    return std::nullopt;
}

std::unique_ptr<Select> make_select_cons(const Settings& settings, const NodeStates& states) {
    return std::make_unique<SelectCons>(settings, states);
}

} // namespace noctule::slurm
