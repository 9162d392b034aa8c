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
    const std::uint32_t n_booted = power_.use(nodes, moment.now);
    if (n_booted == 0) {
        return moment.now;
    }
    boots_[job] = moment.view.now();
    const std::uint32_t rate = parameters().resume_rate;
    n_beyond_resume_rate_ += rate > 0 && n_booted > rate ? 1 : 0;
    return settings_->epoch + static_cast<Seconds>(std::floor(moment.view.start_time(job)));
}

void Controller::let_idle(const NodeSet& nodes, Seconds now) {
    if (!saves_power_) {
        return;
    }
    nodes.for_each([&](NodeIndex node) {
        if (n_completing_[node] == 0 && n_away_[node] == 0 && select_->idle().contains(node)) {
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

void Controller::save_power(const Moment& moment) {
    last_seen_ = moment.now;
    const std::optional<Seconds> due = next_power_change();
    if (!due || *due > moment.now) {
        return;
    }
    for (const NodeIndex node : power_.take_off(moment.now)) {
        if (n_away_[node] == 0) {
            nodes_.up.add(node);
        }
        touch(moment.now);
    }
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
}

} // namespace noctule::slurm
