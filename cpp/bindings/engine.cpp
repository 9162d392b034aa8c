// The engine, its record and the native policies.
#include "bindings/bindings.hpp"

#include "errors.hpp"
#include "policies/policies.hpp"
#include "replay/users.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace noctule {

namespace {

// A column that is made when somebody asks, which then owns it.
template <typename T> auto record_column(std::vector<T> (Record::*make)() const) {
    return [make](const Record& record) {
        auto* values = new std::vector<T>((record.*make)());
        const nb::capsule owner(values,
                                [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
        return column_of(*values, owner);
    };
}

template <typename Array>
    requires std::is_object_v<Array>
auto record_column(Array Record::* member) {
    return [member](nb::handle self) {
        return column_of(nb::cast<const Record&>(self).*member, self);
    };
}

std::vector<std::string> hosts_text(const Record& record, std::size_t first, std::size_t last) {
    std::vector<std::string> texts;
    for (std::size_t row = first; row < std::min(last, record.size()); ++row) {
        texts.push_back(record.hosts(row).to_string());
    }
    return texts;
}

std::vector<std::string> metadata_of(const Record& record) {
    std::vector<std::string> texts;
    if (!record.metadata.empty()) {
        for (const JobIndex job : record.job) {
            const auto found = record.metadata.find(job);
            texts.push_back(found == record.metadata.end() ? "" : found->second);
        }
    }
    return texts;
}

std::shared_ptr<BoundEngine>
make_engine(std::uint32_t n_hosts, std::shared_ptr<const JobTable> table, double speed,
            std::vector<double> speeds, std::vector<std::uint32_t> groups, double reference_speed,
            bool enforce_walltime, bool reject_oversized, bool wait_for_timers, double launch_delay,
            double epilogue_delay, double until, bool share_hosts, bool share_storages,
            bool wake_for_jobs, bool batsim_events, bool open_registration,
            bool acknowledge_registered, const AttemptOptions& attempts,
            std::vector<TimeWindow> windows, std::vector<WindowIndex> reservations,
            std::vector<std::vector<JobIndex>> submitters,
            std::vector<std::vector<ExternalEvent>> external_events, const MachineSetup* machine,
            std::shared_ptr<GroupPlan> users) {
    const Options options{.speed = speed,
                          .speeds = std::move(speeds),
                          .groups = std::move(groups),
                          .reference_speed = reference_speed,
                          .enforce_walltime = enforce_walltime,
                          .reject_oversized = reject_oversized,
                          .wait_for_timers = wait_for_timers,
                          .launch_delay = launch_delay,
                          .epilogue_delay = epilogue_delay,
                          .until = until,
                          .share_hosts = share_hosts,
                          .share_storages = share_storages,
                          .wake_for_jobs = wake_for_jobs,
                          .batsim_events = batsim_events,
                          .open_registration = open_registration,
                          .acknowledge_registered = acknowledge_registered,
                          .attempts = attempts,
                          .windows = std::move(windows),
                          .reservations = std::move(reservations)};
    MachineParts parts;
    if (machine != nullptr && machine->is_book) {
        parts.book = std::make_unique<PowerBook>(machine->plan, n_hosts);
    } else if (machine != nullptr) {
        MachineOptions machine_options = machine->options;
        machine_options.rounds_dates = machine->has_latency;
        parts.machine = std::make_unique<Machine>(machine->plan, machine_options);
        parts.execution = {reference_speed, machine->report_ranks, machine->has_latency};
        parts.has_latency = machine->has_latency;
        for (HostId storage = 0; storage < machine->n_storages; ++storage) {
            parts.storages.push_back(n_hosts + storage);
        }
    }
    return std::make_shared<BoundEngine>(
        n_hosts, std::move(table), options, std::move(parts),
        Submitters{std::move(submitters), std::move(external_events),
                   users ? std::make_unique<Users>(std::move(users)) : nullptr});
}

NativePolicy make_native(const std::string& name, const std::vector<std::pair<int, double>>& order,
                         int allocation, const std::map<std::string, double>& numbers) {
    std::vector<OrderStep> program;
    for (const auto& [op, value] : order) {
        program.push_back({static_cast<OrderOp>(op), value});
    }
    const auto made_for = [=](Absences absences) {
        return make_policy(name, {.order = Order(program),
                                  .allocation = static_cast<Allocation>(allocation),
                                  .numbers = {numbers.begin(), numbers.end()},
                                  .absences = absences});
    };
    return {made_for(Absences::none), made_for};
}

// What a run on a machine has besides; columns are empty where it has none.
void bind_power_record(nb::class_<Record>& record) {
    const auto add = [&](const char* name, auto member, const char* type) {
        const std::string signature =
            "def " + std::string(name) + "(self) -> numpy.typing.NDArray[numpy." + type + "]";
        record.def_prop_ro(name, record_column(member), nb::rv_policy::automatic,
                           nb::sig(signature.c_str()));
    };
    add("host_state_sleeping", &Record::host_state_sleeping, "uint32");
    add("host_state_switching_on", &Record::host_state_switching_on, "uint32");
    add("host_state_switching_off", &Record::host_state_switching_off, "uint32");
    add("energy", &Record::energy, "float64");
    add("energy_time", &Record::energy_time, "float64");
    add("energy_joules", &Record::energy_joules, "float64");
    add("energy_least_watts", &Record::energy_least_watts, "float64");
    add("energy_why", &Record::energy_why, "uint8");
    add("power_time", &Record::power_time, "float64");
    add("power_watts", &Record::power_watts, "float64");
    add("power_state_time", &Record::power_state_time, "float64");
    add("power_state_value", &Record::power_state_value, "int32");
    add("host_state_unavailable", &Record::host_state_unavailable, "uint32");
    add("host_state_failed", &Record::host_state_failed, "uint32");
    add("useful_time", &Record::useful_time, "float64");
    add("suspended_time", &Record::suspended_time, "float64");
    record.def_ro("power_state_hosts", &Record::power_state_hosts,
                  "Hosts of each change of power states.");
}

void bind_windows(nb::module_& module) {
    nb::class_<TimeWindow>(module, "ViewWindow",
                           "A stretch of time in which hosts are not for all.")
        .def(
            "__init__",
            [](TimeWindow* self, const std::string& name, bool reserves, const HostSet& hosts,
               double start, double end, double announced, bool kills) {
                const auto kind =
                    reserves ? TimeWindow::Kind::reservation : TimeWindow::Kind::maintenance;
                new (self) TimeWindow{kind, hosts, start, end, announced, kills, name};
            },
            nb::arg("name"), nb::arg("reserves"), nb::arg("hosts"), nb::arg("start"),
            nb::arg("end"), nb::arg("announced"), nb::arg("kills"))
        .def_ro("name", &TimeWindow::name)
        .def_prop_ro(
            "kind",
            [](const TimeWindow& w) {
                return w.kind == TimeWindow::Kind::maintenance ? "maintenance" : "reservation";
            },
            "maintenance or reservation.")
        .def_ro("hosts", &TimeWindow::hosts)
        .def_ro("start", &TimeWindow::from)
        .def_ro("end", &TimeWindow::to)
        .def_ro("kills", &TimeWindow::kills, "Whether jobs on its hosts end when it begins.")
        .def_prop_ro(
            "is_active", [](const TimeWindow& w) { return w.phase == TimeWindow::Phase::active; },
            "Whether it had begun when it was looked at.")
        .def("__repr__", [](const TimeWindow& w) {
            return "<ViewWindow " + w.name + ": hosts " + w.hosts.to_string() + " from " +
                   format_time(w.from) + " to " + format_time(w.to) + ">";
        });
    nb::class_<AttemptOptions>(module, "AttemptOptions", "What is done about interrupted jobs.")
        .def(
            "__init__",
            [](AttemptOptions* self, bool resubmit, std::uint32_t max_attempts,
               double checkpoint_every, double checkpoint_cost, double restart_cost,
               std::uint32_t resubmit_killed) {
                new (self) AttemptOptions{resubmit,        max_attempts, checkpoint_every,
                                          checkpoint_cost, restart_cost, resubmit_killed};
            },
            nb::arg("resubmit"), nb::arg("max_attempts"), nb::arg("checkpoint_every"),
            nb::arg("checkpoint_cost"), nb::arg("restart_cost"), nb::arg("resubmit_killed"));
}

} // namespace

void bind_record(nb::module_& module) {
    nb::class_<Record> record(module, "Record",
                              "What happened: columns, in the order in which jobs ended.");
    bind_power_record(record);
    record
        .def_prop_ro("metadata", &metadata_of,
                     "What the policy has written down about the jobs, by row; empty if nothing.")
        .def("__len__", &Record::size)
        .def(
            "hosts",
            [](const Record& record, std::size_t row) {
                if (row >= record.size()) {
                    throw nb::index_error("no such row");
                }
                return record.hosts(row);
            },
            nb::arg("row"))
        .def("hosts_text", &hosts_text, nb::arg("first"), nb::arg("last"),
             "Return the hosts of rows [first, last) as texts such as `0-3 7`.")
        .def_prop_ro("job", record_column(&Record::job),
                     nb::sig("def job(self) -> numpy.typing.NDArray[numpy.uint32]"))
        .def_prop_ro("n_hosts", record_column(&Record::n_hosts),
                     nb::sig("def n_hosts(self) -> numpy.typing.NDArray[numpy.uint32]"))
        .def_prop_ro("submit_time", record_column(&Record::submit_time),
                     nb::sig("def submit_time(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("start_time", record_column(&Record::start_time),
                     nb::sig("def start_time(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("finish_time", record_column(&Record::finish_time),
                     nb::sig("def finish_time(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro(
            "state",
            [](nb::handle self) {
                const auto& states = nb::cast<const Record&>(self).state;
                const auto* codes = reinterpret_cast<const std::uint8_t*>(states.data());
                return column_of(codes, states.size(), self);
            },
            nb::sig("def state(self) -> numpy.typing.NDArray[numpy.uint8]"))
        .def_prop_ro("host_state_time", record_column(&Record::host_state_time),
                     nb::sig("def host_state_time(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("host_state_idle", record_column(&Record::host_state_idle),
                     nb::sig("def host_state_idle(self) -> numpy.typing.NDArray[numpy.uint32]"))
        .def_prop_ro(
            "host_state_computing", record_column(&Record::host_state_computing),
            nb::sig("def host_state_computing(self) -> numpy.typing.NDArray[numpy.uint32]"));
}

void bind_native_policy(nb::module_& module) {
    nb::class_<NativePolicy>(module, "NativePolicy", "A policy that runs without Python.")
        .def(nb::new_(&make_native), nb::arg("name"), nb::arg("order"), nb::arg("allocation"),
             nb::arg("numbers"),
             "Make one by its name, an order's program, an allocation's number, and its own "
             "parameters.")
        .def_prop_ro(
            "wakes_hosts", [](const NativePolicy& native) { return native.policy->wakes_hosts(); },
            "Whether jobs wake hosts that sleep, unless the run says otherwise.")
        .def(
            "warnings", [](const NativePolicy& native) { return native.policy->warnings(); },
            "Return what was odd about the run, in sentences.");
    module.def("policy_names", &policy_names, "Return the names of the native policies.");
}

void bind_engine(nb::module_& module) {
    nb::class_<ExternalEvent>(module, "ExternalEvent", "What happens from outside.")
        .def(
            "__init__",
            [](ExternalEvent* self, double time, int kind, const HostSet& hosts,
               const std::string& data) {
                new (self) ExternalEvent{time, static_cast<ExternalEvent::Kind>(kind), hosts, data};
            },
            nb::arg("time"), nb::arg("kind"), nb::arg("hosts"), nb::arg("data"));
    bind_windows(module);
    nb::class_<BoundEngine>(module, "Engine", "The time-keeper of one run.")
        .def(nb::new_(&make_engine), nb::arg("n_hosts"), nb::arg("table"), nb::kw_only(),
             nb::arg("speed"), nb::arg("speeds"), nb::arg("groups"), nb::arg("reference_speed"),
             nb::arg("enforce_walltime"), nb::arg("reject_oversized"), nb::arg("wait_for_timers"),
             nb::arg("launch_delay"), nb::arg("epilogue_delay"), nb::arg("until"),
             nb::arg("share_hosts"), nb::arg("share_storages"), nb::arg("wake_for_jobs"),
             nb::arg("batsim_events"), nb::arg("open_registration"),
             nb::arg("acknowledge_registered"), nb::arg("attempts"), nb::arg("windows"),
             nb::arg("reservations"), nb::arg("submitters"), nb::arg("external_events"),
             nb::arg("machine").none(), nb::arg("users").none())
        .def(
            "run",
            [](BoundEngine& engine, NativePolicy& native, std::uint64_t n_calls) {
                Policy& policy = native.serving(engine);
                const BoundEngine::NativeRun native_run(engine.at_rest());
                nb::gil_scoped_release release;
                return run(engine, policy, n_calls);
            },
            nb::arg("policy"), nb::arg("n_calls"),
            "Call the policy at most so many times; False once the run has ended.")
        .def_prop_ro("now", [](const BoundEngine& e) { return e.now(); })
        .def_prop_ro("n_ended", [](const BoundEngine& e) { return e.n_ended(); })
        .def_prop_ro("n_jobs", [](const BoundEngine& e) { return e.table().jobs.size(); })
        .def(
            "attempt",
            [](const BoundEngine& e, JobIndex job) {
                const Engine::Attempt attempt = e.attempt(job);
                return std::pair(attempt.origin, attempt.number);
            },
            nb::arg("job"), "Return which job an attempt stands for, and its number from 1 on.")
        .def(
            "job_id", [](const BoundEngine& e, JobIndex job) { return e.table().id(job); },
            nb::arg("job"), "Return the id of a job as text.")
        .def(
            "record", [](BoundEngine& e, bool final) { return e.at_rest().record(final); },
            nb::arg("final"),
            "Return the record so far; a final one is shared, and the run must not go on.")
        .def(
            "spent", [](BoundEngine& e) { return e.at_rest().spent(); },
            "Return the joules of each host: idle, computing, switching, sleeping; empty where "
            "nobody counts.")
        .def(
            "warnings", [](BoundEngine& e) { return e.at_rest().warnings(); },
            "Return what was odd about the network, in sentences.");
}

} // namespace noctule
