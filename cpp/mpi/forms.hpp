// How the actions of a trace are written.
#pragma once

#include "mpi/trace.hpp"

#include <optional>

namespace noctule::mpi {

inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
inline constexpr std::size_t n_types = 59;

// How an action is written: `fixed + per_rank * n` arguments at least, `options` more at most.
struct Form {
    std::string_view name;
    std::optional<ActionKind> kind; // none: it takes no time
    std::size_t fixed;
    std::size_t per_rank;
    std::size_t options;
};

const Form* find_form(std::string_view name); // or nullptr
std::string form_names();

// Bytes of a datatype, by the number that traces give it, which is below n_types.
double type_size(std::size_t number);

} // namespace noctule::mpi
