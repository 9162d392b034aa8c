// What the core throws; bound once to the Python errors of the same names.
#pragma once

#include <stdexcept>
#include <string>

namespace noctule {

// A date in their sentences: the shortest text that reads back as the same number.
std::string format_time(double time);

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
