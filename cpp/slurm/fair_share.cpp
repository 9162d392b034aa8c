#include "slurm/fair_share.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace noctule::slurm {

namespace {

// Siblings as shares see them: an account without shares of its own stands back, so that what is
// in it belongs to the account above.
struct ShareTree {
    std::vector<std::vector<std::uint32_t>> children; // by association
    std::vector<std::uint32_t> above;
    std::vector<double> part; // of the siblings' shares

    explicit ShareTree(const std::vector<Association>& associations)
        : children(associations.size()), above(associations.size(), none),
          part(associations.size(), 0.0) {
        for (std::uint32_t i = 0; i < associations.size(); ++i) {
            const Association& one = associations[i];
            if (one.parent == none) {
                continue;
            }
            // Parents come first, so what is above them is known.
            const bool stands_back = !associations[one.parent].shares && above[one.parent] != none;
            above[i] = stands_back ? above[one.parent] : one.parent;
            if (one.is_user || one.shares) {
                children[above[i]].push_back(i);
            }
        }
        for (const std::vector<std::uint32_t>& siblings : children) {
            double sum = 0;
            for (const std::uint32_t i : siblings) {
                sum += associations[i].shares.value_or(0);
            }
            for (const std::uint32_t i : siblings) {
                part[i] = sum > 0 ? associations[i].shares.value_or(0) / sum : 0.0;
            }
        }
    }
};

class FairTree {
  public:
    FairTree(const std::vector<Association>& associations, std::span<const double> usage)
        : associations_(associations), tree_(associations), level_(associations.size(), 0.0),
          factors_(associations.size(), 0.0) {
        for (std::uint32_t i = 0; i < associations.size(); ++i) {
            n_users_ += associations[i].is_user ? 1 : 0;
            if (tree_.above[i] != none) {
                level_[i] = level(i, usage);
            }
        }
    }

    std::vector<double> factors() {
        rank_ = untied_rank_ = n_users_;
        for (std::uint32_t i = 0; i < associations_.size(); ++i) {
            if (associations_[i].parent == none) {
                visit(tree_.children[i], false);
            }
        }
        return std::move(factors_);
    }

  private:
    double level(std::uint32_t i, std::span<const double> usage) const {
        if (!associations_[i].shares) {
            return std::numeric_limits<double>::infinity();
        }
        if (tree_.part[i] == 0.0) {
            return 0.0;
        }
        const double all = usage[tree_.above[i]];
        const double used = all > 0 ? usage[i] / all : 0.0;
        return used > 0 ? tree_.part[i] / used : std::numeric_limits<double>::infinity();
    }

    void visit(std::vector<std::uint32_t> siblings, bool starts_tied) {
        std::ranges::stable_sort(siblings, [this](std::uint32_t a, std::uint32_t b) {
            return level_[a] != level_[b] ? level_[a] > level_[b]
                                          : associations_[a].is_user && !associations_[b].is_user;
        });
        for (std::size_t k = 0; k < siblings.size(); ++k) {
            const std::uint32_t i = siblings[k];
            const bool is_tied = k == 0 ? starts_tied : level_[siblings[k - 1]] == level_[i];
            if (!associations_[i].is_user) {
                visit(tree_.children[i], is_tied);
                continue;
            }
            if (!is_tied) {
                rank_ = untied_rank_;
            }
            factors_[i] = static_cast<double>(rank_) / static_cast<double>(n_users_);
            --untied_rank_;
        }
    }

    const std::vector<Association>& associations_;
    ShareTree tree_;
    std::vector<double> level_;
    std::vector<double> factors_;
    std::uint32_t n_users_ = 0;
    std::uint32_t rank_ = 0;
    std::uint32_t untied_rank_ = 0;
};

} // namespace

std::vector<double> fair_tree(const std::vector<Association>& associations,
                              std::span<const double> usage) {
    return FairTree(associations, usage).factors();
}

std::vector<double> classic_fair_share(const std::vector<Association>& associations,
                                       std::span<const double> usage, double damping,
                                       bool depth_oblivious) {
    const ShareTree tree(associations);
    const std::size_t n = associations.size();
    std::vector<double> shares(n, 1.0);
    std::vector<double> norm(n, 1.0); // of all usage
    std::vector<double> effective(n, 1.0);
    std::vector<double> factors(n, 0.0);
    const double all = n > 0 ? usage[0] : 0.0;
    for (std::uint32_t i = 0; i < n; ++i) {
        norm[i] = all > 0 ? usage[i] / all : 0.0;
        const std::uint32_t above = tree.above[i];
        if (above == none) {
            effective[i] = norm[i];
            continue;
        }
        if (!associations[i].shares) { // a user with the parent's: counts as the parent does
            shares[i] = shares[above];
            effective[i] = effective[above];
        } else {
            shares[i] = shares[above] * tree.part[i];
            effective[i] = norm[i];
            if (tree.above[above] != none && depth_oblivious) {
                double used = 0;
                for (const std::uint32_t sibling : tree.children[above]) {
                    used += usage[sibling];
                }
                const double of_parent = effective[above] / shares[above];
                const double of_siblings = all > 0 ? used / all / shares[above] : 0.0;
                const double local =
                    of_siblings > 0 && shares[i] > 0 ? norm[i] / shares[i] / of_siblings : 0.0;
                const bool disagree =
                    of_parent > 0 && local > 0 && std::log(of_parent) * std::log(local) < 0;
                const double k = disagree ? 1 / (1 + std::pow(5 * std::log(of_parent), 2)) : 1.0;
                effective[i] = of_parent * std::pow(local, k) * shares[i];
            } else if (tree.above[above] != none) {
                effective[i] = norm[i] + (effective[above] - norm[i]) * tree.part[i];
            }
        }
        if (associations[i].is_user && shares[i] > 0) {
            factors[i] = std::pow(2.0, -(effective[i] / shares[i] / damping));
        }
    }
    return factors;
}

} // namespace noctule::slurm
