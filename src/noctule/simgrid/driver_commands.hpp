// The commands of the vectors as actors of SimGrid, and what became of them. Beside those:
//
//   job ID START WALLTIME HOST STEP... end   steps one after the other; the walltime may be inf
//     steps: sleep SECONDS, ptask and homog as commands but for ID and START,
//            repeat N STEP... end,
//            ranks N, and for each of them: ptask or homog... end; all ranks at once
//   watch N h1..hN                           bill these hosts whenever a job ends, and tell their
//                                            joules in the end
//   look TIME                                bill them then, before what begins at that date
#pragma once

#include "driver_json.hpp"
#include "driver_steps.hpp"

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/plugins/energy.h>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

struct Record {
    std::string kind;
    double start = 0;
    double end = -1;
    std::string status = "lost";
};

class Run {
  public:
    explicit Run(const std::string& commands) {
        std::ifstream in(commands);
        if (!in) {
            throw std::invalid_argument(commands + ": cannot be read");
        }
        for (std::string line; std::getline(in, line);) {
            if (line.find_first_not_of(" \t\r") != std::string::npos) {
                lines_.push_back(line);
            }
        }
        struck_ = hosts_turned_off();
        home_ = steady(sg::Engine::get_instance()->get_all_hosts());
        if (home_ == nullptr) {
            throw std::invalid_argument("every host is turned off: none is left to watch");
        }
        for (const auto& line : lines_) {
            read(line);
        }
    }

    void schedule() {
        for (auto& [date, actions] : at_) {
            const bool looks = looks_.count(date) != 0;
            const auto begin = [this, looks, todo = std::move(actions)] {
                if (looks) {
                    look();
                }
                for (const auto& [host, action] : todo) {
                    sg::Actor::create("command", host, action);
                }
            };
            if (date <= 0) {
                begin();
            } else {
                simgrid::kernel::timer::Timer::set(date, begin);
            }
        }
    }

    // After the end of the simulation.
    Fields results() const {
        Fields fields;
        if (!order_.empty()) {
            Fields tasks;
            for (const auto& id : order_) {
                const auto& task = tasks_.at(id);
                tasks.emplace_back(id, object({{"kind", quoted(task.kind)},
                                               {"start", number(task.start)},
                                               {"end", number(task.end)},
                                               {"status", quoted(task.status)}}));
            }
            fields.emplace_back("tasks", object(tasks));
        }
        if (!routes_.empty()) {
            fields.emplace_back("routes", object(routes_));
        }
        if (energy_ || !watched_.empty()) {
            Fields joules;
            const auto all = sg::Engine::get_instance()->get_all_hosts();
            for (const auto* host : energy_ ? all : watched_) {
                joules.emplace_back(host->get_name(), number(sg_host_get_consumed_energy(host)));
            }
            fields.emplace_back("energy", object(joules));
        }
        if (!readings_.empty()) {
            fields.emplace_back("energyat", array(readings_));
        }
        fields.emplace_back("end", number(sg::Engine::get_clock()));
        return fields;
    }

  private:
    using Action = std::function<void()>;

    std::set<std::string> hosts_turned_off() const {
        std::set<std::string> found;
        for (const auto& line : lines_) {
            Words words(line);
            if (words.word() == "off") {
                words.word();
                found.insert(words.word());
            }
        }
        return found;
    }

    // The first host that no command turns off: actors that wait there survive.
    sg::Host* steady(const std::vector<sg::Host*>& hosts) const {
        const auto found = std::find_if(hosts.begin(), hosts.end(), [this](const auto* host) {
            return struck_.count(host->get_name()) == 0;
        });
        return found == hosts.end() ? nullptr : *found;
    }

    // To wait with a timeout is to sleep on the host of the actor, which updates its energy; on a
    // host of the task, that changes nothing.
    sg::Host* watch_place(const std::vector<sg::Host*>& hosts, double walltime) const {
        return walltime > 0 ? steady(hosts) : nullptr;
    }

    void at(double date, Action action, sg::Host* host = nullptr) {
        at_[date].emplace_back(host != nullptr ? host : home_, std::move(action));
    }

    void task(const std::string& id, const std::string& kind, double date, sg::Host* host,
              std::function<std::string()> work) {
        if (!tasks_.emplace(id, Record{kind}).second) {
            throw std::invalid_argument(id + ": two tasks have this name");
        }
        const auto run = [this, id, work = std::move(work)] {
            tasks_.at(id).start = sg::Engine::get_clock();
            ended(id, work());
        };
        at(date, run, host);
    }

    void ended(const std::string& id, const std::string& how) {
        auto& record = tasks_.at(id);
        record.status = how;
        record.end = sg::Engine::get_clock();
        order_.push_back(id);
    }

    static void receive(sg::Mailbox* mailbox) {
        void* received = nullptr;
        outcome(mailbox->get_async<void>(&received), 0);
    }

    void ptask(Words& words, bool homogeneous, double walltime) {
        const auto id = words.word();
        const double start = words.real();
        const auto what = parallel(words, homogeneous);
        task(id, "ptask", start, watch_place(what.hosts, walltime),
             [=] { return run(what, walltime); });
    }

    // The actor is on a host of the job, where sleeps are work; it dies with that host.
    void job(Words& words) {
        const auto id = words.word();
        const double start = words.real();
        const double walltime = words.real();
        auto* host = words.host();
        task(id, "job", start, host, [=, this, parts = steps(words)] {
            sg::this_actor::on_exit([this, id](bool failed) {
                if (failed) {
                    ended(id, "hostfailure");
                }
            });
            const auto how = all(parts, sg::Engine::get_clock() + walltime);
            look();
            return how;
        });
    }

    // Bills the hosts whose energy is watched.
    void look() const {
        for (const auto* host : watched_) {
            sg_host_get_consumed_energy(host);
        }
    }

    bool read_task(const std::string& kind, Words& words) {
        if (kind == "ptask" || kind == "homog") {
            ptask(words, kind == "homog", 0);
        } else if (kind == "wptask" || kind == "whomog") {
            const double walltime = words.real();
            ptask(words, kind == "whomog", walltime);
        } else if (kind == "job") {
            job(words);
        } else if (kind == "exec") {
            const auto id = words.word();
            const double start = words.real();
            auto* host = words.host();
            const double flops = words.real();
            task(id, kind, start, nullptr, [=] {
                const auto exec = sg::Exec::init()->set_flops_amount(flops)->set_host(host);
                return outcome(exec->start(), 0);
            });
        } else if (kind == "sleep") {
            const auto id = words.word();
            const double start = words.real();
            auto* host = words.host();
            const double duration = words.real();
            task(id, kind, start, host, [=] {
                sg::this_actor::sleep_for(duration);
                return "done";
            });
        } else if (kind == "comm") {
            const auto id = words.word();
            const double start = words.real();
            auto* from = words.host();
            auto* to = words.host();
            const auto bytes = static_cast<uint64_t>(words.real());
            auto* mailbox = sg::Mailbox::by_name(id);
            task(id, kind, start, from,
                 [=, this] { return outcome(mailbox->put_async(&message_, bytes), 0); });
            at(start, [=] { receive(mailbox); }, to);
        } else {
            return false;
        }
        return true;
    }

    bool read_change(const std::string& kind, Words& words) {
        if (kind != "pstate" && kind != "bw" && kind != "lat" && kind != "off" && kind != "on") {
            return false;
        }
        const double date = words.real();
        if (kind == "bw" || kind == "lat") {
            auto* link = sg::Link::by_name(words.word());
            const double value = words.real();
            if (kind == "bw") {
                at(date, [=] { link->set_bandwidth(value); });
            } else {
                at(date, [=] { link->set_latency(value); });
            }
            return true;
        }
        auto* host = words.host();
        if (kind == "pstate") {
            const auto pstate = std::stoul(words.word());
            at(date, [=] { host->set_pstate(pstate); });
        } else if (kind == "off") {
            at(date, [=] { host->turn_off(); });
        } else {
            at(date, [=] { host->turn_on(); });
        }
        return true;
    }

    bool read_question(const std::string& kind, Words& words) {
        if (kind == "energy") {
            energy_ = true;
        } else if (kind == "watch") {
            watched_ = words.hosts();
        } else if (kind == "look") {
            const double date = words.real();
            looks_.insert(date);
            at_[date];
        } else if (kind == "energyat") {
            const double date = words.real();
            auto* host = words.host();
            at(date, [this, host] {
                const double joules = sg_host_get_consumed_energy(host);
                readings_.push_back(
                    object({{"t", number(sg::Engine::get_clock())},
                            {"host", quoted(host->get_name())},
                            {"joules", number(joules)},
                            {"watts", number(sg_host_get_current_consumption(host))},
                            {"load", number(host->get_load())}}));
            });
        } else if (kind == "route") {
            const auto* from = words.host();
            const auto* to = words.host();
            // loopbacks exist only once the simulation runs
            at(0, [=, this] { describe_route(from, to); });
        } else {
            return false;
        }
        return true;
    }

    void describe_route(const sg::Host* from, const sg::Host* to) {
        std::vector<sg::Link*> links;
        double latency = 0;
        from->route_to(to, links, &latency);
        std::vector<std::string> names;
        for (const auto* link : links) {
            names.push_back(quoted(link->get_name()));
        }
        routes_.emplace_back(from->get_name() + "->" + to->get_name(),
                             object({{"latency", number(latency)}, {"links", array(names)}}));
    }

    void read(const std::string& line) {
        Words words(line);
        const auto kind = words.word();
        if (!read_task(kind, words) && !read_change(kind, words) && !read_question(kind, words)) {
            throw std::invalid_argument("no such command: " + line);
        }
    }

    std::vector<std::string> lines_;
    std::set<std::string> struck_;
    sg::Host* home_ = nullptr;
    std::map<double, std::vector<std::pair<sg::Host*, Action>>> at_;
    std::map<std::string, Record> tasks_;
    std::vector<std::string> order_; // tasks as they end
    Fields routes_;
    std::vector<std::string> readings_;
    bool energy_ = false;
    std::vector<sg::Host*> watched_;
    std::set<double> looks_;
    char message_ = 0; // what mailboxes carry
};
