// What campaigns need: batches of runs and of small files, without the GIL in between.
#include "batch.hpp"

#include "bindings/bindings.hpp"
#include "bindings/numbers.hpp"
#include "small_files.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <tuple>

namespace noctule {

namespace {

using Batch = std::vector<std::pair<BoundEngine*, NativePolicy*>>;
using Measures = std::vector<std::tuple<double, double, double>>;
using BatchNumbers = std::pair<std::vector<std::vector<SummaryNumbers>>, std::string>;

BatchNumbers run_bound_batch(const Batch& batch, const Measures& measures, double seconds) {
    std::vector<BatchRun> runs;
    std::deque<BoundEngine::NativeRun> running;
    for (const auto& [engine, policy] : batch) {
        runs.push_back({engine, &policy->serving(*engine)});
        running.emplace_back(engine->at_rest());
    }
    std::vector<Measure> taken;
    for (const auto& [warm_up, cool_down, threshold] : measures) {
        taken.push_back({warm_up, cool_down, threshold});
    }
    BatchResult result;
    {
        const nb::gil_scoped_release release;
        result = run_batch(runs, taken, seconds);
    }
    std::vector<std::vector<SummaryNumbers>> numbers;
    for (const std::vector<Summary>& summaries : result.summaries) {
        auto& of_run = numbers.emplace_back();
        for (const Summary& summary : summaries) {
            of_run.push_back(numbers_of(summary));
        }
    }
    return {std::move(numbers), std::move(result.error)};
}

std::pair<std::size_t, int>
write_bound_files(const std::vector<std::pair<std::string, nb::bytes>>& files) {
    std::vector<SmallFile> small;
    for (const auto& [path, content] : files) {
        small.push_back({path, {content.c_str(), content.size()}});
    }
    const nb::gil_scoped_release release;
    return write_small_files(small);
}

std::vector<std::optional<nb::bytes>> read_bound_files(const std::vector<std::string>& paths) {
    std::vector<std::optional<std::string>> contents;
    {
        const nb::gil_scoped_release release;
        contents = read_small_files(paths);
    }
    std::vector<std::optional<nb::bytes>> found;
    for (const std::optional<std::string>& content : contents) {
        found.push_back(content ? std::optional(nb::bytes(content->data(), content->size()))
                                : std::nullopt);
    }
    return found;
}

} // namespace

void bind_batch(nb::module_& module) {
    module.def("run_batch", &run_bound_batch, nb::arg("runs"), nb::arg("measures"),
               nb::arg("seconds"),
               "Go on with runs for some seconds; return the numbers of those that have ended, for "
               "each (warm-up, cool-down, threshold), and why the one after them failed.");
    module.def("write_small_files", &write_bound_files, nb::arg("files"),
               "Write files and their folders; return the position of the first that could not be "
               "written, and the number of the error or 0.");
    module.def("read_small_files", &read_bound_files, nb::arg("paths"),
               "Return the contents of files; None where one cannot be read.");
}

} // namespace noctule
