// Several runs one after the other, each summed up when it ends: without Python in between.
#pragma once

#include "engine.hpp"
#include "policy.hpp"
#include "summary.hpp"

#include <span>
#include <string>
#include <vector>

namespace noctule {

struct BatchRun {
    Engine* engine;
    Policy* policy;
};

// How a schedule is measured.
struct Measure {
    double warm_up;
    double cool_down;
    double threshold;
};

// Runs that have ended, in order, and why the one after them failed, if it did.
struct BatchResult {
    std::vector<std::vector<Summary>> summaries; // one a measure
    std::string error;
};

// Goes on until all have ended, one has failed, or some seconds have passed; a run that has not
// ended by then can be gone on with.
BatchResult run_batch(std::span<const BatchRun> runs, std::span<const Measure> measures,
                      double seconds);

} // namespace noctule
