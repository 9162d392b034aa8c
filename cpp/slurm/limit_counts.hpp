// What counts against limits: jobs and TRES of associations, of QOS, and of users and accounts
// within a QOS.
#pragma once

#include "slurm/accounting.hpp"
#include "slurm/requests.hpp"
#include "slurm/tres.hpp"

#include <map>
#include <span>
#include <utility>
#include <vector>

namespace noctule::slurm {

struct Count {
    std::uint32_t submitted = 0; // waiting or running
    std::uint32_t running = 0;
    Tres tres = {}; // of running jobs
};

class LimitCounts {
  public:
    LimitCounts(const Accounting& accounting, std::uint32_t n_tres);

    // Who a job counts for: its QOS, that of its partition, its association and those above.
    struct Owner {
        std::uint32_t association = none;
        std::uint32_t user = 0;
        std::vector<std::uint32_t> qos = {}; // each once
    };

    void submit(const Owner& owner) { change(owner, 1, 0, {}); }
    void withdraw(const Owner& owner) { change(owner, -1, 0, {}); }
    void start(const Owner& owner, const Tres& tres) { change(owner, 0, 1, tres); }
    void end(const Owner& owner, const Tres& tres) { change(owner, 0, -1, tres); }

    const Count& of_association(std::uint32_t association) const {
        return associations_[association];
    }
    const Count& of_qos(std::uint32_t qos) const { return qos_[qos]; }
    const Count& of_user(std::uint32_t qos, std::uint32_t user) const {
        return find(users_, {qos, user});
    }
    const Count& of_account(std::uint32_t qos, std::uint32_t association) const {
        return find(accounts_, {qos, account_of(association)});
    }

  private:
    using Key = std::pair<std::uint32_t, std::uint32_t>;
    const Count& find(const std::map<Key, Count>& counts, Key key) const {
        const auto at = counts.find(key);
        return at == counts.end() ? nothing_ : at->second;
    }
    std::uint32_t account_of(std::uint32_t association) const {
        return association == none ? none : accounting_.associations[association].parent;
    }
    // The TRES are added or taken away as the running jobs are.
    void change(const Owner& owner, int submitted, int running, std::span<const double> tres);

    const Accounting& accounting_;
    const Count nothing_;
    std::vector<Count> associations_;
    std::vector<Count> qos_;
    std::map<Key, Count> users_;
    std::map<Key, Count> accounts_;
};

} // namespace noctule::slurm
