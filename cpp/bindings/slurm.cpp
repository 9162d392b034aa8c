// The model of Slurm: its settings, requests and clocks come in, a native policy goes out.
#include "bindings/bindings.hpp"

#include "slurm/account_limits.hpp"
#include "slurm/fields.hpp"
#include "slurm/model.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace noctule {

namespace {

using namespace slurm;
using Numbers = std::map<std::string, double>;

NodeSet node_set(const Settings& settings, const HostSet& nodes) {
    NodeSet set(settings.n_nodes());
    for (const Interval& run : nodes.intervals()) {
        if (run.last >= settings.n_nodes()) {
            throw InputError("slurm: got node " + std::to_string(run.last) + ", expected one of " +
                             std::to_string(settings.n_nodes()));
        }
        set.add(NodeRun{run.first, static_cast<std::uint32_t>(run.size())});
    }
    return set;
}

template <typename Owner> void set_fields(Owner& owner, const Numbers& numbers) {
    for (const auto& [name, value] : numbers) {
        set_field(owner, name, value);
    }
}

void bind_settings(nb::module_& module) {
    nb::class_<Settings>(module, "SlurmSettings", "What a configuration says, by numbers.")
        .def(nb::init<>())
        .def_rw("epoch", &Settings::epoch, "Date of the run's zero, in seconds of the epoch.")
        .def_rw("gres_kinds", &Settings::gres_kinds)
        .def_rw("priority", &Settings::priority)
        .def_rw("accounting", &Settings::accounting)
        .def_prop_ro("n_nodes", &Settings::n_nodes)
        .def(
            "add_node",
            [](Settings& settings, const Numbers& numbers, std::vector<std::uint32_t> gres) {
                Node& node = settings.nodes.emplace_back();
                node.gres = std::move(gres);
                set_fields(node, numbers);
            },
            nb::arg("numbers"), nb::arg("gres"), "Add a node; all come before the first partition.")
        .def(
            "add_partition",
            [](Settings& settings, std::string name, const HostSet& nodes, const Numbers& numbers) {
                Partition& partition = settings.partitions.emplace_back();
                partition.name = std::move(name);
                partition.nodes = node_set(settings, nodes);
                set_fields(partition, numbers);
            },
            nb::arg("name"), nb::arg("nodes"), nb::arg("numbers"), "Add a partition of nodes.")
        .def(
            "set_partition_qos",
            [](Settings& settings, std::size_t partition, std::uint32_t qos) {
                settings.partitions.at(partition).qos = qos;
            },
            nb::arg("partition"), nb::arg("qos"), "Give a partition the limits of a QOS.")
        .def(
            "add_license",
            [](Settings& settings, std::string name, std::uint32_t total) {
                settings.licenses.push_back({std::move(name), total});
            },
            nb::arg("name"), nb::arg("total"), "Add a kind of licence.")
        .def(
            "add_constraint",
            [](Settings& settings, const HostSet& nodes) {
                settings.constraints.push_back(node_set(settings, nodes));
            },
            nb::arg("nodes"), "Add the nodes that an expression over features allows.")
        .def(
            "add_switch",
            [](Settings& settings, const HostSet& nodes, std::uint32_t level,
               std::optional<std::uint32_t> parent) {
                settings.switches.push_back(
                    {node_set(settings, nodes), level, parent.value_or(none)});
            },
            nb::arg("nodes"), nb::arg("level"), nb::arg("parent").none(), "Add a switch.")
        .def(
            "keep_on",
            [](Settings& settings, const HostSet& nodes, std::uint32_t n) {
                settings.kept_nodes.push_back({node_set(settings, nodes), n});
            },
            nb::arg("nodes"), nb::arg("n"), "Never switch off the first idle ones of nodes.")
        .def(
            "set_parameters",
            [](Settings& settings, const Numbers& numbers) {
                set_fields(settings.parameters, numbers);
            },
            nb::arg("numbers"), "Set parameters of the schedulers by their names.");
}

struct BoundRequests {
    Requests jobs;

    Request& at(JobIndex job) {
        if (job >= jobs.size()) {
            throw InputError("slurm: got job " + std::to_string(job) + ", expected one of " +
                             std::to_string(jobs.size()));
        }
        return jobs[job];
    }
};

void bind_requests(nb::module_& module) {
    nb::class_<BoundRequests>(module, "SlurmRequests",
                              "What jobs ask for, in the workload's order.")
        .def(
            "__init__",
            [](BoundRequests* self, std::size_t n_jobs) {
                new (self) BoundRequests{Requests(n_jobs)};
            },
            nb::arg("n_jobs"))
        .def(
            "set_column",
            [](BoundRequests& self, const std::string& name, Values<std::int64_t> values) {
                const auto column = span_of(values, self.jobs.size());
                for (std::size_t job = 0; job < column.size(); ++job) {
                    set_field(self.jobs[job], name, column[job]);
                }
            },
            nb::arg("name"), nb::arg("values"), "Set a field of all jobs.")
        .def(
            "set_partitions",
            [](BoundRequests& self, JobIndex job, std::vector<std::uint32_t> partitions) {
                self.at(job).partitions = std::move(partitions);
            },
            nb::arg("job"), nb::arg("partitions"), "Set the partitions of a job, in order.")
        .def(
            "set_nodes",
            [](BoundRequests& self, const Settings& settings, JobIndex job, const HostSet& required,
               const HostSet& excluded) {
                if (!required.empty()) {
                    self.at(job).required = node_set(settings, required);
                }
                if (!excluded.empty()) {
                    self.at(job).excluded = node_set(settings, excluded);
                }
            },
            nb::arg("settings"), nb::arg("job"), nb::arg("required"), nb::arg("excluded"),
            "Set the nodes that a job must have and must not have.")
        .def(
            "set_started_on",
            [](BoundRequests& self, const Settings& settings, JobIndex job, const HostSet& nodes) {
                self.at(job).started_on = node_set(settings, nodes);
            },
            nb::arg("settings"), nb::arg("job"), nb::arg("nodes"),
            "Set the nodes of a job that ran already.")
        .def(
            "add_gres",
            [](BoundRequests& self, JobIndex job, std::uint32_t kind, std::uint32_t per_node,
               std::uint32_t per_job, std::uint32_t per_task) {
                self.at(job).gres.push_back({kind, per_node, per_job, per_task});
            },
            nb::arg("job"), nb::arg("kind"), nb::arg("per_node"), nb::arg("per_job"),
            nb::arg("per_task"), "Add a generic resource that a job asks for.")
        .def(
            "add_license",
            [](BoundRequests& self, JobIndex job, std::uint32_t license, std::uint32_t count) {
                self.at(job).licenses.push_back({license, count});
            },
            nb::arg("job"), nb::arg("license"), nb::arg("count"), "Add licences that a job needs.")
        .def(
            "add_dependency",
            [](BoundRequests& self, JobIndex job, int kind, JobIndex other, std::int64_t minutes) {
                self.at(other);
                self.at(job).dependencies.push_back(
                    {static_cast<slurm::Dependency::Kind>(kind), other, minutes});
            },
            nb::arg("job"), nb::arg("kind"), nb::arg("other"), nb::arg("minutes"),
            "Add something that a job waits for.");
}

void bind_drive(nb::module_& module) {
    nb::class_<Drive>(module, "SlurmClocks", "When the schedulers run.")
        .def(
            "__init__",
            [](Drive* self, const Numbers& numbers, std::vector<double> ticks,
               std::vector<double> looks, std::vector<double> limit_checks,
               const std::vector<std::pair<double, int>>& passes) {
                new (self) Drive{};
                set_fields(*self, numbers);
                self->ticks = std::move(ticks);
                self->looks = std::move(looks);
                self->limit_checks = std::move(limit_checks);
                for (const auto& [time, kind] : passes) {
                    self->passes.push_back({time, static_cast<PassKind>(kind)});
                }
            },
            nb::arg("numbers"), nb::arg("ticks"), nb::arg("looks"), nb::arg("limit_checks"),
            nb::arg("passes"));
}

Plugins plugins_of(const Settings& settings) {
    const bool linear = settings.parameters.select.type == SelectType::linear;
    Plugins plugins{.select = linear ? make_select_linear : make_select_cons,
                    .priority = [](const Settings&, const Requests& requests) {
                        return make_priority_basic(requests);
                    }};
    // Limits count what the priorities of the same run know to be used.
    const auto multifactor = std::make_shared<const Multifactor*>(nullptr);
    if (settings.priority.multifactor) {
        plugins.priority = [=](const Settings& all, const Requests& requests) {
            auto made = std::make_unique<Multifactor>(all, requests);
            *multifactor = made.get();
            return made;
        };
    }
    if (settings.accounting.enforces_limits) {
        plugins.limits = [=](const Settings& all, const Requests& requests) {
            return std::make_unique<AccountLimits>(all, requests, *multifactor);
        };
    }
    return plugins;
}

NativePolicy make_slurm(std::shared_ptr<const Settings> settings, const BoundRequests& requests,
                        const Drive& drive, bool keep_passes, bool keep_reasons) {
    const auto shared = std::make_shared<const Requests>(requests.jobs);
    const auto made_for = [=](Absences) {
        auto model = std::make_unique<Model>(settings, *shared, plugins_of(*settings), drive);
        if (keep_passes) {
            model->keep_passes();
        }
        if (keep_reasons) {
            model->keep_reasons();
        }
        return std::unique_ptr<Policy>(std::move(model));
    };
    return {made_for(Absences::none), made_for};
}

const Model& model_of(const NativePolicy& native) {
    const auto* model = dynamic_cast<const Model*>(native.policy.get());
    if (model == nullptr) {
        throw InputError("slurm: got another policy, expected the model of Slurm");
    }
    return *model;
}

nb::dict totals_of(const PassTotals& totals) {
    nb::dict told;
    told["passes"] = totals.n_passes;
    told["queued"] = totals.n_queued;
    told["tested"] = totals.n_tested;
    told["started"] = totals.n_started;
    told["longest_queue"] = totals.longest_queue;
    told["seconds"] = totals.seconds;
    told["longest"] = totals.longest;
    return told;
}

nb::dict statistics_of(const NativePolicy& native) {
    const Statistics& statistics = model_of(native).controller().statistics;
    nb::dict told;
    told["quick"] = totals_of(statistics.quick);
    told["full"] = totals_of(statistics.full);
    told["backfill"] = totals_of(statistics.backfill);
    told["yields"] = statistics.n_yields;
    told["abandoned"] = statistics.n_abandoned;
    told["timed_out"] = statistics.n_timed_out;
    const Controller& controller = model_of(native).controller();
    const PowerSaver::Totals power = controller.power().totals(controller.last_seen());
    told["suspended"] = power.n_suspended;
    told["resumed"] = power.n_resumed;
    told["failed_boots"] = power.n_failed;
    told["suspended_node_seconds"] = power.suspended_seconds;
    told["preempted"] = statistics.n_preempted;
    told["jobs_suspended"] = statistics.n_suspended;
    return told;
}

std::vector<std::tuple<double, int, std::uint32_t, std::uint32_t, std::uint32_t>>
passes_of(const NativePolicy& native) {
    std::vector<std::tuple<double, int, std::uint32_t, std::uint32_t, std::uint32_t>> told;
    for (const PassRecord& pass : model_of(native).controller().statistics.passes) {
        told.emplace_back(pass.time, static_cast<int>(pass.kind), pass.n_queued, pass.n_tested,
                          pass.n_started);
    }
    return told;
}

std::vector<std::tuple<double, int, int, std::string>> reasons_of(const NativePolicy& native,
                                                                  JobIndex job) {
    const Controller& controller = model_of(native).controller();
    if (job >= controller.statuses().size()) {
        throw InputError("slurm: got job " + std::to_string(job) + ", expected one of " +
                         std::to_string(controller.statuses().size()));
    }
    std::vector<std::tuple<double, int, int, std::string>> told;
    for (const ReasonChange& change : controller.reasons().changes(job)) {
        told.emplace_back(change.time, static_cast<int>(change.kind),
                          static_cast<int>(change.reason),
                          controller.reasons().text(change.detail));
    }
    return told;
}

std::vector<int> started_by(const NativePolicy& native) {
    std::vector<int> told;
    for (const JobStatus& status : model_of(native).controller().statuses()) {
        told.push_back(static_cast<int>(status.by));
    }
    return told;
}

std::vector<bool> killed(const NativePolicy& native) {
    std::vector<bool> told;
    for (const JobStatus& status : model_of(native).controller().statuses()) {
        told.push_back(status.killed);
    }
    return told;
}

} // namespace

void bind_slurm(nb::module_& module) {
    bind_settings(module);
    bind_requests(module);
    bind_drive(module);
    module.def("slurm_policy", &make_slurm, nb::arg("settings"), nb::arg("requests"),
               nb::arg("clocks"), nb::arg("keep_passes") = false, nb::arg("keep_reasons") = false,
               "Return Slurm's schedulers as a policy.");
    module.def("slurm_statistics", &statistics_of, nb::arg("policy"),
               nb::sig("def slurm_statistics(policy: NativePolicy) -> dict[str, object]"),
               "Return what the schedulers did, as sdiag tells it.");
    module.def("slurm_passes", &passes_of, nb::arg("policy"),
               "Return the passes: date, kind, jobs queued, tested and started.");
    module.def("slurm_reasons", &reasons_of, nb::arg("policy"), nb::arg("job"),
               "Return why a job was not started: date, kind of pass, reason and more about it.");
    module.def("slurm_started_by", &started_by, nb::arg("policy"),
               "Return who started each job: 0 nobody, 1 the main scheduler, 2 backfilling.");
    module.def(
        "slurm_boots",
        [](const NativePolicy& native) { return model_of(native).controller().boots(); },
        nb::arg("policy"), "Return when jobs that had to wait for a boot were given their nodes.");
    module.def("slurm_killed", &killed, nb::arg("policy"),
               "Return which jobs were killed at their time limits.");
}

} // namespace noctule
