// Traces of MPI programs.
#include "bindings/bindings.hpp"

#include "mpi/trace.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string_view>

namespace noctule {

namespace {

// The object keeps the characters.
std::string_view text_of(nb::handle object, const std::string& source) {
    if (nb::isinstance<nb::bytes>(object)) {
        const auto bytes = nb::borrow<nb::bytes>(object);
        return {bytes.c_str(), bytes.size()};
    }
    Py_ssize_t size = 0;
    const char* text =
        PyUnicode_Check(object.ptr()) ? PyUnicode_AsUTF8AndSize(object.ptr(), &size) : nullptr;
    if (text == nullptr) {
        PyErr_Clear();
        throw InputError(source + ": got no text, expected the actions of a rank");
    }
    return {text, static_cast<std::size_t>(size)};
}

mpi::Trace parse_trace(const std::vector<nb::object>& ranks, std::vector<std::string> sources) {
    std::vector<std::string_view> texts;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        texts.push_back(text_of(ranks[i], i < sources.size() ? sources[i] : "MPI trace"));
    }
    const nb::gil_scoped_release release;
    return mpi::Trace::parse(texts, std::move(sources));
}

} // namespace

void bind_mpi(nb::module_& module) {
    nb::class_<mpi::Trace>(module, "MpiTrace", "What the ranks of a parallel program did.")
        .def(
            "__init__",
            [](mpi::Trace* self, const std::vector<nb::object>& ranks,
               std::vector<std::string> sources) {
                new (self) mpi::Trace(parse_trace(ranks, std::move(sources)));
            },
            nb::arg("ranks"), nb::arg("sources"),
            nb::sig("def __init__(self, ranks: collections.abc.Sequence[str | bytes], sources: "
                    "collections.abc.Sequence[str]) -> None"),
            "Read time-independent traces: a text for each rank, or one with the lines of all. "
            "Errors name the sources.")
        .def_prop_ro("n_ranks", &mpi::Trace::n_ranks, "The number of ranks.")
        .def_prop_ro("n_actions", &mpi::Trace::n_actions,
                     "The number of actions of all ranks, without those that take no time.");
}

} // namespace noctule
