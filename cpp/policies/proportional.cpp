// Proportional shutdown: a part of the hosts is off most of the time.
//
// Hosts from rho x hosts on form the off reservation. Only a first job that asks for more hosts
// than are left wakes some of them, as many as it lacks; they go back when they are free and no
// first job needs them. Poquet's thesis (Grenoble 2017), section 7.4.2.
#include "policies/shutdown_easy.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

namespace {

class Proportional final : public ShutdownEasy {
  public:
    Proportional(Order order, const Parameters& parameters, double rho)
        : ShutdownEasy(std::move(order), parameters), rho_(rho) {}

  protected:
    void begin(const View& view, Decisions& decisions) override {
        // 0.57 x 100 hosts are 57 of them, whatever doubles say
        n_regular_ = static_cast<std::uint32_t>(std::floor(rho_ * view.n_hosts() + 1e-9));
        tidy_up(view, decisions);
    }

    // Hosts come out of the reservation for a first job only; what it does not need goes back.
    void tidy_up(const View& view, Decisions& decisions) override {
        const std::uint32_t n_out = view.n_hosts() - n_reserved();
        std::uint32_t n_due = n_out - std::min(n_out, n_needed());
        std::vector<HostId> awake;
        for (HostId host = view.n_hosts(); host-- > n_regular_ && n_due > 0;) {
            if (is_idle_off(view, host)) {
                steal(host);
                --n_due;
            } else if (view.awake_free_hosts().contains(host)) {
                awake.push_back(host);
                --n_due;
            }
        }
        if (!awake.empty()) {
            reserve_awake(view, awake, decisions);
        }
    }

  private:
    std::uint32_t n_needed() const {
        return queue().empty() ? n_regular_ : std::max(n_regular_, queue().front().n_hosts);
    }

    double rho_;
    std::uint32_t n_regular_ = 0;
};

} // namespace

std::unique_ptr<Policy> make_proportional(PolicySetup setup) {
    const auto parameters = ShutdownEasy::Parameters::of(setup);
    const double rho = setup.number("rho");
    return std::make_unique<Proportional>(std::move(setup.order), parameters, rho);
}

} // namespace noctule
