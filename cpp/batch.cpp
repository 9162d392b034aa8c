#include "batch.hpp"

#include <chrono>
#include <exception>

namespace noctule {

namespace {

constexpr std::uint64_t calls_a_slice = 2048;

JobRows rows_of(const Record& record) {
    const auto* codes = reinterpret_cast<const std::uint8_t*>(record.state.data());
    return {.state = {codes, record.size()},
            .n_hosts = record.n_hosts,
            .submit_time = record.submit_time,
            .start_time = record.start_time,
            .finish_time = record.finish_time,
            .waiting_time = {},
            .turnaround_time = {},
            .runtime = {}};
}

std::vector<Summary> measured(const Engine& engine, std::span<const Measure> measures) {
    const std::shared_ptr<const Record> record = engine.record(true);
    std::vector<Summary> summaries;
    for (const Measure& measure : measures) {
        summaries.push_back(summarise(rows_of(*record), engine.n_hosts(), measure.warm_up,
                                      measure.cool_down, measure.threshold));
    }
    return summaries;
}

} // namespace

BatchResult run_batch(std::span<const BatchRun> runs, std::span<const Measure> measures,
                      double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto limit = Clock::now() + std::chrono::duration<double>(seconds);
    BatchResult result;
    try {
        for (const BatchRun& one : runs) {
            while (run(*one.engine, *one.policy, calls_a_slice)) {
                if (Clock::now() >= limit) {
                    return result;
                }
            }
            result.summaries.push_back(measured(*one.engine, measures));
            if (Clock::now() >= limit) {
                return result;
            }
        }
    } catch (const std::exception& error) {
        result.error = error.what();
    }
    return result;
}

} // namespace noctule
