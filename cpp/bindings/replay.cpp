// Users whose submissions follow from what happens.
#include "bindings/bindings.hpp"

#include "replay/users.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>

namespace noctule {

namespace {

template <typename T> std::vector<T> copied(const Values<T>& values) {
    return {values.data(), values.data() + values.shape(0)};
}

template <typename T> std::vector<T> copied(const Values<T>& values, std::size_t n) {
    span_of(values, n); // as many as expected
    return copied(values);
}

std::shared_ptr<GroupPlan>
make_group_plan(const Values<double>& start_time, const Values<double>& end_time,
                const Values<std::uint32_t>& user, const Values<std::uint8_t>& keeps_date,
                const Values<std::uint32_t>& first_job, const Values<std::uint32_t>& jobs,
                const Values<double>& submit_time, const Values<std::uint32_t>& first_dependency,
                const Values<std::uint32_t>& dependency, const Values<double>& think_time,
                const Thinking& thinking, std::shared_ptr<Calendar> calendar,
                std::shared_ptr<PopulationPlan> population) {
    auto plan = std::make_shared<GroupPlan>();
    const std::size_t n = start_time.shape(0), n_edges = dependency.shape(0);
    plan->start_time = copied(start_time);
    plan->end_time = copied(end_time, n);
    plan->user = copied(user, n);
    plan->keeps_date = copied(keeps_date);
    plan->first_job = copied(first_job, n + 1);
    plan->jobs = copied(jobs);
    plan->submit_time = copied(submit_time, jobs.shape(0));
    plan->thinking = thinking;
    plan->calendar = std::move(calendar);
    plan->population = std::move(population);
    plan->set_dependencies(span_of(first_dependency, n + 1), span_of(dependency, n_edges),
                           span_of(think_time, n_edges));
    return plan;
}

std::shared_ptr<RecordedPeriods> make_periods(const Values<std::uint32_t>& first_of_user,
                                              const Values<double>& from,
                                              const Values<double>& to) {
    std::vector<RecordedPeriods::Period> periods;
    const std::span<const double> ends = span_of(to, from.shape(0));
    for (std::size_t i = 0; i < ends.size(); ++i) {
        periods.push_back({from.data()[i], ends[i]});
    }
    return std::make_shared<RecordedPeriods>(copied(first_of_user), std::move(periods));
}

std::shared_ptr<WeeklyHours>
make_weekly_hours(const Values<double>& changes, const Values<double>& shifts,
                  const Values<double>& probabilities, const Values<std::uint32_t>& week_of_user,
                  const Values<double>& start_of_group, std::uint64_t seed) {
    std::vector<WeeklyHours::Week> weeks(probabilities.shape(0) / WeeklyHours::n_hours);
    for (std::size_t week = 0; week < weeks.size(); ++week) {
        std::copy_n(probabilities.data() + week * WeeklyHours::n_hours, WeeklyHours::n_hours,
                    weeks[week].begin());
    }
    return std::make_shared<WeeklyHours>(WeeklyHours::Clock{copied(changes), copied(shifts)},
                                         std::move(weeks), copied(week_of_user),
                                         copied(start_of_group), seed);
}

std::shared_ptr<PopulationPlan> make_population(const Values<std::uint32_t>& stretch_of_group,
                                                const Values<std::uint32_t>& n_groups,
                                                const Values<std::uint32_t>& n_jobs_left,
                                                const Values<double>& luck, double half,
                                                double steepness) {
    return std::make_shared<PopulationPlan>(
        PopulationPlan{.stretch_of_group = copied(stretch_of_group),
                       .n_groups = copied(n_groups),
                       .n_jobs_left = copied(n_jobs_left),
                       .luck = copied(luck),
                       .half = half,
                       .steepness = steepness});
}

} // namespace

void bind_replay(nb::module_& module) {
    nb::class_<Calendar>(module, "Calendar", "When users work.");
    nb::class_<RecordedPeriods, Calendar>(module, "RecordedPeriods",
                                          "Only in their recorded sessions.")
        .def(nb::new_(&make_periods), nb::arg("first_of_user"), nb::arg("start"), nb::arg("end"));
    nb::class_<WeeklyHours, Calendar>(module, "WeeklyHours",
                                      "In hours of the week, with some probability.")
        .def(nb::new_(&make_weekly_hours), nb::arg("changes"), nb::arg("shifts"),
             nb::arg("probabilities"), nb::arg("week_of_user"), nb::arg("start_of_group"),
             nb::arg("seed"))
        .def(
            "next",
            [](const WeeklyHours& self, std::uint32_t user, std::uint32_t group, double date) {
                return self.next(user, group, date);
            },
            nb::arg("user"), nb::arg("group"), nb::arg("date"),
            "Return the first date, not before this one, at which the user begins the group.");
    nb::class_<PopulationPlan>(module, "PopulationPlan", "Users who leave when runs are slow.")
        .def(nb::new_(&make_population), nb::arg("stretch_of_group"), nb::arg("n_groups"),
             nb::arg("n_jobs_left"), nb::arg("luck"), nb::arg("half"), nb::arg("steepness"));
    nb::class_<Thinking>(module, "Thinking", "What becomes of think times.")
        .def(
            "__init__",
            [](Thinking* self, int kind, double base, double slope, double most) {
                new (self) Thinking{static_cast<Thinking::Kind>(kind), base, slope, most};
            },
            nb::arg("kind"), nb::arg("base"), nb::arg("slope"), nb::arg("most"));
    nb::class_<GroupPlan>(module, "GroupPlan", "Groups of jobs, and what each of them waits for.")
        .def(nb::new_(&make_group_plan), nb::kw_only(), nb::arg("start_time"), nb::arg("end_time"),
             nb::arg("user"), nb::arg("keeps_date"), nb::arg("first_job"), nb::arg("jobs"),
             nb::arg("submit_time"), nb::arg("first_dependency"), nb::arg("dependency"),
             nb::arg("think_time"), nb::arg("thinking"), nb::arg("calendar").none(),
             nb::arg("population").none());
}

} // namespace noctule
