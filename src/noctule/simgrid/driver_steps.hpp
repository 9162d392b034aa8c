// What a job does in SimGrid: steps, each within what is left of its walltime.
#pragma once

#include "driver_words.hpp"

#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// What hosts compute and send to each other at one rate.
struct Parallel {
    std::vector<sg::Host*> hosts;
    std::vector<double> flops{};
    std::vector<double> bytes{};
};

// A part of a job, and how it ended; nothing goes on behind the deadline.
using Step = std::function<std::string(double deadline)>;

inline std::string outcome(const sg::ActivityPtr& activity, double walltime) {
    try {
        if (walltime > 0) {
            activity->wait_for(walltime);
        } else {
            activity->wait();
        }
    } catch (const simgrid::TimeoutException&) {
        activity->cancel();
        return "timeout";
    } catch (const simgrid::HostFailureException&) {
        return "hostfailure";
    } catch (const simgrid::NetworkFailureException&) {
        return "linkfailure";
    }
    return "done";
}

inline Parallel parallel(Words& words, bool homogeneous) {
    Parallel task{words.hosts()};
    const size_t n = task.hosts.size();
    if (homogeneous) {
        const double each = words.real();
        const double pair = words.real();
        if (each > 0 || n == 1) {
            task.flops.assign(n, each);
        }
        if (pair > 0) {
            task.bytes.assign(n * n, pair);
            for (size_t i = 0; i < n; ++i) {
                task.bytes[i * n + i] = 0;
            }
        }
    } else {
        task.flops = words.amounts("F", n);
        task.bytes = words.amounts("B", n * n);
    }
    return task;
}

inline sg::ExecPtr started(const Parallel& task) {
    auto exec = sg::this_actor::exec_init(task.hosts, task.flops, task.bytes);
    exec->start();
    return exec;
}

inline std::string run(const Parallel& task, double walltime) {
    return outcome(started(task), walltime);
}

// What is left of a walltime: 0 for one that has none, as `outcome` takes it.
inline bool is_over(double deadline) { return deadline <= sg::Engine::get_clock(); }
inline double left_until(double deadline) {
    return std::isfinite(deadline) ? deadline - sg::Engine::get_clock() : 0;
}

// A sleep that reaches the deadline does not end before it.
inline std::string sleep_until(double seconds, double deadline) {
    const double left = deadline - sg::Engine::get_clock();
    sg::this_actor::sleep_for(std::min(seconds, left));
    return seconds >= left ? "timeout" : "done";
}

inline std::string all(const std::vector<Step>& steps, double deadline) {
    for (const auto& step : steps) {
        auto how = is_over(deadline) ? "timeout" : step(deadline);
        if (how != "done") {
            return how;
        }
    }
    return "done";
}

// Tasks one after the other in each rank, all ranks at once.
using Ranks = std::vector<std::vector<Parallel>>;

inline Ranks ranks(Words& words) {
    Ranks found(std::stoul(words.word()));
    for (auto& rank : found) {
        for (auto kind = words.word(); kind != "end"; kind = words.word()) {
            rank.push_back(parallel(words, kind == "homog"));
        }
    }
    return found;
}

inline std::string run_ranks(const Ranks& ranks, double deadline) {
    struct Place {
        size_t rank;
        size_t next;
    };
    std::vector<sg::ExecPtr> running;
    std::vector<Place> places;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
        if (!ranks[rank].empty()) {
            running.push_back(started(ranks[rank].front()));
            places.push_back({rank, 1});
        }
    }
    const auto stop = [&](const std::string& how) {
        std::for_each(running.begin(), running.end(), [](const auto& exec) { exec->cancel(); });
        return how;
    };
    while (!running.empty()) {
        const double left = std::isfinite(deadline) ? deadline - sg::Engine::get_clock() : -1;
        ssize_t ended = -1;
        try {
            ended = is_over(deadline) ? -1 : sg::Exec::wait_any_for(running, left);
        } catch (const simgrid::HostFailureException&) {
            return stop("hostfailure");
        }
        if (ended < 0) {
            return stop("timeout");
        }
        auto& [rank, next] = places[static_cast<size_t>(ended)];
        if (next < ranks[rank].size()) {
            running[static_cast<size_t>(ended)] = started(ranks[rank][next++]);
        } else {
            running.erase(running.begin() + ended);
            places.erase(places.begin() + ended);
        }
    }
    return "done";
}

std::vector<Step> steps(Words& words);

inline Step step(const std::string& kind, Words& words) {
    if (kind == "sleep") {
        const double seconds = words.real();
        return [=](double deadline) { return sleep_until(seconds, deadline); };
    }
    if (kind == "ptask" || kind == "homog") {
        const auto what = std::make_shared<Parallel>(parallel(words, kind == "homog"));
        return [=](double deadline) { return run(*what, left_until(deadline)); };
    }
    if (kind == "ranks") {
        const auto what = std::make_shared<Ranks>(ranks(words));
        return [=](double deadline) { return run_ranks(*what, deadline); };
    }
    if (kind != "repeat") {
        throw std::invalid_argument("no such step of a job: " + kind);
    }
    const auto n_times = std::stoull(words.word());
    return [n_times, parts = steps(words)](double deadline) {
        std::string how = "done";
        for (auto i = n_times; i > 0 && how == "done"; --i) {
            how = all(parts, deadline);
        }
        return how;
    };
}

// Up to the word that ends them.
inline std::vector<Step> steps(Words& words) {
    std::vector<Step> found;
    for (auto kind = words.word(); kind != "end"; kind = words.word()) {
        found.push_back(step(kind, words));
    }
    return found;
}
