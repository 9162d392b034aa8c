// Host sets, job tables and the SWF reader.
#include "bindings/bindings.hpp"

#include "errors.hpp"
#include "swf.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>

namespace noctule {

namespace {

HostSet host_set_from(const nb::object& hosts) {
    HostSet set;
    if (nb::try_cast(hosts, set)) {
        return set;
    }
    if (nb::isinstance<nb::str>(hosts)) {
        return HostSet::parse(nb::cast<std::string_view>(hosts));
    }
    std::vector<Interval> intervals;
    for (const nb::handle host : hosts) {
        HostId id = 0;
        if (!nb::try_cast(host, id)) {
            throw InputError("hosts: got " + std::string(nb::repr(host).c_str()) +
                             ", expected whole numbers >= 0");
        }
        intervals.push_back({id, id});
    }
    return HostSet::from_intervals(std::move(intervals));
}

std::vector<HostId> host_list(const HostSet& set) {
    std::vector<HostId> hosts;
    hosts.reserve(set.size());
    for (const Interval& interval : set.intervals()) {
        for (HostId host = interval.first;; ++host) {
            hosts.push_back(host);
            if (host == interval.last) {
                break;
            }
        }
    }
    return hosts;
}

// Refuses a job that the table does not have.
JobIndex checked(const JobTable& table, std::size_t index) {
    if (index >= table.jobs.size()) {
        throw nb::index_error("no such job");
    }
    return static_cast<JobIndex>(index);
}

template <typename T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<double> copied(const std::optional<Input<double>>& column) {
    return column ? std::vector<double>(column->data(), column->data() + column->size())
                  : std::vector<double>();
}

void add_programs(JobTable& table, const Input<std::uint32_t>& program,
                  const ProgramTable& programs) {
    table.program_indices.assign(program.data(), program.data() + program.size());
    for (const ProgramIndex index : table.program_indices) {
        if (index != no_program && index >= programs.size()) {
            throw InputError("program: got " + std::to_string(index) + ", expected one of the " +
                             std::to_string(programs.size()) + " programs");
        }
    }
    table.programs = std::make_shared<const ProgramTable>(programs);
}

std::shared_ptr<JobTable>
make_job_table(const nb::object& ids, const Input<double>& submit_time,
               const Input<double>& walltime, const Input<std::uint32_t>& n_hosts,
               const Input<double>& amount, const Input<std::uint8_t>& kind,
               const Input<std::uint8_t>& failing, const std::optional<Input<double>>& cancel_time,
               const std::optional<Input<double>>& launch_delay,
               const std::optional<Input<double>>& epilogue_delay,
               const std::optional<Input<std::uint32_t>>& program, const ProgramTable* programs) {
    auto table = std::make_shared<JobTable>();
    const std::size_t n = submit_time.size();
    if (nb::isinstance<nb::list>(ids)) {
        table->names = nb::cast<std::vector<std::string>>(ids);
    } else {
        const auto numbers = nb::cast<Input<std::int64_t>>(ids);
        table->numbers.assign(numbers.data(), numbers.data() + numbers.size());
    }
    table->jobs.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        table->jobs.push_back({submit_time.data()[i], walltime.data()[i], amount.data()[i],
                               n_hosts.data()[i], static_cast<ProfileKind>(kind.data()[i]),
                               failing.data()[i] != 0});
    }
    table->cancel_times = copied(cancel_time);
    table->launch_delays = copied(launch_delay);
    table->epilogue_delays = copied(epilogue_delay);
    if (program && programs != nullptr) {
        add_programs(*table, *program, *programs);
    }
    return table;
}

// A column over one member of the jobs.
template <typename T, typename Member> auto job_column(Member Job::* member) {
    static_assert(sizeof(T) == sizeof(Member) && sizeof(Job) % sizeof(T) == 0);
    return [member](nb::handle self) {
        const auto& jobs = nb::cast<const JobTable&>(self).jobs;
        const T* first = jobs.empty() ? nullptr : reinterpret_cast<const T*>(&(jobs[0].*member));
        return column_of(first, jobs.size(), self, sizeof(Job) / sizeof(T));
    };
}

nb::object all_ids(nb::handle self) {
    const JobTable& table = nb::cast<const JobTable&>(self);
    if (table.names.empty()) {
        return nb::cast(column_of(table.numbers, self));
    }
    return nb::module_::import_("numpy").attr("array")(nb::cast(table.names), "object");
}

} // namespace

nb::object id_object(const JobTable& table, JobIndex job) {
    return job < table.numbers.size() ? nb::cast(table.numbers[job])
                                      : nb::cast(table.names[job - table.numbers.size()]);
}

void bind_host_set(nb::module_& module) {
    nb::class_<HostSet>(module, "HostSet", "An immutable set of host ids, printed `0-3 7`.")
        .def(
            "__init__",
            [](HostSet* self, const nb::object& hosts) {
                new (self) HostSet(host_set_from(hosts));
            },
            nb::arg("hosts") = nb::tuple(), "Make a set of ids, or of a text such as `0-3 7`.")
        .def_static("from_str", &HostSet::parse, nb::arg("text"), "Read a text such as `0-3 7`.")
        .def("__str__", &HostSet::to_string)
        .def("__repr__", [](const HostSet& s) { return "HostSet('" + s.to_string() + "')"; })
        .def(
            "__reduce__",
            [](const HostSet& s) {
                return nb::make_tuple(nb::type<HostSet>(), nb::make_tuple(s.to_string()));
            },
            nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"))
        .def("__len__", &HostSet::size)
        .def("__bool__", [](const HostSet& s) { return !s.empty(); })
        .def("__contains__", &HostSet::contains, nb::arg("host"))
        .def(
            "__contains__", [](const HostSet&, const nb::object&) { return false; },
            nb::arg("host"))
        .def(
            "__iter__", [](const HostSet& s) { return nb::iter(nb::cast(host_list(s))); },
            nb::sig("def __iter__(self) -> collections.abc.Iterator[int]"))
        .def("__hash__", [](const HostSet& s) { return nb::hash(nb::cast(s.to_string())); })
        .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__or__", &HostSet::united, nb::arg("other"))
        .def("__and__", &HostSet::intersected, nb::arg("other"))
        .def("__sub__", &HostSet::without, nb::arg("other"))
        .def(
            "intervals",
            [](const HostSet& s) {
                std::vector<std::pair<HostId, HostId>> pairs;
                for (const Interval& interval : s.intervals()) {
                    pairs.emplace_back(interval.first, interval.last);
                }
                return pairs;
            },
            "Return the (first, last) of each run of hosts, both inclusive.");
}

void bind_job_table(nb::module_& module) {
    nb::class_<JobTable>(module, "JobTable", "The jobs of a workload, in order of submission.")
        .def(nb::new_(&make_job_table), nb::arg("ids"), nb::kw_only(), nb::arg("submit_time"),
             nb::arg("walltime"), nb::arg("n_hosts"), nb::arg("amount"), nb::arg("kind"),
             nb::arg("failing"), nb::arg("cancel_time") = nb::none(),
             nb::arg("launch_delay") = nb::none(), nb::arg("epilogue_delay") = nb::none(),
             nb::arg("program") = nb::none(), nb::arg("programs").none() = nb::none())
        .def("__len__", [](const JobTable& table) { return table.jobs.size(); })
        .def(
            "job_id", [](const JobTable& t, std::size_t i) { return id_object(t, checked(t, i)); },
            nb::arg("index"), nb::sig("def job_id(self, index: int) -> int | str"))
        .def(
            "cancel_time",
            [](const JobTable& t, std::size_t i) { return t.cancel_time(checked(t, i)); },
            nb::arg("index"))
        .def(
            "launch_delay",
            [](const JobTable& t, std::size_t i) { return t.launch_delay(checked(t, i)); },
            nb::arg("index"))
        .def(
            "epilogue_delay",
            [](const JobTable& t, std::size_t i) { return t.epilogue_delay(checked(t, i)); },
            nb::arg("index"))
        .def(
            "add_dependency",
            [](JobTable& table, std::size_t job, std::size_t on, double think_time) {
                table.dependencies.push_back({checked(table, job), checked(table, on), think_time});
            },
            nb::arg("job"), nb::arg("on"), nb::arg("think_time"))
        .def(
            "set_rank_hosts",
            [](JobTable& table, std::size_t job, std::vector<std::uint32_t> hosts) {
                table.rank_hosts[checked(table, job)] = std::move(hosts);
            },
            nb::arg("job"), nb::arg("hosts"))
        .def(
            "rank_hosts",
            [](const JobTable& t, std::size_t i) {
                const auto hosts = t.ranks_of(checked(t, i));
                return std::vector<std::uint32_t>(hosts.begin(), hosts.end());
            },
            nb::arg("index"))
        .def(
            "program_index",
            [](const JobTable& t, std::size_t i) -> std::optional<ProgramIndex> {
                const ProgramIndex index = t.program_index(checked(t, i));
                return index == no_program ? std::nullopt : std::optional(index);
            },
            nb::arg("index"), "Return which of the programs a job runs, or None.")
        .def(
            "programs",
            [](const JobTable& t) {
                return std::make_shared<ProgramTable>(t.programs ? *t.programs : ProgramTable());
            },
            "Return a copy of the programs of the jobs, to which others can be added.")
        .def("dependency_cycle", &JobTable::dependency_cycle,
             "Return a job that waits for itself through others, or None.")
        .def_prop_ro("job_ids", &all_ids,
                     nb::sig("def job_ids(self) -> numpy.typing.NDArray[typing.Any]"))
        .def_prop_ro("submit_time", job_column<double>(&Job::submit_time),
                     nb::sig("def submit_time(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("walltime", job_column<double>(&Job::walltime),
                     nb::sig("def walltime(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("amount", job_column<double>(&Job::amount),
                     nb::sig("def amount(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("n_hosts", job_column<std::uint32_t>(&Job::n_hosts),
                     nb::sig("def n_hosts(self) -> numpy.typing.NDArray[numpy.uint32]"))
        .def_prop_ro("failing", job_column<std::uint8_t>(&Job::failing),
                     nb::sig("def failing(self) -> numpy.typing.NDArray[numpy.uint8]"))
        .def_prop_ro("kind", job_column<std::uint8_t>(&Job::kind),
                     nb::sig("def kind(self) -> numpy.typing.NDArray[numpy.uint8]"));
}

void bind_swf(nb::module_& module) {
    module.def(
        "parse_swf",
        [](const nb::bytes& text) {
            auto* table = new SwfTable;
            const nb::capsule owner(table,
                                    [](void* p) noexcept { delete static_cast<SwfTable*>(p); });
            {
                const std::string_view view(text.c_str(), text.size());
                nb::gil_scoped_release release;
                *table = parse_swf(view);
            }
            return std::make_pair(nb::ndarray<nb::numpy, double, nb::ndim<2>>(
                                      table->cells.data(), {table->n_rows, 18}, owner),
                                  nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<1>>(
                                      table->lines.data(), {table->n_rows}, owner));
        },
        nb::arg("text"),
        nb::sig("def parse_swf(text: bytes) -> tuple[numpy.typing.NDArray[numpy.float64], "
                "numpy.typing.NDArray[numpy.uint32]]"),
        "Return the 18 fields of every line of a Standard Workload Format log, and line numbers.");
}

} // namespace noctule
