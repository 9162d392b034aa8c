#include "slurm/controller.hpp"

#include "errors.hpp"
#include "slurm/tres.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace noctule::slurm {

namespace {

constexpr Seconds a_year = 365 * 86400;

} // namespace

Controller::Controller(std::shared_ptr<const Settings> settings, Requests requests,
                       const Plugins& plugins)
    : settings_(std::move(settings)), requests_(std::move(requests)), reasons_(requests_),
      power_(*settings_), nodes_{NodeSet(settings_->n_nodes(), true), NodeSet(settings_->n_nodes()),
                                 NodeSet(settings_->n_nodes())},
      select_(plugins.select(*settings_, nodes_)),
      priority_(plugins.priority(*settings_, requests_)),
      limits_(plugins.limits ? plugins.limits(*settings_, requests_) : std::make_unique<Limits>()),
      queue_(*settings_, requests_, *priority_), status_(requests_.size()),
      licenses_used_(settings_->licenses.size(), 0), n_away_(settings_->nodes.size(), 0),
      n_completing_(settings_->nodes.size(), 0), preemption_(*settings_, requests_),
      gang_(parameters().gang ? std::make_unique<Gang>(*settings_, requests_) : nullptr),
      has_owners_(std::ranges::any_of(settings_->partitions, &Partition::exclusive_user) ||
                  std::ranges::any_of(requests_, &Request::exclusive_user)) {
    for (NodeIndex index = 0; index < settings_->n_nodes(); ++index) {
        const Node& node = settings_->nodes[index];
        node_of_host_.resize(
            std::max(node_of_host_.size(), std::size_t{node.first_host} + node.n_hosts), none);
        std::fill_n(node_of_host_.begin() + node.first_host, node.n_hosts, index);
    }
    for (const Partition& partition : settings_->partitions) {
        PartitionSize size{.nodes = partition.nodes.count(), .cpus = 0};
        partition.nodes.for_each([&](NodeIndex node) { size.cpus += settings_->nodes[node].cpus; });
        if (partition.max_cpus_per_node != no_bound) {
            size.cpus =
                std::min(size.cpus, std::uint64_t{size.nodes} * partition.max_cpus_per_node);
        }
        sizes_.push_back(size);
    }
}

// Makes room for a further attempt of a job, which asks for what the first one did.
void Controller::grow(const View& view, JobIndex job) {
    while (job >= requests_.size()) {
        const auto next = static_cast<JobIndex>(requests_.size());
        const JobIndex origin = view.origin(next);
        if (origin >= next) {
            throw InputError("slurm: got a job that the requests do not know, expected one request "
                             "for each job of the workload");
        }
        requests_.push_back(requests_[origin]);
        requests_.back().array = none;
        requests_.back().started = no_date;
        requests_.back().het = none;
        status_.emplace_back();
    }
}

// The nodes that it asks for, once the least MinNodes of its partitions has been applied.
std::uint32_t Controller::asked_nodes(const Request& request) const {
    std::uint32_t least = no_bound;
    for (const std::uint32_t index : request.partitions) {
        least = std::min(least, partition(index).min_nodes);
    }
    const bool is_raised = request.max_nodes == 0 || request.max_nodes >= least;
    return is_raised ? std::max(request.min_nodes, least) : request.min_nodes;
}

bool Controller::violates_limits(const Request& request, std::uint32_t index) const {
    const Partition& where = partition(index);
    const Minutes needed = request.time_min > 0 ? request.time_min : request.limit;
    const std::uint32_t asked = asked_nodes(request);
    return needed > where.max_time || asked < where.min_nodes || asked > where.max_nodes ||
           request.max_nodes > where.max_nodes || asked > sizes_[index].nodes ||
           requested_cpus(request) > sizes_[index].cpus;
}

bool Controller::can_run(JobIndex job, std::uint32_t index) {
    const Request& request = requests_[job];
    const auto [least, wanted] = node_bounds(job, index);
    if (wanted < least) {
        return false;
    }
    NodeSet nodes = partition(index).nodes;
    if (request.constraint != none) {
        nodes &= settings_->constraints[request.constraint];
    }
    if (request.excluded.n_nodes() > 0) {
        nodes -= request.excluded;
    }
    const Trial trial{job, request, partition(index), nodes, least, wanted};
    select_->keep_whole(trial);
    return nodes.count() >= least && select_->could_ever_run(trial);
}

// Partitions are tried from the highest tier down until one could run it, also those whose limits
// it breaks, unless these are enforced.
bool Controller::could_run(JobIndex job) {
    const bool is_enforced = parameters().enforce_part_limits != Parameters::PartLimits::no;
    std::vector<std::uint32_t> order = requests_[job].partitions;
    std::ranges::stable_sort(order, std::greater{},
                             [&](std::uint32_t index) { return partition(index).priority_tier; });
    return std::ranges::any_of(order, [&](std::uint32_t index) {
        return !(is_enforced && violates_limits(requests_[job], index)) && can_run(job, index);
    });
}

std::optional<Refusal> Controller::find_refusal(JobIndex job, Seconds now) {
    const Request& request = requests_[job];
    if (request.held && request.release == no_date) {
        return Refusal::held;
    }
    const auto violates = [&](std::uint32_t index) { return violates_limits(request, index); };
    const bool any = std::ranges::any_of(request.partitions, violates);
    const bool all = std::ranges::all_of(request.partitions, violates);
    if (all || (any && parameters().enforce_part_limits == Parameters::PartLimits::all)) {
        return Refusal::partition_limits;
    }
    if (!could_run(job)) {
        return Refusal::impossible;
    }
    return limits_->may_submit(job, now) ? std::nullopt : std::optional(Refusal::accounting);
}

void Controller::refuse(const Moment& moment, JobIndex job, Refusal why) {
    ++n_refused_[static_cast<std::size_t>(why)];
    status_[job].phase = JobStatus::Phase::ended;
    if (const BlockingLimit* limit = limits_->blocked_by(job); why == Refusal::accounting) {
        const std::string name = limit->name + " of " + limit->whose;
        ++n_refused_by_[name];
        moment.decisions.set_metadata(job, name);
    }
    moment.decisions.reject(job);
}

void Controller::submit(const Moment& moment, JobIndex job) {
    grow(moment.view, job);
    JobStatus& status = status_[job];
    if (const WindowIndex own = moment.view.reservation(job); own != no_window) {
        requests_[job].reservation = own;
    }
    const Request& request = requests_[job];
    status.submitted = moment.now;
    status.limit = request.limit;
    if (request.partitions.empty()) {
        throw InputError("slurm: got a job without a partition, expected at least one");
    }
    if (const std::optional<Refusal> why = find_refusal(job, moment.now)) {
        // Where limits are not enforced it would wait for ever, with a priority like any other.
        if (*why == Refusal::partition_limits &&
            parameters().enforce_part_limits == Parameters::PartLimits::no) {
            priority_->submit(job, moment.now);
            n_reason_changes_ = 2;
            touch_plans(moment.now);
        }
        refuse(moment, job, *why);
        return;
    }
    status.phase = JobStatus::Phase::pending;
    status.independent = request.dependencies.empty();
    status.eligible = std::max({moment.now, request.begin, request.held ? request.release : 0});
    if (request.started != no_date) {
        status.eligible = std::max(moment.now, request.started);
        given_starts_.emplace(status.eligible, job);
    }
    if (const JobIndex first = moment.view.origin(job); first != job) {
        last_attempts_[first] = job;
        requeued_.erase(first);
        status.eligible = std::max(status.eligible, moment.now + parameters().requeue_delay);
    }
    priority_->submit(job, moment.now);
    limits_->submit(job, moment.now);
    if (status.independent) {
        priority_->become_eligible(job, status.eligible);
    }
    if (request.name != none) {
        singletons_[std::uint64_t{request.user} << 32 | request.name].push_back(job);
    }
    queue_.add(job);
    touch_plans(moment.now);
}

void Controller::cancel(JobIndex job, Seconds now) {
    if (job < status_.size() && status_[job].phase == JobStatus::Phase::pending) {
        queue_.remove(job);
        status_[job].phase = JobStatus::Phase::ended;
        touch(now);
    }
}

Minutes Controller::time_limit(JobIndex job, std::uint32_t index) const {
    return std::min(
        {requests_[job].limit, partition(index).max_time, limits_->max_time(job, index)});
}

std::pair<std::uint32_t, std::uint32_t> Controller::node_bounds(JobIndex job,
                                                                std::uint32_t index) const {
    const Request& request = requests_[job];
    const std::uint32_t least = std::max(request.min_nodes, partition(index).min_nodes);
    const std::uint32_t most = std::min(partition(index).max_nodes, limits_->max_nodes(job, index));
    return {least, std::min(std::max(request.wanted_nodes(), least), most)};
}

Seconds Controller::expected_end(JobIndex job) const {
    const JobStatus& status = status_[job];
    const Seconds seconds = status.limit >= no_limit ? a_year : status.limit * 60;
    return std::min(status.start + seconds + status.suspended_seconds, status.last_second);
}

// A suspended job has that much more time, and one in its grace time no more than that.
Seconds Controller::kill_date(JobIndex job) const {
    const JobStatus& status = status_[job];
    if (status.suspended_since > 0) {
        return no_date;
    }
    if (status.warned > 0) {
        return expected_end(job);
    }
    const Minutes own = partition(status.partition).over_time_limit;
    const Minutes over = own >= 0 ? own : parameters().over_time_limit;
    return expected_end(job) + over * 60 + static_cast<Seconds>(requests_[job].suspended);
}

void Controller::start(const Moment& moment, const QueueRecord& record, const Choice& choice,
                       Minutes limit, StartedBy by) {
    const JobIndex job = record.job;
    const std::uint32_t partition = record.partition;
    const Request& request = requests_[job];
    JobStatus& status = status_[job];
    Decision decision{.kind = Decision::Kind::start, .job = job};
    decision.named_hosts = true;
    decision.hosts = choice.hosts;
    const std::uint32_t n = moment.view.n_hosts(job);
    if (const std::size_t n_got = choice.hosts.size(); n_got != n) {
        for (std::uint32_t i = 0; i < n; ++i) {
            decision.layout.mapping.push_back(i % static_cast<std::uint32_t>(n_got));
        }
    }
    moment.decisions.apply(decision);
    if (!request.requeue) {
        moment.decisions.end_if_interrupted(job);
    }
    queue_.remove(job); // the record may now be that of the next task
    status.phase = JobStatus::Phase::running;
    status.by = by;
    status.partition = partition;
    status.start = wake_nodes(moment, job, choice.nodes);
    status.limit = limit;
    select_->allocate(job, request, choice, expected_end(job));
    priority_->start(job, moment.now, choice);
    limits_->start(job, partition, choice, moment.now);
    count_licenses(request, 1);
    if (request.array != none) {
        ++running_tasks_[request.array];
    }
    held_.insert_or_assign(job, Held{choice.nodes, choice.whole_nodes});
    ++n_running_;
    due_.emplace(kill_date(job), job);
    touch(moment.now + 1); // the launch is heard of a moment later
    if (gang_) {
        take_turns(moment, gang_->add(job, partition, choice.hosts));
    }
}

void Controller::set_limit(JobIndex job, Minutes limit) {
    change_end(job, [&](JobStatus& status) { status.limit = limit; });
}

void Controller::end(const Moment& moment, JobIndex job) {
    JobStatus& status = status_[job];
    if (status.phase != JobStatus::Phase::running) {
        return;
    }
    due_.erase({kill_date(job), job});
    // A job that is sent away will come back.
    const bool comes_back = !requeued_.empty() && requeued_.contains(moment.view.origin(job));
    status.phase = comes_back ? JobStatus::Phase::absent : JobStatus::Phase::ended;
    select_->release(job);
    priority_->end(job, moment.now);
    limits_->end(job, moment.now);
    count_licenses(requests_[job], -1);
    if (requests_[job].array != none) {
        --running_tasks_[requests_[job].array];
    }
    --n_running_;
    touch(moment.now);
    if (moment.view.is_completing(job)) {
        count_completing(job, 1);
        completing_.emplace(job, moment.now);
    } else {
        const NodeSet nodes = std::move(held_.at(job).nodes);
        held_.erase(job);
        let_idle(nodes, moment.now);
    }
    if (gang_) {
        take_turns(moment, gang_->remove(job));
    }
}

void Controller::give_up(const Moment& moment) {
    while (!queue_.empty()) {
        queue_.compact();
        const JobIndex job = queue_.records().front().job;
        queue_.remove(job);
        refuse(moment, job, Refusal::stuck);
    }
    queue_.compact();
}

void Controller::count_completing(JobIndex job, int change) {
    held_.at(job).nodes.for_each([&](NodeIndex node) {
        n_completing_[node] = static_cast<std::uint16_t>(n_completing_[node] + change);
        if (n_completing_[node] == 0) {
            nodes_.completing.remove(node);
        } else {
            nodes_.completing.add(node);
        }
    });
}

void Controller::free_nodes(JobIndex job, Seconds now) {
    if (held_.contains(job)) {
        count_completing(job, -1);
        completing_.erase(job);
        const NodeSet nodes = std::move(held_.at(job).nodes);
        held_.erase(job);
        let_idle(nodes, now);
        touch(now);
    }
}

void Controller::set_available(const HostSet& hosts, bool available, Seconds now) {
    for (const Interval& interval : hosts.intervals()) {
        for (HostId host = interval.first; host <= interval.last; ++host) {
            const NodeIndex node = host < node_of_host_.size() ? node_of_host_[host] : none;
            if (node == none) {
                continue;
            }
            n_away_[node] = static_cast<std::uint16_t>(n_away_[node] + (available ? -1 : 1));
            if (n_away_[node] == 0) {
                nodes_.up.add(node);
            } else {
                nodes_.up.remove(node);
            }
            note_away(node, n_away_[node] == 0, now);
        }
    }
    touch(now);
}

NodeSet Controller::nodes_of(const HostSet& hosts) const {
    NodeSet nodes(settings_->n_nodes());
    for (const Interval& interval : hosts.intervals()) {
        for (HostId host = interval.first; host <= interval.last; ++host) {
            if (host < node_of_host_.size() && node_of_host_[host] != none) {
                nodes.add(node_of_host_[host]);
            }
        }
    }
    return nodes;
}

} // namespace noctule::slurm
