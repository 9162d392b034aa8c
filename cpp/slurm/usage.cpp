#include "slurm/usage.hpp"

#include <cmath>

namespace noctule::slurm {

UsageBook::UsageBook(const Accounting& accounting, std::uint32_t n_tres, Seconds half_life)
    : accounting_(accounting), n_tres_(n_tres),
      per_second_(half_life > 0 ? 1 - 0.693 / static_cast<double>(half_life) : 1.0),
      associations_(accounting.associations.size(), n_tres), qos_(accounting.qos.size(), n_tres) {
    for (std::size_t i = 0; i < accounting.associations.size(); ++i) {
        associations_.billed[i] = accounting.associations[i].used;
        if (tres_billing < n_tres_) {
            associations_.tres[i * n_tres_ + tres_billing] = accounting.associations[i].used;
        }
    }
}

void UsageBook::Used::scale(std::size_t i, std::size_t n_tres, double factor) {
    billed[i] *= factor;
    wall[i] *= factor;
    for (std::size_t k = i * n_tres; k < (i + 1) * n_tres; ++k) {
        tres[k] *= factor;
    }
}

void UsageBook::Used::add(std::size_t i, double seconds, double billed_seconds,
                          std::span<const double> tres_held) {
    billed[i] += billed_seconds;
    wall[i] += seconds;
    for (std::size_t k = 0; k < tres_held.size(); ++k) {
        tres[i * tres_held.size() + k] += tres_held[k] * seconds;
    }
}

void UsageBook::decay(Seconds seconds) {
    const double left = std::pow(per_second_, static_cast<double>(seconds));
    for (std::size_t i = 0; i < accounting_.associations.size(); ++i) {
        associations_.scale(i, n_tres_, left);
    }
    for (std::size_t i = 0; i < accounting_.qos.size(); ++i) {
        qos_.scale(i, n_tres_, accounting_.qos[i].no_decay ? 1.0 : left);
    }
}

void UsageBook::add(std::uint32_t association, std::uint32_t qos, Seconds seconds, double billed,
                    std::span<const double> tres) {
    if (seconds <= 0) {
        return;
    }
    const auto held = static_cast<double>(seconds);
    const double factor = qos != none ? accounting_.qos[qos].usage_factor : 1.0;
    const double decayed = held * std::pow(per_second_, held) * factor;
    if (qos != none) {
        const double counted = accounting_.qos[qos].no_decay ? held * factor : decayed;
        qos_.add(qos, counted, counted * billed, tres);
    }
    for (std::uint32_t i = association; i != none; i = accounting_.associations[i].parent) {
        associations_.add(i, decayed, decayed * billed, tres);
    }
}

void UsageBook::reset() {
    associations_ = Used(accounting_.associations.size(), n_tres_);
    qos_ = Used(accounting_.qos.size(), n_tres_);
}

} // namespace noctule::slurm
