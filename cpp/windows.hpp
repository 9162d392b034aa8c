// Stretches of time in which hosts are not for everybody, known beforehand; and why a host takes no
// jobs although nobody holds it.
#pragma once

#include "host_set.hpp"

#include <string>

namespace noctule {

struct TimeWindow {
    enum class Kind : std::uint8_t { maintenance, reservation };
    enum class Phase : std::uint8_t { unknown, announced, active, over };

    Kind kind;
    HostSet hosts;
    double from;
    double to;
    double announced = 0.0; // from then on policies know of it
    bool kills = false;     // a maintenance that ends the jobs it finds
    std::string name = {};
    Phase phase = Phase::unknown; // of a run

    bool is_known() const { return phase == Phase::announced || phase == Phase::active; }
};

using WindowIndex = std::uint32_t;
inline constexpr WindowIndex no_window = std::numeric_limits<WindowIndex>::max();

// Bits: a host may have several reasons, and is back when none is left.
namespace absence {
inline constexpr std::uint8_t unavailable = 1; // an external event has taken it away
inline constexpr std::uint8_t failed = 2;      // by an external event
inline constexpr std::uint8_t maintained = 4;
inline constexpr std::uint8_t reserved = 8; // and only taken away from the others
inline constexpr std::uint8_t broken = 16;  // while it has failed by an event, its platform says so
} // namespace absence

// How hosts of a run come and go: not at all, by failures only, or such that plans must know of it,
// since windows are foreseen or hosts leave while jobs still hold them.
enum class Absences : std::uint8_t { none, failures, foreseen };

} // namespace noctule
