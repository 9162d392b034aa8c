// The face of what a Python policy sees.
#include "bindings/view.hpp"

#include "errors.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <tuple>

namespace noctule {

namespace {

// The waiting or the running jobs, oldest first.
struct JobList {
    nb::object owner; // keeps the view alive
    PythonView* view;
    bool running;
};

struct JobIterator {
    nb::object owner;
    PythonView* view;
    bool running;
    std::size_t cursor;
    std::uint64_t instant; // at which it was made
};

JobList job_list(nb::handle view, bool running) {
    return {nb::borrow(view), nb::inst_ptr<PythonView>(view), running};
}

PyObject* next_job(PyObject* self) {
    JobIterator& iterator = *nb::inst_ptr<JobIterator>(self);
    PythonView& view = *iterator.view;
    if (iterator.instant != view.engine().instant()) {
        PyErr_SetString(PyExc_RuntimeError, "the view has moved on since this iteration began");
        return nullptr;
    }
    const JobIndex job = iterator.running ? view.engine().next_running(iterator.cursor)
                                          : view.engine().next_waiting(iterator.cursor);
    return job == no_job ? nullptr : view.job_object(job);
}

const std::array<PyType_Slot, 3> iterator_slots{{
    {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
    {Py_tp_iternext, reinterpret_cast<void*>(next_job)},
    {0, nullptr},
}};

PythonView& view_of(const ViewJob& job) {
    if (job.view == nullptr) {
        throw nb::attribute_error("the job has ended: only what it asked for is still known");
    }
    return *job.view;
}

template <typename Get> auto of_engine(Get get) {
    return [get](const ViewJob& job) { return get(view_of(job).engine(), job.index); };
}

std::vector<std::tuple<std::string, std::int64_t, double>> progress_of(Engine& engine,
                                                                       JobIndex job) {
    std::vector<std::tuple<std::string, std::int64_t, double>> levels;
    for (const ProgressLevel& level : engine.progress(job)) {
        levels.emplace_back(level.profile, level.part, level.done);
    }
    return levels;
}

template <typename Value> auto of_host(Value (Engine::*get)(HostId) const) {
    return [get](PythonView& view, std::size_t host) {
        if (host >= view.engine().n_hosts()) {
            throw nb::index_error("there is no such host");
        }
        return (view.engine().*get)(static_cast<HostId>(host));
    };
}

nb::object label(const ViewJob& job, const char* name) {
    return job.jobs.attr("label")(name, job.index);
}

std::vector<std::pair<double, std::uint32_t>> releases(PythonView& view) {
    std::vector<std::pair<double, std::uint32_t>> all;
    const double now = view.engine().now();
    view.engine().releases().for_each([&](const Release& release) {
        all.emplace_back(std::max(release.time, now), release.n_hosts);
    });
    return all;
}

nb::object made_events(nb::handle self) {
    Events& events = nb::cast<Events&>(self);
    if (!events.made.is_valid()) {
        if (events.view == nullptr) {
            throw std::runtime_error("the simulation of these events is gone");
        }
        events.made = events.view->make_events();
    }
    return events.made;
}

void bind_view_job(nb::module_& module) {
    nb::class_<ViewJob>(module, "ViewJob", "A job as a policy may know it.")
        .def_prop_ro(
            "id", [](const ViewJob& job) { return job.id; }, nb::sig("def id(self) -> int | str"))
        .def_ro("submit_time", &ViewJob::submit_time)
        .def_ro("walltime", &ViewJob::walltime, "Asked time limit; infinite where there is none.")
        .def_ro("n_hosts", &ViewJob::n_hosts, "Asked number of hosts.")
        .def_prop_ro(
            "user", [](const ViewJob& job) { return label(job, "user"); },
            nb::sig("def user(self) -> int | str | None"))
        .def_prop_ro(
            "group", [](const ViewJob& job) { return label(job, "group"); },
            nb::sig("def group(self) -> int | str | None"))
        .def_prop_ro(
            "queue", [](const ViewJob& job) { return label(job, "queue"); },
            nb::sig("def queue(self) -> int | str | None"))
        .def_prop_ro(
            "extra", [](const ViewJob& job) { return job.jobs.attr("extra")(job.index); },
            nb::sig("def extra(self) -> collections.abc.Mapping[str, typing.Any]"),
            "Fields of the workload that Noctule does not use.")
        .def_prop_ro("start_time", of_engine([](Engine& e, JobIndex j) { return e.start_time(j); }),
                     "Date of the start, still to come while the hosts wake; NaN before that.")
        .def_prop_ro("expected_end",
                     of_engine([](Engine& e, JobIndex j) { return e.expected_end(j); }),
                     "start_time + walltime.")
        .def_prop_ro("hosts", of_engine([](Engine& e, JobIndex j) { return e.hosts(j); }),
                     "Hosts that the job holds.")
        .def_prop_ro("reservation",
                     of_engine([](Engine& e, JobIndex j) -> std::optional<TimeWindow> {
                         const WindowIndex window = e.reservation(j);
                         if (window == no_window) {
                             return std::nullopt;
                         }
                         return e.windows()[window];
                     }),
                     "The window that the job runs in; None for most.")
        .def_prop_ro("progress", of_engine(&progress_of),
                     "How far a running or a killed job has come: (profile, part, done) of its "
                     "profile, of the part that it is in, and so on; `part` counts over all "
                     "repetitions of a sequence, and is -1 where nobody can tell.")
        .def_prop_ro(
            "runtime",
            [](const ViewJob& job) {
                if (!view_of(job).clairvoyant()) {
                    throw nb::attribute_error(
                        "a policy does not know runtimes, unless the run is clairvoyant");
                }
                return view_of(job).engine().duration(job.index);
            },
            "True duration; only in a clairvoyant run.")
        .def(
            "__eq__",
            [](const ViewJob& job, const nb::object& other) {
                const ViewJob* same = nullptr;
                return nb::try_cast(other, same) && same->index == job.index &&
                       same->jobs.is(job.jobs);
            },
            nb::arg("other"), nb::is_operator(),
            nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", [](const ViewJob& job) { return job.index; })
        .def("__repr__", [](const ViewJob& job) {
            return "<job " + std::string(nb::str(job.id).c_str()) + ": " +
                   std::to_string(job.n_hosts) + " hosts, walltime " + format_time(job.walltime) +
                   ">";
        });
}

} // namespace

void bind_view(nb::module_& module) {
    bind_view_job(module);
    nb::class_<JobIterator>(module, "_JobIterator", nb::type_slots(iterator_slots.data()));
    nb::class_<JobList>(module, "JobList", "Jobs of the view, oldest first.")
        .def("__len__",
             [](const JobList& list) {
                 Engine& engine = list.view->engine();
                 return list.running ? engine.n_running() : engine.n_waiting();
             })
        .def(
            "__getitem__",
            [](const JobList& list, std::size_t position) {
                Engine& engine = list.view->engine();
                std::size_t cursor = 0;
                JobIndex job = 0;
                do {
                    job = list.running ? engine.next_running(cursor) : engine.next_waiting(cursor);
                } while (job != no_job && position-- > 0);
                if (job == no_job) {
                    throw nb::index_error("no such job in the list");
                }
                return nb::steal(list.view->job_object(job));
            },
            nb::arg("position"), nb::sig("def __getitem__(self, position: int) -> ViewJob"),
            "Return one job; takes as long as iterating up to it.")
        .def(
            "__iter__",
            [](const JobList& list) {
                return JobIterator{list.owner, list.view, list.running, 0,
                                   list.view->engine().instant()};
            },
            nb::sig("def __iter__(self) -> collections.abc.Iterator[ViewJob]"));
    nb::class_<Events>(module, "Events", "What happened since the last call, in order.")
        .def("__len__", [](nb::handle self) { return nb::len(made_events(self)); })
        .def(
            "__iter__", [](nb::handle self) { return nb::iter(made_events(self)); },
            nb::sig("def __iter__(self) -> collections.abc.Iterator[noctule.messages.Event]"))
        .def(
            "__getitem__",
            [](nb::handle self, nb::handle key) { return nb::object(made_events(self)[key]); },
            nb::arg("key"), nb::sig("def __getitem__(self, key: int) -> noctule.messages.Event"));
    nb::class_<PythonView>(module, "View", "What a policy may see; nothing in it can be changed.")
        .def(nb::init<std::shared_ptr<BoundEngine>, nb::object, bool>(), nb::arg("engine"),
             nb::arg("jobs"), nb::arg("clairvoyant"))
        .def_prop_ro("now", [](PythonView& v) { return v.engine().now(); })
        .def_prop_ro(
            "n_hosts", [](PythonView& v) { return v.engine().n_hosts(); },
            "Number of hosts of the platform.")
        .def_prop_ro(
            "n_free", [](PythonView& v) { return v.engine().n_free(); }, "Number of free hosts.")
        .def_prop_ro(
            "free", [](PythonView& v) { return v.engine().free_hosts().to_host_set(); },
            "Free hosts.")
        .def_prop_ro(
            "groups",
            [](PythonView& v) {
                const Hierarchy& hierarchy = v.engine().hierarchy();
                std::vector<HostSet> groups;
                for (Hierarchy::Group group = 0; group < hierarchy.n_groups(); ++group) {
                    groups.push_back(hierarchy.hosts(group));
                }
                return groups;
            },
            "Hosts that lie close together, under one switch or in one cabinet; every host is in "
            "one group.")
        .def_prop_ro(
            "completing", [](PythonView& v) { return v.engine().completing_hosts(); },
            "Hosts in the epilogue of an ended job: not free yet.")
        .def_prop_ro(
            "asleep", [](PythonView& v) { return v.engine().hosts_in(HostPhase::asleep); },
            "Hosts in a power state in which they sleep.")
        .def_prop_ro(
            "switching",
            [](PythonView& v) {
                return v.engine()
                    .hosts_in(HostPhase::switching_on)
                    .united(v.engine().hosts_in(HostPhase::switching_off));
            },
            "Hosts that are being switched on or off.")
        .def_prop_ro(
            "failed", [](PythonView& v) { return v.engine().hosts_in(HostPhase::failed); },
            "Hosts that have failed, and are not back.")
        .def_prop_ro(
            "unavailable", [](PythonView& v) { return v.engine().unavailable_hosts(); },
            "Hosts that an external event or a maintenance has taken away; jobs on them go on.")
        .def_prop_ro(
            "windows",
            [](PythonView& v) {
                std::vector<TimeWindow> known;
                std::ranges::copy_if(v.engine().windows(), std::back_inserter(known),
                                     &TimeWindow::is_known);
                return known;
            },
            "Maintenances and reservations that are announced and not over.")
        .def_prop_ro(
            "lost", [](PythonView& v) { return v.engine().lost_hosts(); },
            "Hosts that are away, or will be once their jobs have ended, for nobody knows how "
            "long.")
        .def(
            "free_in",
            [](PythonView& v, const TimeWindow& window) {
                const std::vector<TimeWindow>& all = v.engine().windows();
                const auto found = std::ranges::find(all, window.name, &TimeWindow::name);
                if (found == all.end()) {
                    throw nb::index_error("the run has no such window");
                }
                const auto index = static_cast<WindowIndex>(found - all.begin());
                return v.engine().free_in(index).to_host_set();
            },
            nb::arg("window"), "Return the hosts that jobs of a reservation may start on now.")
        .def(
            "power_state",
            [](PythonView& v, std::size_t host) {
                if (!v.engine().has_power_states() || host >= v.engine().n_hosts()) {
                    throw nb::index_error("the run has no power states, or no such host");
                }
                return v.engine().power_state(static_cast<HostId>(host));
            },
            nb::arg("host"), "Return the power state of a host.")
        .def_prop_ro(
            "wakes_hosts", [](PythonView& v) { return v.engine().wakes_hosts(); },
            "Whether hosts that sleep or switch are free, and jobs that are started there wake "
            "them.")
        .def("sleep_state", of_host(&Engine::sleep_state), nb::arg("host"),
             "Return the power state in which a host sleeps if nothing else is said.")
        .def("computing_state", of_host(&Engine::computing_state), nb::arg("host"),
             "Return the power state to which a host is woken.")
        .def("switch_on_seconds", of_host(&Engine::switch_on_seconds), nb::arg("host"),
             "Return how long a host takes from its sleep state to being awake.")
        .def("switch_off_seconds", of_host(&Engine::switch_off_seconds), nb::arg("host"),
             "Return how long a host takes to its sleep state.")
        .def_prop_ro(
            "energy", [](PythonView& v) { return v.engine().joules(); },
            "Joules of all hosts so far; NaN where the run does not count them.")
        .def(
            "host_energy",
            [](PythonView& v, std::size_t host) {
                if (host >= v.engine().n_hosts()) {
                    throw nb::index_error("there is no such host");
                }
                return v.engine().joules(static_cast<HostId>(host));
            },
            nb::arg("host"),
            "Return the joules of a host so far; NaN where the run does not count them.")
        .def_prop_ro(
            "waiting", [](nb::handle v) { return job_list(v, false); },
            "Waiting jobs, in order of submission.")
        .def_prop_ro(
            "running", [](nb::handle v) { return job_list(v, true); },
            "Running jobs, in order of start.")
        .def(
            "releases", &releases,
            "Return (date, hosts) of what running jobs will give back, at their walltimes, sorted.")
        .def(
            "job",
            [](PythonView& v, nb::handle id) { return nb::steal(v.job_object(v.find_shown(id))); },
            nb::arg("job_id"), nb::sig("def job(self, job_id: int | str) -> ViewJob"),
            "Return the job with this id.");
    module.def(
        "run_python",
        [](nb::handle view, nb::handle decide, std::uint64_t n_calls, nb::handle policy) {
            return nb::cast<PythonView&>(view).run(view, decide, n_calls, policy);
        },
        nb::arg("view"), nb::arg("decide"), nb::arg("n_calls"), nb::arg("policy") = nb::none(),
        nb::sig("def run_python(view: View, decide: object, n_calls: int, "
                "policy: object = None) -> bool"),
        "Call decide(view, events), or the shortcut of a policy where that can decide, at most so "
        "many times; False once the run has ended.");
}

} // namespace noctule
