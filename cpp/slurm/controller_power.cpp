// Nodes that are switched off while nobody needs them, and boot for jobs.
#include "policies/opportunistic.hpp"
#include "slurm/controller.hpp"

#include <cmath>

namespace noctule::slurm {

std::optional<Choice> Controller::run_now(const Trial& trial) {
    if (saves_power_ && trial.candidates.intersects(power_.off())) {
        NodeSet on = trial.candidates;
        on -= power_.off();
        if (on.count() >= trial.min_nodes) {
            Trial first{trial.job,       trial.request,   trial.partition, on,
                        trial.min_nodes, trial.max_nodes, trial.latest};
            if (std::optional<Choice> choice = select_->run_now(first)) {
                return choice;
            }
        }
    }
    return select_->run_now(trial);
}

void Controller::begin_power_saving(const Moment& moment) {
    saves_power_ = power_.is_used() && moment.view.wakes_hosts();
    if (saves_power_) {
        power_.begin(moment.now);
    }
}

Seconds Controller::wake_nodes(const Moment& moment, JobIndex job, const NodeSet& nodes) {
    if (!saves_power_) {
        return moment.now;
    }
    const PowerSaver::Boots boots = power_.use(nodes, moment.now, [&](NodeIndex node) {
        const HostId host = settings_->nodes[node].first_host;
        return static_cast<Seconds>(std::ceil(moment.view.switch_on_seconds(host)));
    });
    if (boots.n == 0) {
        return moment.now;
    }
    if (boots.fails) {
        moment.decisions.keep_from_beginning(job);
    }
    boots_[job] = moment.view.now();
    const std::uint32_t rate = parameters().resume_rate;
    n_beyond_resume_rate_ += rate > 0 && boots.n > rate ? 1 : 0;
    return settings_->epoch + static_cast<Seconds>(std::floor(moment.view.start_time(job)));
}

void Controller::let_idle(const NodeSet& nodes, Seconds now) {
    if (!saves_power_) {
        return;
    }
    nodes.for_each([&](NodeIndex node) {
        if (power_.boots_in_vain(node)) {
            nodes_.up.remove(node);
        } else if (n_completing_[node] == 0 && n_away_[node] == 0 &&
                   select_->idle().contains(node)) {
            power_.free(node, now);
        }
    });
}

void Controller::note_away(NodeIndex node, bool is_back, Seconds now) {
    if (!saves_power_) {
        return;
    }
    power_.lose(node, now);
    if (is_back && select_->idle().contains(node)) {
        power_.free(node, now);
    }
}

bool Controller::save_power(const Moment& moment) {
    last_seen_ = moment.now;
    const std::optional<Seconds> due = next_power_change();
    if (!due || *due > moment.now) {
        return false;
    }
    for (const NodeIndex node : power_.take_off(moment.now)) {
        if (n_away_[node] == 0) {
            nodes_.up.add(node);
        }
        touch(moment.now);
    }
    const bool came_back = take_back_nodes(moment);
    give_up_nodes(moment);
    std::vector<HostId> hosts;
    for (const NodeIndex node : power_.scan(moment.now)) {
        const Node& all = settings_->nodes[node];
        nodes_.up.remove(node);
        for (std::uint32_t i = 0; i < all.n_hosts; ++i) {
            hosts.push_back(all.first_host + i);
        }
    }
    if (!hosts.empty()) {
        touch(moment.now);
        switch_off(moment.view, hosts, moment.decisions);
    }
    return came_back;
}

// Nodes that were set down answer after all, or have been put right.
bool Controller::take_back_nodes(const Moment& moment) {
    const std::vector<NodeIndex> back = power_.take_back(moment.now);
    for (const NodeIndex node : back) {
        nodes_.up.add(node);
        power_.free(node, moment.now);
        touch(moment.now);
    }
    return !back.empty();
}

// Nodes that have not booted in time are set down; jobs that wait for them begin anew.
void Controller::give_up_nodes(const Moment& moment) {
    std::set<JobIndex> lost;
    for (const NodeIndex node : power_.give_up(moment.now)) {
        nodes_.up.remove(node);
        for (const auto& [job, held] : held_) {
            if (held.nodes.contains(node) && status_[job].phase == JobStatus::Phase::running) {
                lost.insert(job);
            }
        }
        touch(moment.now);
    }
    for (const JobIndex job : lost) {
        if (!is_evicted(job)) {
            boots_.erase(job);
            status_[job].killed = true;
            send_away(moment, job, requests_[job].requeue, "nodes did not boot");
        }
    }
}

} // namespace noctule::slurm
