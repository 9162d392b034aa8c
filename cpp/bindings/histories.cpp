// What a schedule tells about its hosts and its load over time: columns in, columns out.
#include "bindings/bindings.hpp"

#include "host_gaps.hpp"
#include "load_history.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

namespace noctule {

namespace {

std::tuple<Column<HostId>, Column<double>, Column<double>>
gaps_of(std::span<const HostSet* const> hosts, std::span<const double> start_time,
        std::span<const double> finish_time, std::uint32_t n_hosts, double begin, double end) {
    HostGaps gaps = host_gaps(hosts, start_time, finish_time, n_hosts, begin, end);
    return {own_column(std::move(gaps.host)), own_column(std::move(gaps.begin)),
            own_column(std::move(gaps.end))};
}

} // namespace

void bind_histories(nb::module_& module) {
    module.def(
        "load_history",
        [](const Values<double>& submit_time, const Values<double>& start_time,
           const Values<double>& finish_time, const Values<double>& walltime,
           const Values<std::uint32_t>& n_hosts, const Values<double>& idle_time,
           const Values<std::uint32_t>& n_idle, const Values<double>& waking_begin,
           const Values<double>& waking_end, const Values<std::uint32_t>& n_waking) {
            const std::size_t n = submit_time.shape(0);
            const std::size_t n_waked = waking_begin.shape(0);
            const LoadRows rows{span_of(submit_time, n),
                                span_of(start_time, n),
                                span_of(finish_time, n),
                                span_of(walltime, n),
                                span_of(n_hosts, n),
                                span_of(idle_time, idle_time.shape(0)),
                                span_of(n_idle, idle_time.shape(0)),
                                span_of(waking_begin, n_waked),
                                span_of(waking_end, n_waked),
                                span_of(n_waking, n_waked)};
            LoadHistory history;
            {
                const nb::gil_scoped_release release;
                history = load_history(rows);
            }
            return std::make_tuple(own_column(std::move(history.time)),
                                   own_column(std::move(history.mean)));
        },
        nb::arg("submit_time"), nb::arg("start_time"), nb::arg("finish_time"), nb::arg("walltime"),
        nb::arg("n_hosts"), nb::arg("idle_time"), nb::arg("n_idle"), nb::arg("waking_begin"),
        nb::arg("waking_end"), nb::arg("n_waking"),
        nb::sig("def load_history(submit_time: numpy.typing.NDArray[numpy.float64], start_time: "
                "numpy.typing.NDArray[numpy.float64], finish_time: "
                "numpy.typing.NDArray[numpy.float64], walltime: "
                "numpy.typing.NDArray[numpy.float64], n_hosts: numpy.typing.NDArray[numpy.uint32], "
                "idle_time: numpy.typing.NDArray[numpy.float64], n_idle: "
                "numpy.typing.NDArray[numpy.uint32], waking_begin: "
                "numpy.typing.NDArray[numpy.float64], waking_end: "
                "numpy.typing.NDArray[numpy.float64], n_waking: "
                "numpy.typing.NDArray[numpy.uint32]) -> tuple[numpy.typing.NDArray[numpy.float64], "
                "numpy.typing.NDArray[numpy.float64]]"),
        "Return dates, and the mean of the liquid load horizon from each on, up to the next.");
    module.def(
        "host_gaps",
        [](const nb::sequence& hosts, const Values<double>& start_time,
           const Values<double>& finish_time, std::uint32_t n_hosts, double begin, double end) {
            std::vector<const HostSet*> sets;
            for (const nb::handle set : hosts) {
                sets.push_back(&nb::cast<const HostSet&>(set));
            }
            const std::size_t n = sets.size();
            return gaps_of(sets, span_of(start_time, n), span_of(finish_time, n), n_hosts, begin,
                           end);
        },
        nb::arg("hosts"), nb::arg("start_time"), nb::arg("finish_time"), nb::arg("n_hosts"),
        nb::arg("begin"), nb::arg("end"),
        nb::sig("def host_gaps(hosts: collections.abc.Sequence[HostSet], start_time: "
                "numpy.typing.NDArray[numpy.float64], finish_time: "
                "numpy.typing.NDArray[numpy.float64], n_hosts: int, begin: float, end: float) -> "
                "tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.float64], "
                "numpy.typing.NDArray[numpy.float64]]"),
        "Return the hosts, begins and ends of the times in which hosts ran no job.");
    module.def(
        "host_gaps",
        [](const Record& record, std::uint32_t n_hosts, double begin, double end) {
            std::vector<HostSet> sets;
            std::vector<const HostSet*> pointers;
            sets.reserve(record.size()); // so that they stay where they are
            for (std::size_t row = 0; row < record.size(); ++row) {
                sets.push_back(record.hosts(row));
                pointers.push_back(&sets.back());
            }
            return gaps_of(pointers, record.start_time, record.finish_time, n_hosts, begin, end);
        },
        nb::arg("record"), nb::arg("n_hosts"), nb::arg("begin"), nb::arg("end"),
        nb::sig("def host_gaps(record: Record, n_hosts: int, begin: float, end: float) -> "
                "tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.float64], "
                "numpy.typing.NDArray[numpy.float64]]"),
        "Return the same of a run.");
}

} // namespace noctule
