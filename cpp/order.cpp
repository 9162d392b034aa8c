#include "order.hpp"

#include "errors.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace noctule {

namespace {

constexpr std::size_t max_depth = 64;

int operands(OrderOp op) {
    switch (op) {
    case OrderOp::constant:
    case OrderOp::submit_time:
    case OrderOp::waiting_time:
    case OrderOp::walltime:
    case OrderOp::n_hosts:
        return 0;
    case OrderOp::negate:
    case OrderOp::absolute:
    case OrderOp::logarithm:
    case OrderOp::square_root:
        return 1;
    default:
        return 2;
    }
}

double unary(OrderOp op, double a) {
    switch (op) {
    case OrderOp::negate:
        return -a;
    case OrderOp::absolute:
        return std::fabs(a);
    case OrderOp::logarithm:
        return std::log(a);
    default:
        return std::sqrt(a);
    }
}

double binary(OrderOp op, double a, double b) {
    switch (op) {
    case OrderOp::add:
        return a + b;
    case OrderOp::subtract:
        return a - b;
    case OrderOp::multiply:
        return a * b;
    case OrderOp::divide:
        return a / b;
    case OrderOp::power:
        return std::pow(a, b);
    case OrderOp::minimum:
        return std::min(a, b);
    default:
        return std::max(a, b);
    }
}

} // namespace

Order::Order(std::vector<OrderStep> program) : program_(std::move(program)) {
    int depth = 0;
    for (const OrderStep& step : program_) {
        depth -= operands(step.op);
        if (depth < 0) {
            throw InputError("order: a malformed program");
        }
        ++depth;
        if (static_cast<std::size_t>(depth) > max_depth) {
            throw InputError("order: the expression is nested too deeply");
        }
        depends_on_time_ |= step.op == OrderOp::waiting_time;
    }
    if (!program_.empty() && depth != 1) {
        throw InputError("order: a malformed program");
    }
}

double Order::key(double now, double submit_time, double walltime, std::uint32_t n_hosts) const {
    if (program_.empty()) {
        return 0.0;
    }
    std::array<double, max_depth> stack;
    std::size_t top = 0;
    for (const OrderStep& step : program_) {
        switch (step.op) {
        case OrderOp::constant:
            stack[top++] = step.value;
            break;
        case OrderOp::submit_time:
            stack[top++] = submit_time;
            break;
        case OrderOp::waiting_time:
            stack[top++] = now - submit_time;
            break;
        case OrderOp::walltime:
            stack[top++] = walltime;
            break;
        case OrderOp::n_hosts:
            stack[top++] = n_hosts;
            break;
        default:
            if (operands(step.op) == 1) {
                stack[top - 1] = unary(step.op, stack[top - 1]);
            } else {
                --top;
                stack[top - 1] = binary(step.op, stack[top - 1], stack[top]);
            }
        }
    }
    return std::isnan(stack[0]) ? infinity : stack[0];
}

} // namespace noctule
