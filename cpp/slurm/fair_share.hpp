// How much of its share each user has had: the factor of fair share, from 0 to 1 for those who
// had least, by fair tree or by the classic formula.
#pragma once

#include "slurm/accounting.hpp"

#include <span>
#include <vector>

namespace noctule::slurm {

// Both by association; 0 for accounts. Usage of an account includes that of all below it.

// Users are ranked: at each level by shares over usage, all of a better account before those of
// the next. Equal siblings share a rank; accounts that are equal are visited one after the other,
// the first user of the second at the rank of the last before it, as Slurm does in spite of its
// documentation.
std::vector<double> fair_tree(const std::vector<Association>& associations,
                              std::span<const double> usage);

// 2^(-effective usage / shares), where part of the usage of siblings is a user's own.
std::vector<double> classic_fair_share(const std::vector<Association>& associations,
                                       std::span<const double> usage, double damping,
                                       bool depth_oblivious);

} // namespace noctule::slurm
