// What associations and QOS have used, weighed by age: an old second counts less.
#pragma once

#include "slurm/accounting.hpp"

#include <span>
#include <vector>

namespace noctule::slurm {

class UsageBook {
  public:
    // Usage halves in about `half_life` seconds; 0: never.
    UsageBook(const Accounting& accounting, std::uint32_t n_tres, Seconds half_life);

    // Lets all that was used so far get older, but for QOS that keep it.
    void decay(Seconds seconds);
    // A job has held `tres` for so many seconds, the last of them now; `billed` of them count.
    void add(std::uint32_t association, std::uint32_t qos, Seconds seconds, double billed,
             std::span<const double> tres);
    void reset();

    // Billed seconds by association, those below included.
    std::span<const double> of_associations() const { return associations_.billed; }
    double tres_seconds(std::uint32_t association, std::uint32_t tres) const {
        return associations_.tres[association * n_tres_ + tres];
    }
    double wall_seconds(std::uint32_t association) const { return associations_.wall[association]; }
    double qos_tres_seconds(std::uint32_t qos, std::uint32_t tres) const {
        return qos_.tres[qos * n_tres_ + tres];
    }
    double qos_wall_seconds(std::uint32_t qos) const { return qos_.wall[qos]; }

  private:
    struct Used {
        std::vector<double> billed;
        std::vector<double> wall;
        std::vector<double> tres;

        Used(std::size_t n, std::size_t n_tres) : billed(n, 0), wall(n, 0), tres(n * n_tres, 0) {}
        void scale(std::size_t i, std::size_t n_tres, double factor);
        void add(std::size_t i, double seconds, double billed_seconds,
                 std::span<const double> tres_held);
    };

    const Accounting& accounting_;
    std::size_t n_tres_;
    double per_second_; // what a second leaves of usage
    Used associations_;
    Used qos_;
};

} // namespace noctule::slurm
