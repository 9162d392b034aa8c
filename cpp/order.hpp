// The order of a queue: a small arithmetic program that gives each job a key; lower goes first.
#pragma once

#include "types.hpp"

#include <string_view>
#include <vector>

namespace noctule {

enum class OrderOp : std::uint8_t {
    constant,
    submit_time,
    waiting_time,
    walltime,
    n_hosts,
    add,
    subtract,
    multiply,
    divide,
    power,
    negate,
    minimum,
    maximum,
    absolute,
    logarithm,
    square_root,
};

struct OrderStep {
    OrderOp op;
    double value; // of a constant
};

class Order {
  public:
    Order() = default; // first come, first served: every key is zero

    // Postfix; throws InputError if the program does not leave exactly one value.
    explicit Order(std::vector<OrderStep> program);

    bool is_fcfs() const { return program_.empty(); }
    bool depends_on_time() const { return depends_on_time_; }

    // Jobs whose key is not a number go last.
    double key(double now, double submit_time, double walltime, std::uint32_t n_hosts) const;

  private:
    std::vector<OrderStep> program_;
    bool depends_on_time_ = false;
};

} // namespace noctule
