// The sum of many short times: to read the system's clock takes as long as some of them.
#pragma once

#include <chrono>
#include <cstdint>

namespace noctule {

class Stopwatch {
  public:
    void start() { began_ = ticks(); }
    void stop() {
        const std::uint64_t now = ticks();
        total_ += now > began_ ? now - began_ : 0; // another processor may lag behind
    }

    double seconds() const {
        using Seconds = std::chrono::duration<double>;
        const std::uint64_t n = ticks() - ticks_when_made_;
        const double elapsed = Seconds(Clock::now() - made_).count();
        return n == 0 ? 0.0 : static_cast<double>(total_) * elapsed / static_cast<double>(n);
    }

  private:
    using Clock = std::chrono::steady_clock;

    // Of a counter that goes at a constant pace, which is found by the clock.
    static std::uint64_t ticks() {
#if defined(__x86_64__)
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
        std::uint64_t count = 0;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
        return count;
#else
        return static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
#endif
    }

    Clock::time_point made_ = Clock::now();
    std::uint64_t ticks_when_made_ = ticks();
    std::uint64_t began_ = 0;
    std::uint64_t total_ = 0;
};

} // namespace noctule
