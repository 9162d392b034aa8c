// What a replay asks of the machine that it runs on.
#pragma once

#include "types.hpp"

#include <cstdint>

namespace noctule {

using ActivityId = std::uint32_t;
using Token = std::uint64_t; // says whose an activity is

namespace mpi {

class Activities {
  public:
    virtual ~Activities() = default;

    virtual double now() const = 0;
    virtual ActivityId sleep(HostId host, double seconds, Token token) = 0;
    virtual ActivityId execute(HostId host, double flops, Token token) = 0; // on one core
    virtual ActivityId send(HostId from, HostId to, double bytes, Token token) = 0;
    virtual void cancel(ActivityId activity) = 0;
};

// Those of a machine that has these functions.
template <typename Machine> class ActivitiesOf final : public Activities {
  public:
    explicit ActivitiesOf(Machine& machine) : machine_(machine) {}

    double now() const override { return machine_.now(); }
    ActivityId sleep(HostId host, double seconds, Token token) override {
        return machine_.sleep(host, seconds, token);
    }
    ActivityId execute(HostId host, double flops, Token token) override {
        return machine_.execute(host, flops, token);
    }
    ActivityId send(HostId from, HostId to, double bytes, Token token) override {
        return machine_.send(from, to, bytes, token);
    }
    void cancel(ActivityId activity) override { machine_.cancel(activity); }

  private:
    Machine& machine_;
};

} // namespace mpi
} // namespace noctule
