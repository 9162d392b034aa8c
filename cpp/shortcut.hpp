// What decides in place of a policy in Python, wherever that says only what can be said without it.
#pragma once

#include "policy.hpp"

namespace noctule {

class Shortcut {
  public:
    virtual ~Shortcut() = default;

    // Whether it has decided. If not, the policy in Python must, and nothing has been decided.
    virtual bool decide(const View& view, std::span<const Event> events, Decisions& decisions) = 0;

    // Whether it is to be called with Python's lock held.
    virtual bool needs_lock() const = 0;
};

} // namespace noctule
