// What a schedule tells about jobs that waited: columns in, columns out.
#include "bindings/bindings.hpp"

#include "queue_history.hpp"

namespace noctule {

namespace {

template <typename T> std::span<const T> whole(const Values<T>& values) {
    return {values.data(), values.shape(0)};
}

auto without_the_gil(auto&& work) {
    auto values = [&] {
        const nb::gil_scoped_release release;
        return work();
    }();
    return own_column(std::move(values));
}

} // namespace

void bind_queue_history(nb::module_& module) {
    module.def(
        "ahead_until",
        [](const Values<double>& left) {
            return without_the_gil([&] { return ahead_until(whole(left)); });
        },
        nb::arg("left"),
        nb::sig("def ahead_until(left: numpy.typing.NDArray[numpy.float64]) -> "
                "numpy.typing.NDArray[numpy.float64]"),
        "Return until when each of the jobs, in the order of their submissions, had somebody "
        "before "
        "it who did not leave later.");
    module.def(
        "least_waiting",
        [](const Values<double>& dates, const Values<double>& submit, const Values<double>& left,
           const Values<double>& value) {
            const std::size_t n = submit.shape(0);
            const WaitingRows rows{span_of(submit, n), span_of(left, n)};
            return without_the_gil(
                [&] { return least_waiting(whole(dates), rows, span_of(value, n)); });
        },
        nb::arg("dates"), nb::arg("submit"), nb::arg("left"), nb::arg("value"),
        nb::sig("def least_waiting(dates: numpy.typing.NDArray[numpy.float64], submit: "
                "numpy.typing.NDArray[numpy.float64], left: numpy.typing.NDArray[numpy.float64], "
                "value: numpy.typing.NDArray[numpy.float64]) -> "
                "numpy.typing.NDArray[numpy.float64]"),
        "Return the least value among the jobs that wait at each of some ascending dates.");
    module.def(
        "seconds_at_least",
        [](const Values<double>& time, const Values<std::int64_t>& value, std::int64_t before,
           const Values<double>& begin, const Values<double>& end,
           const Values<std::int64_t>& needed) {
            const std::size_t n = begin.shape(0);
            const StepRows steps{whole(time), span_of(value, time.shape(0)), before};
            const StretchRows stretches{whole(begin), span_of(end, n), span_of(needed, n)};
            return without_the_gil([&] { return seconds_at_least(steps, stretches); });
        },
        nb::arg("time"), nb::arg("value"), nb::arg("before"), nb::arg("begin"), nb::arg("end"),
        nb::arg("needed"),
        nb::sig("def seconds_at_least(time: numpy.typing.NDArray[numpy.float64], value: "
                "numpy.typing.NDArray[numpy.int64], before: int, begin: "
                "numpy.typing.NDArray[numpy.float64], end: numpy.typing.NDArray[numpy.float64], "
                "needed: numpy.typing.NDArray[numpy.int64]) -> "
                "numpy.typing.NDArray[numpy.float64]"),
        "Return how many seconds of each stretch a step function is at least what it needs.");
    module.def(
        "turns_of",
        [](const Values<double>& time, const Values<std::int64_t>& value, std::int64_t before,
           const Values<double>& begin, const Values<double>& end,
           const Values<std::int64_t>& needed, std::size_t most) {
            const std::size_t n = begin.shape(0);
            const StepRows steps{whole(time), span_of(value, time.shape(0)), before};
            const StretchRows stretches{whole(begin), span_of(end, n), span_of(needed, n)};
            Turns found = [&] {
                const nb::gil_scoped_release release;
                return turns_of(steps, stretches, most);
            }();
            return nb::make_tuple(own_column(std::move(found.stretch)),
                                  own_column(std::move(found.date)));
        },
        nb::arg("time"), nb::arg("value"), nb::arg("before"), nb::arg("begin"), nb::arg("end"),
        nb::arg("needed"), nb::arg("most"),
        nb::sig("def turns_of(time: numpy.typing.NDArray[numpy.float64], value: "
                "numpy.typing.NDArray[numpy.int64], before: int, begin: "
                "numpy.typing.NDArray[numpy.float64], end: numpy.typing.NDArray[numpy.float64], "
                "needed: numpy.typing.NDArray[numpy.int64], most: int) -> "
                "tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]]"),
        "Return in which stretches, and when, a step function comes to be or ceases to be at least "
        "what a stretch needs; no more than `most`.");
    module.def(
        "largest_free_block",
        [](const Values<double>& dates, const Values<double>& start, const Values<double>& finish,
           const Values<std::uint32_t>& first, const Values<std::uint32_t>& n_hosts,
           std::uint32_t n_hosts_of_platform) {
            const std::size_t n = start.shape(0);
            const BlockRows rows{span_of(start, n), span_of(finish, n), span_of(first, n),
                                 span_of(n_hosts, n)};
            return without_the_gil(
                [&] { return largest_free_block(whole(dates), rows, n_hosts_of_platform); });
        },
        nb::arg("dates"), nb::arg("start"), nb::arg("finish"), nb::arg("first"), nb::arg("n_hosts"),
        nb::arg("n_hosts_of_platform"),
        nb::sig("def largest_free_block(dates: numpy.typing.NDArray[numpy.float64], start: "
                "numpy.typing.NDArray[numpy.float64], finish: "
                "numpy.typing.NDArray[numpy.float64], first: numpy.typing.NDArray[numpy.uint32], "
                "n_hosts: numpy.typing.NDArray[numpy.uint32], n_hosts_of_platform: int) -> "
                "numpy.typing.NDArray[numpy.int64]"),
        "Return the most hosts side by side that nobody holds, at each of some ascending dates.");
}

} // namespace noctule
