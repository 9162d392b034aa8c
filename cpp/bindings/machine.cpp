// The machine alone, for questions about its models, and the plan that runs share.
#include "bindings/bindings.hpp"

#include "machine.hpp"
#include "mpi/replay.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

namespace noctule {

namespace {

template <typename T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T> std::span<const T> span_of(const Input<T>& input) {
    return {input.data(), input.size()};
}

// Speeds, kinds of power states, watts (idle, epsilon, computing), watts when off, sleep states
// (state, switching off, switching on), cores, state at the beginning.
using ModelValues =
    std::tuple<std::vector<double>, std::vector<int>, std::vector<std::array<double, 3>>, double,
               std::vector<std::array<std::uint32_t, 3>>, std::uint32_t, std::uint32_t>;
// What, of which host or link, points (time, value), period.
using AvailabilityValues =
    std::tuple<int, std::uint32_t, std::vector<std::pair<double, double>>, double>;

HostModel model_of(const ModelValues& values) {
    const auto& [speeds, kinds, watts, off, sleeps, cores, state] = values;
    HostModel model{.speeds = speeds, .watts_off = off, .cores = cores, .state = state};
    for (const int kind : kinds) {
        model.kinds.push_back(static_cast<StateKind>(kind));
    }
    for (const auto& [idle, epsilon, computing] : watts) {
        model.watts.push_back({idle, epsilon, computing});
    }
    for (const auto& [sleep, switching_off, switching_on] : sleeps) {
        model.sleeps.push_back({sleep, switching_off, switching_on});
    }
    return model;
}

std::shared_ptr<MachinePlan> make_plan(const std::vector<ModelValues>& models,
                                       const Input<std::uint32_t>& model_of_host,
                                       std::shared_ptr<const NetworkPlan> network,
                                       const std::vector<AvailabilityValues>& availabilities,
                                       double tcp_window, std::size_t n_billed) {
    auto plan = std::make_shared<MachinePlan>();
    for (const ModelValues& values : models) {
        plan->models.push_back(model_of(values));
    }
    plan->model_of.assign(model_of_host.data(), model_of_host.data() + model_of_host.size());
    plan->network = std::move(network);
    for (const auto& [what, subject, points, period] : availabilities) {
        Availability& added = plan->availabilities.emplace_back();
        added.what = static_cast<Availability::What>(what);
        added.subject = subject;
        added.period = period;
        for (const auto& [time, value] : points) {
            added.points.push_back({time, value});
        }
    }
    plan->tcp_window = tcp_window;
    plan->n_billed = n_billed;
    return plan;
}

// Tasks that are alike on all of their hosts, begun at increasing dates; returns their ends.
std::vector<double> run_tasks(Machine& machine, const Input<double>& begins,
                              const std::vector<std::vector<HostId>>& hosts,
                              const Input<double>& flops, const Input<double>& bytes) {
    const nb::gil_scoped_release release;
    std::vector<double> ends(begins.size(), not_a_time);
    std::size_t next = 0;
    for (;;) {
        const double begin = next < begins.size() ? begins.data()[next] : infinity;
        const double time = std::min(begin, machine.next_time());
        if (time == infinity) {
            return ends;
        }
        machine.advance_to(time);
        for (const Ended& ended : machine.ended()) {
            ends[ended.token] = time;
        }
        for (; next < begins.size() && begins.data()[next] <= time; ++next) {
            machine.run_alike(hosts[next], flops.data()[next], bytes.data()[next], next);
        }
    }
}

// The dates at which the ranks of a trace end.
std::vector<double> replay_trace(Machine& machine, std::shared_ptr<const mpi::Trace> trace,
                                 std::vector<HostId> hosts) {
    const nb::gil_scoped_release release;
    const std::size_t n_ranks = trace->n_ranks();
    if (hosts.size() != n_ranks) {
        throw InputError("hosts: got " + std::to_string(hosts.size()) +
                         ", expected one for each of " + std::to_string(n_ranks) + " ranks");
    }
    mpi::Replay replay(machine, std::move(trace), std::move(hosts), 0);
    replay.start();
    while (!replay.finished()) {
        const double time = machine.next_time();
        if (time == infinity) {
            throw DeadlockError("the trace does not go on: " + replay.stuck());
        }
        machine.advance_to(time);
        for (const Ended& ended : machine.ended()) {
            replay.on_end(ended.token);
        }
    }
    std::vector<double> ends;
    for (mpi::Rank rank = 0; rank < n_ranks; ++rank) {
        ends.push_back(replay.rank_end(rank));
    }
    return ends;
}

} // namespace

void bind_machine(nb::module_& module) {
    nb::class_<MachinePlan>(module, "MachinePlan", "Hosts and links, as all runs share them.")
        .def(nb::new_(&make_plan), nb::arg("models"), nb::arg("model_of"), nb::arg("network"),
             nb::arg("availabilities"), nb::arg("tcp_window"), nb::arg("n_billed"));
    nb::class_<MachineSetup>(module, "MachineSetup", "The machine that a run makes for itself.")
        .def(
            "__init__",
            [](MachineSetup* self, std::shared_ptr<const MachinePlan> plan,
               std::uint32_t n_storages, int sharing, int billing, bool report_ranks,
               bool batsim_latency, bool is_book) {
                new (self)
                    MachineSetup{std::move(plan),
                                 n_storages,
                                 {static_cast<Sharing>(sharing), static_cast<Billing>(billing)},
                                 report_ranks,
                                 batsim_latency,
                                 is_book};
            },
            nb::arg("plan"), nb::arg("n_storages"), nb::arg("sharing"), nb::arg("billing"),
            nb::arg("report_ranks"), nb::arg("batsim_latency"), nb::arg("is_book"))
        .def_ro("is_book", &MachineSetup::is_book,
                "Whether there is only a book of the hosts' power.");
    nb::class_<Machine>(module, "Machine", "A machine in simulated time.")
        .def(
            "__init__",
            [](Machine* self, std::shared_ptr<const MachinePlan> plan, int sharing, int billing) {
                new (self) Machine(std::move(plan),
                                   {static_cast<Sharing>(sharing), static_cast<Billing>(billing)});
            },
            nb::arg("plan"), nb::arg("sharing"), nb::arg("billing"))
        .def_prop_ro("now", &Machine::now)
        .def("next_time", &Machine::next_time)
        .def(
            "advance_to",
            [](Machine& machine, double time) {
                machine.advance_to(time);
                std::vector<std::tuple<Token, bool>> ended;
                for (const Ended& one : machine.ended()) {
                    ended.emplace_back(one.token, one.how == Ending::failed);
                }
                return ended;
            },
            nb::arg("time"), "Go to a date; return (token, whether it failed) of what has ended.")
        .def("sleep", &Machine::sleep, nb::arg("host"), nb::arg("seconds"), nb::arg("token"))
        .def("execute", &Machine::execute, nb::arg("host"), nb::arg("flops"), nb::arg("token"))
        .def("send", &Machine::send, nb::arg("src"), nb::arg("dst"), nb::arg("bytes"),
             nb::arg("token"))
        .def(
            "run",
            [](Machine& machine, const std::vector<HostId>& hosts, const std::vector<double>& flops,
               const std::vector<double>& bytes,
               Token token) { return machine.run(hosts, flops, bytes, token); },
            nb::arg("hosts"), nb::arg("flops"), nb::arg("bytes"), nb::arg("token"))
        .def(
            "run_alike",
            [](Machine& machine, const std::vector<HostId>& hosts, double flops, double bytes,
               Token token) { return machine.run_alike(hosts, flops, bytes, token); },
            nb::arg("hosts"), nb::arg("flops"), nb::arg("bytes"), nb::arg("token"))
        .def("cancel", &Machine::cancel, nb::arg("activity"))
        .def("remaining", &Machine::remaining, nb::arg("activity"))
        .def("state", &Machine::state, nb::arg("host"))
        .def("set_state", &Machine::set_state, nb::arg("host"), nb::arg("state"))
        .def("set_on", &Machine::set_on, nb::arg("host"), nb::arg("is_on"))
        .def("set_bandwidth", &Machine::set_bandwidth, nb::arg("link"), nb::arg("bandwidth"))
        .def("set_latency", &Machine::set_latency, nb::arg("link"), nb::arg("latency"))
        .def(
            "route",
            [](Machine& machine, HostId src, HostId dst) {
                const Route& route = machine.network().route(src, dst);
                return std::make_tuple(route.links, route.latency, route.missing);
            },
            nb::arg("src"), nb::arg("dst"), "Return links, latency, and whether one is missing.")
        .def("load", &Machine::load, nb::arg("host"))
        .def("watts", &Machine::watts, nb::arg("host"))
        .def("joules", &Machine::joules, nb::arg("host"))
        .def("last_bill", &Machine::last_bill, nb::arg("host"))
        .def("run_tasks", &run_tasks, nb::arg("begins"), nb::arg("hosts"), nb::arg("flops"),
             nb::arg("bytes"), "Run tasks that are alike on their hosts; return when they end.")
        .def("replay", &replay_trace, nb::arg("trace"), nb::arg("hosts"),
             "Replay a trace; return when its ranks end.");
}

} // namespace noctule
