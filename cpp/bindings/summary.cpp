// Summaries of schedules: columns in, numbers out, without the GIL in between.
#include "bindings/numbers.hpp"

#include "bindings/bindings.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

namespace noctule {

namespace {

template <typename T>
std::span<const T> span_if_given(const std::optional<Values<T>>& values, std::size_t n) {
    return values ? span_of(*values, n) : std::span<const T>();
}

std::array<double, 6> numbers(const Statistics& of) {
    return {of.mean, of.median, of.p90, of.p95, of.p99, of.max};
}

} // namespace

SummaryNumbers numbers_of(const Summary& found) {
    return {found.n_of_state,
            found.n_zero_runtime,
            {found.makespan, found.utilisation, found.throughput},
            {numbers(found.waiting_time), numbers(found.turnaround_time), numbers(found.slowdown),
             numbers(found.bounded_slowdown)}};
}

void bind_summary(nb::module_& module) {
    module.def(
        "summarise",
        [](const Values<std::uint8_t>& state, const Values<std::uint32_t>& n_hosts,
           const Values<double>& submit_time, const Values<double>& start_time,
           const Values<double>& finish_time, const std::optional<Values<double>>& waiting_time,
           const std::optional<Values<double>>& turnaround_time,
           const std::optional<Values<double>>& runtime, std::uint32_t n_hosts_of_platform,
           double warm_up, double cool_down, double threshold) -> SummaryNumbers {
            const std::size_t n = state.shape(0);
            const JobRows rows{span_of(state, n),
                               span_of(n_hosts, n),
                               span_of(submit_time, n),
                               span_of(start_time, n),
                               span_of(finish_time, n),
                               span_if_given(waiting_time, n),
                               span_if_given(turnaround_time, n),
                               span_if_given(runtime, n)};
            const nb::gil_scoped_release release;
            return numbers_of(summarise(rows, n_hosts_of_platform, warm_up, cool_down, threshold));
        },
        nb::arg("state"), nb::arg("n_hosts"), nb::arg("submit_time"), nb::arg("start_time"),
        nb::arg("finish_time"), nb::arg("waiting_time").none(), nb::arg("turnaround_time").none(),
        nb::arg("runtime").none(), nb::kw_only(), nb::arg("n_hosts_of_platform"),
        nb::arg("warm_up"), nb::arg("cool_down"), nb::arg("threshold"),
        "Return jobs by state, those without a runtime, (makespan, utilisation, throughput) and "
        "the statistics of waiting times, turnaround times, slowdowns and bounded slowdowns.");
}

} // namespace noctule
