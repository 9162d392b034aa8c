// Programs, which Python makes of profiles.
#include "bindings/bindings.hpp"

#include "mpi/trace.hpp"
#include "program.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>

namespace noctule {

namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Part = std::optional<ProgramIndex>;
using RankUsages = std::vector<std::pair<double, double>>;

std::vector<double> copied(const Numbers& numbers) {
    return std::vector<double>(numbers.data(), numbers.data() + numbers.size());
}

UsageTrace usage_trace(const std::vector<RankUsages>& ranks) {
    UsageTrace trace;
    for (const RankUsages& rank : ranks) {
        std::vector<Usage>& usages = trace.ranks.emplace_back();
        for (const auto& [share, flops] : rank) {
            usages.push_back({share, flops});
        }
    }
    return trace;
}

MpiTrace mpi_trace(const std::vector<std::string_view>& texts, std::vector<std::string> sources) {
    auto trace = std::make_shared<const mpi::Trace>(mpi::Trace::parse(texts, std::move(sources)));
    if (trace->n_ranks() != texts.size()) {
        throw InputError(trace->source(0) + ": got lines of " + std::to_string(trace->n_ranks()) +
                         " ranks, expected a file for each");
    }
    return {std::move(trace)};
}

} // namespace

void bind_programs(nb::module_& module) {
    nb::class_<ProgramTable>(module, "ProgramTable",
                             "What jobs do once started, as trees: parts come before wholes.")
        .def(nb::init<>())
        .def("__len__", &ProgramTable::size)
        .def(
            "add_wait",
            [](ProgramTable& table, const std::string& name, int return_code, double seconds) {
                return table.add({name, Wait{seconds}, return_code});
            },
            nb::arg("name"), nb::arg("return_code"), nb::arg("seconds"))
        .def(
            "add_computation",
            [](ProgramTable& table, const std::string& name, int return_code, double work,
               bool spread) { return table.add({name, Computation{work, spread}, return_code}); },
            nb::arg("name"), nb::arg("return_code"), nb::arg("work"), nb::arg("spread"))
        .def(
            "add_parallel_task",
            [](ProgramTable& table, const std::string& name, int return_code, const Numbers& flops,
               const Numbers& bytes) {
                return table.add({name, ParallelTask{copied(flops), copied(bytes)}, return_code});
            },
            nb::arg("name"), nb::arg("return_code"), nb::arg("flops"), nb::arg("bytes"))
        .def(
            "add_homogeneous_task",
            [](ProgramTable& table, const std::string& name, int return_code, double flops,
               double bytes, int amounts) {
                const HomogeneousTask task{flops, bytes, static_cast<Amounts>(amounts)};
                return table.add({name, task, return_code});
            },
            nb::arg("name"), nb::arg("return_code"), nb::arg("flops"), nb::arg("bytes"),
            nb::arg("amounts"))
        .def(
            "add_storage_transfer",
            [](ProgramTable& table, const std::string& name, int return_code, double read_bytes,
               double written_bytes, const std::string& storage, bool spread) {
                const StorageTransfer transfer{read_bytes, written_bytes, storage, spread};
                return table.add({name, transfer, return_code});
            },
            nb::arg("name"), nb::arg("return_code"), nb::arg("read_bytes"),
            nb::arg("written_bytes"), nb::arg("storage"), nb::arg("spread"))
        .def(
            "add_staging",
            [](ProgramTable& table, const std::string& name, int return_code, double bytes,
               const std::string& from, const std::string& to) {
                return table.add({name, Staging{bytes, from, to}, return_code});
            },
            nb::arg("name"), nb::arg("return_code"), nb::arg("bytes"), nb::arg("from_storage"),
            nb::arg("to_storage"))
        .def(
            "add_sequence",
            [](ProgramTable& table, const std::string& name, int return_code,
               const std::vector<ProgramIndex>& parts, std::uint32_t repeat) {
                return table.add({name, Sequence{parts, repeat}, return_code});
            },
            nb::arg("name"), nb::arg("return_code"), nb::arg("parts"), nb::arg("repeat"))
        .def(
            "add_send",
            [](ProgramTable& table, const std::string& name, int return_code,
               const std::string& message,
               double seconds) { return table.add({name, Send{message, seconds}, return_code}); },
            nb::arg("name"), nb::arg("return_code"), nb::arg("message"), nb::arg("seconds"))
        .def(
            "add_receive",
            [](ProgramTable& table, const std::string& name, int return_code,
               const std::string& pattern, Part success, Part failure, Part timeout,
               double poll_seconds) {
                check_pattern(pattern);
                const Receive receive{pattern, success.value_or(no_program),
                                      failure.value_or(no_program), timeout.value_or(no_program),
                                      poll_seconds};
                return table.add({name, receive, return_code});
            },
            nb::arg("name"), nb::arg("return_code"), nb::arg("pattern"), nb::arg("success").none(),
            nb::arg("failure").none(), nb::arg("timeout").none(), nb::arg("poll_seconds"))
        .def(
            "add_usage_trace",
            [](ProgramTable& table, const std::string& name, int return_code,
               const std::vector<RankUsages>& ranks) {
                return table.add({name, usage_trace(ranks), return_code});
            },
            nb::arg("name"), nb::arg("return_code"), nb::arg("ranks"))
        .def(
            "add_mpi_trace",
            [](ProgramTable& table, const std::string& name, int return_code,
               const std::vector<std::string_view>& ranks, std::vector<std::string> sources) {
                return table.add({name, mpi_trace(ranks, std::move(sources)), return_code});
            },
            nb::arg("name"), nb::arg("return_code"), nb::arg("ranks"), nb::arg("sources"),
            "Add the texts of the traces of all ranks, and what messages call them.");
}

} // namespace noctule
