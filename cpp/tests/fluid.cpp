// The fluid model against its most naive version: all tasks and all resources, in every round.
#include "fluid.hpp"

#include "date_heap.hpp"
#include "tests/checks.hpp"

#include <cmath>
#include <map>

namespace noctule {

namespace {

struct NaiveTask {
    std::vector<Use> uses;
    double bound;
    double rate = 0.0;
    double step = 0.0;
    bool grows = true;
};
struct NaiveResource {
    double capacity;
    bool fatpipe;
};

void naive_fair_bottleneck(std::map<TaskId, NaiveTask>& tasks,
                           const std::vector<NaiveResource>& resources) {
    std::vector<double> left;
    std::vector<bool> listed(resources.size(), true);
    for (const NaiveResource& resource : resources) {
        left.push_back(resource.capacity);
    }
    for (auto& [id, task] : tasks) {
        task.rate = task.step = 0.0;
        task.grows = true;
    }
    const auto some_grow = [&] {
        return std::ranges::any_of(tasks, [](const auto& pair) { return pair.second.grows; });
    };
    while (some_grow()) {
        std::vector<double> share(resources.size(), 0.0);
        for (ResourceId r = 0; r < resources.size(); ++r) {
            double n = 0;
            for (const auto& [id, task] : tasks) {
                for (const Use& use : task.uses) {
                    n += task.grows && use.resource == r ? use.count : 0;
                }
            }
            listed[r] = listed[r] && n > 0;
            share[r] = listed[r] ? (resources[r].fatpipe ? left[r] : left[r] / n) : 0.0;
        }
        for (auto& [id, task] : tasks) {
            if (task.grows) {
                task.step = task.bound - task.rate;
                for (const Use& use : task.uses) {
                    task.step = std::min(task.step, share[use.resource] / use.weight);
                }
                task.rate += task.step;
                task.grows = task.rate != task.bound;
            }
        }
        for (ResourceId r = 0; r < resources.size(); ++r) {
            if (!listed[r]) {
                continue;
            }
            double taken = 0.0;
            double least = share[r];
            for (const auto& [id, task] : tasks) {
                for (const Use& use : task.uses) {
                    if (use.resource == r) {
                        taken += use.weight * task.step * use.count;
                        least = std::min(least, use.weight * task.step);
                    }
                }
            }
            left[r] -= resources[r].fatpipe ? least : taken;
            if (left[r] < 1e-5) {
                listed[r] = false;
                for (auto& [id, task] : tasks) {
                    for (const Use& use : task.uses) {
                        task.grows = task.grows && use.resource != r;
                    }
                }
            }
        }
    }
}

std::vector<Use> random_uses(Random& random, std::size_t n_resources) {
    std::vector<Use> uses;
    const double alike = draw(random, 1, 1000) * 1e5;
    for (std::uint32_t n = draw(random, 1, 5); n > 0; --n) {
        const auto resource = draw(random, 0, static_cast<std::uint32_t>(n_resources) - 1);
        const double weight = draw(random, 0, 1) == 0 ? alike : draw(random, 1, 1000) * 1e6;
        uses.push_back({resource, weight, draw(random, 0, 9) == 0 ? draw(random, 2, 4) : 1});
    }
    return uses;
}

// Tasks come and go, and capacities change: after each change, rates are those of the naive one.
void rates_are_those_of_all_rounds_on_everything(std::uint32_t seed, bool fatpipes,
                                                 std::uint32_t most_resources = 12,
                                                 int n_steps = 30) {
    Random random(seed);
    Fluid fluid(Sharing::fair_bottleneck);
    std::vector<NaiveResource> resources;
    for (std::uint32_t n = draw(random, most_resources / 6, most_resources); n > 0; --n) {
        // some are so large that they never run short
        const double capacity = draw(random, 1, 100) * (draw(random, 0, 2) == 0 ? 1e13 : 1e8);
        resources.push_back({capacity, fatpipes && draw(random, 0, 5) == 0});
        fluid.add_resource(capacity, resources.back().fatpipe);
    }
    std::map<TaskId, NaiveTask> tasks;
    for (int step = 0; step < n_steps; ++step) {
        const std::uint32_t what = draw(random, 0, 9);
        if (what < 5 || tasks.empty()) {
            NaiveTask task{random_uses(random, resources.size()), draw(random, 1, 100) * 0.1};
            tasks[fluid.add(task.uses, task.bound)] = task;
        } else if (what < 8) {
            const auto gone = std::next(
                tasks.begin(), draw(random, 0, static_cast<std::uint32_t>(tasks.size()) - 1));
            fluid.remove(gone->first);
            tasks.erase(gone);
        } else if (what == 8) {
            const auto r = draw(random, 0, static_cast<std::uint32_t>(resources.size()) - 1);
            resources[r].capacity = draw(random, 1, 100) * 1e8;
            fluid.set_capacity(r, resources[r].capacity);
        } else {
            tasks.begin()->second.bound = draw(random, 1, 100) * 0.1;
            fluid.set_bound(tasks.begin()->first, tasks.begin()->second.bound);
        }
        if (draw(random, 0, 2) == 0) { // more happens at once
            continue;
        }
        fluid.solve();
        naive_fair_bottleneck(tasks, resources);
        for (const auto& [id, task] : tasks) {
            CHECK(std::abs(fluid.rate(id) - task.rate) <= 1e-9 * task.rate);
        }
    }
}

// In max-min fairness nobody can have more but at the cost of somebody who has no more than him.
void max_min_rates_leave_nothing_over(std::uint32_t seed) {
    Random random(seed);
    Fluid fluid(Sharing::max_min);
    std::vector<double> capacities;
    for (std::uint32_t n = draw(random, 2, 8); n > 0; --n) {
        capacities.push_back(draw(random, 1, 100) * 1e8);
        fluid.add_resource(capacities.back(), false);
    }
    std::map<TaskId, NaiveTask> tasks;
    for (std::uint32_t n = draw(random, 1, 9); n > 0; --n) {
        NaiveTask task{random_uses(random, capacities.size()), draw(random, 1, 100) * 0.1};
        tasks[fluid.add(task.uses, task.bound)] = task;
    }
    fluid.solve();
    for (auto& [id, task] : tasks) {
        const double rate = fluid.rate(id);
        bool is_held_up = rate >= task.bound * (1 - 1e-9);
        for (const Use& use : task.uses) {
            double largest = 0.0;
            for (const auto& [other, its] : tasks) {
                for (const Use& theirs : its.uses) {
                    largest = theirs.resource == use.resource ? std::max(largest, fluid.rate(other))
                                                              : largest;
                }
            }
            const double capacity = capacities[use.resource];
            CHECK(fluid.usage(use.resource) <= capacity * (1 + 1e-9));
            const bool is_full = fluid.usage(use.resource) >= capacity * (1 - 1e-9);
            is_held_up = is_held_up || (is_full && rate >= largest * (1 - 1e-9));
        }
        CHECK(is_held_up);
    }
}

void dates_come_in_order_although_they_change() {
    Random random(7);
    DateHeap heap;
    std::map<std::uint32_t, double> naive;
    for (int step = 0; step < 5000; ++step) {
        const std::uint32_t item = draw(random, 0, 40);
        if (draw(random, 0, 2) == 0) {
            heap.remove(item);
            naive.erase(item);
        } else {
            naive[item] = draw(random, 0, 20);
            heap.put(item, naive[item], item);
        }
        CHECK(heap.empty() == naive.empty());
        if (!naive.empty()) {
            const auto first = std::ranges::min_element(
                naive, {}, [](const auto& pair) { return std::pair(pair.second, pair.first); });
            CHECK(heap.top() == first->first && heap.top_date() == first->second);
        }
    }
}

} // namespace

void test_fluid() {
    for (std::uint32_t seed = 0; seed < 400; ++seed) {
        rates_are_those_of_all_rounds_on_everything(seed, false);
        rates_are_those_of_all_rounds_on_everything(seed, true);
        max_min_rates_leave_nothing_over(seed);
    }
    for (std::uint32_t seed = 0; seed < 20; ++seed) { // so many that most do not touch each other
        rates_are_those_of_all_rounds_on_everything(seed, false, 300, 400);
    }
    dates_come_in_order_although_they_change();
}

} // namespace noctule
