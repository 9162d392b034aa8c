// The engine, its record and the native policies.
#include "bindings/bindings.hpp"

#include "errors.hpp"
#include "policies/policies.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace noctule {

namespace {

template <typename T> auto record_column(std::vector<T> Record::* member) {
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

std::shared_ptr<BoundEngine> make_engine(std::uint32_t n_hosts,
                                         std::shared_ptr<const JobTable> table, double speed,
                                         std::vector<double> speeds, double reference_speed,
                                         bool enforce_walltime, bool reject_oversized,
                                         bool wait_for_timers, double launch_delay,
                                         double epilogue_delay, double until) {
    const Options options{.speed = speed,
                          .speeds = std::move(speeds),
                          .reference_speed = reference_speed,
                          .enforce_walltime = enforce_walltime,
                          .reject_oversized = reject_oversized,
                          .wait_for_timers = wait_for_timers,
                          .launch_delay = launch_delay,
                          .epilogue_delay = epilogue_delay,
                          .until = until};
    return std::make_shared<BoundEngine>(n_hosts, std::move(table), options);
}

NativePolicy make_native(const std::string& name, const std::vector<std::pair<int, double>>& order,
                         int allocation) {
    std::vector<OrderStep> program;
    for (const auto& [op, value] : order) {
        program.push_back({static_cast<OrderOp>(op), value});
    }
    return {make_policy(name, Order(std::move(program)), static_cast<Allocation>(allocation))};
}

} // namespace

void bind_record(nb::module_& module) {
    nb::class_<Record>(module, "Record",
                       "What happened: columns, in the order in which jobs ended.")
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
             "Make one by its name, an order's program and an allocation's number.");
    module.def("policy_names", &policy_names, "Return the names of the native policies.");
}

void bind_engine(nb::module_& module) {
    nb::class_<BoundEngine>(module, "Engine", "The time-keeper of one run.")
        .def(nb::new_(&make_engine), nb::arg("n_hosts"), nb::arg("table"), nb::kw_only(),
             nb::arg("speed"), nb::arg("speeds"), nb::arg("reference_speed"),
             nb::arg("enforce_walltime"), nb::arg("reject_oversized"), nb::arg("wait_for_timers"),
             nb::arg("launch_delay"), nb::arg("epilogue_delay"), nb::arg("until"))
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
            "record", [](BoundEngine& e, bool final) { return e.at_rest().record(final); },
            nb::arg("final"),
            "Return the record so far; a final one is shared, and the run must not go on.");
}

} // namespace noctule
