#include "mpi/forms.hpp"

#include <algorithm>
#include <array>

namespace noctule::mpi {
namespace {

constexpr std::array<std::uint8_t, n_types> type_sizes{
    8, 4,  1, 2,  8,  4, 1,  8,  1, 1,  2,  4,  8,  8,  16, 4, 1,  1,  2, 4,
    8, 1,  2, 4,  8,  8, 16, 32, 8, 8,  8,  16, 16, 8,  8,  8, 16, 16, 4, 4,
    8, 16, 8, 16, 16, 4, 2,  4,  8, 16, 32, 1,  8,  16, 32, 0, 0,  1,  8};
constexpr std::array<Form, 31> forms{{
    {"init", std::nullopt, 0, 0, 1},
    {"finalize", std::nullopt, 0, 0, no_limit},
    {"comm_size", std::nullopt, 0, 0, no_limit},
    {"comm_split", std::nullopt, 0, 0, no_limit},
    {"comm_dup", std::nullopt, 0, 0, no_limit},
    {"location", std::nullopt, 0, 0, no_limit},
    {"compute", ActionKind::compute, 1, 0, 0},
    {"sleep", ActionKind::sleep, 1, 0, 0},
    {"send", ActionKind::send, 3, 0, 1},
    {"isend", ActionKind::isend, 3, 0, 1},
    {"recv", ActionKind::receive, 3, 0, 1},
    {"irecv", ActionKind::ireceive, 3, 0, 1},
    {"sendRecv", ActionKind::send_receive, 4, 0, 2},
    {"wait", ActionKind::wait, 3, 0, 0},
    {"waitall", ActionKind::wait_all, 0, 0, no_limit},
    {"test", ActionKind::test, 3, 0, 0},
    {"barrier", ActionKind::barrier, 0, 0, no_limit},
    {"bcast", ActionKind::broadcast, 1, 0, 2},
    {"reduce", ActionKind::reduce, 2, 0, 2},
    {"allreduce", ActionKind::allreduce, 2, 0, 1},
    {"alltoall", ActionKind::alltoall, 2, 0, 2},
    {"alltoallv", ActionKind::alltoallv, 2, 2, 2},
    {"gather", ActionKind::gather, 2, 0, 3},
    {"gatherv", ActionKind::gatherv, 1, 1, 3},
    {"allgather", ActionKind::allgather, 2, 0, 2},
    {"allgatherv", ActionKind::allgatherv, 1, 1, no_limit},
    {"scatter", ActionKind::scatter, 2, 0, 3},
    {"scatterv", ActionKind::scatterv, 1, 1, 3},
    {"reducescatter", ActionKind::reduce_scatter, 1, 1, 1},
    {"scan", ActionKind::scan, 2, 0, 1},
    {"exscan", ActionKind::exscan, 2, 0, 1},
}};

} // namespace

const Form* find_form(std::string_view name) {
    const auto* form = std::find_if(forms.begin(), forms.end(),
                                    [name](const Form& one) { return one.name == name; });
    return form == forms.end() ? nullptr : form;
}

std::string form_names() {
    std::string names;
    for (const Form& form : forms) {
        names += (names.empty() ? "" : ", ") + std::string(form.name);
    }
    return names;
}

double type_size(std::size_t number) { return type_sizes[number]; }

std::string_view name_of(ActionKind kind) {
    return std::find_if(forms.begin(), forms.end(),
                        [kind](const Form& one) { return one.kind == kind; })
        ->name;
}

} // namespace noctule::mpi
