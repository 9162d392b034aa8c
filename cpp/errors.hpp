// What the core throws; bound once to the Python errors of the same names.
#pragma once

#include <stdexcept>

namespace noctule {

struct InputError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct DecisionError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct DeadlockError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace noctule
