#include "mpi/steps.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace noctule::mpi {
namespace {

using Found = std::optional<Step>;

// Messages of one pattern meet only each other, in the order in which they were posted.
enum class Pattern : Tag {
    barrier = Tag{1} << 32,
    broadcast,
    reduce,
    alltoall,
    alltoallv,
    gather,
    gatherv,
    allgather,
    allgatherv,
    scatter,
    scatterv,
    reduce_scatter,
    scan,
};

constexpr Tag tag_of(Pattern pattern) { return static_cast<Tag>(pattern); }

Step send_to(Rank peer, Pattern pattern, double bytes) {
    return {StepKind::send, peer, tag_of(pattern), bytes};
}
Step receive_from(Rank peer, Pattern pattern, double bytes) {
    return {StepKind::receive, peer, tag_of(pattern), bytes};
}
constexpr Step wait_for_all{};

// Parts of collectives: the step number `at` of a rank in each of them, or none where it is over.
class Parts {
  public:
    Parts(Rank rank, Rank n_ranks, std::uint32_t at) : rank_(rank), n_(n_ranks), at_(at) {}

    // All send to the root, which can receive `capacity(rank)` bytes.
    template <typename Capacity>
    Found collect(Rank root, Pattern pattern, double bytes, const Capacity& capacity) const {
        if (rank_ == root) {
            return each_other(
                [&](Rank peer) { return receive_from(peer, pattern, capacity(peer)); });
        }
        return one(send_to(root, pattern, bytes));
    }

    // The root sends `bytes(rank)` bytes to each.
    template <typename Bytes>
    Found distribute(Rank root, Pattern pattern, const Bytes& bytes, double capacity) const {
        if (rank_ == root) {
            return each_other([&](Rank peer) { return send_to(peer, pattern, bytes(peer)); });
        }
        return one(receive_from(root, pattern, capacity));
    }

    // Each exchanges with each other, all at once.
    template <typename Bytes, typename Capacity>
    Found exchange(Pattern pattern, const Bytes& bytes, const Capacity& capacity) const {
        if (at_ < n_ - 1) {
            const Rank peer = other(at_);
            return receive_from(peer, pattern, capacity(peer));
        }
        return Parts(rank_, n_, at_ - (n_ - 1)).each_other([&](Rank peer) {
            return send_to(peer, pattern, bytes(peer));
        });
    }

    // To all higher ranks, from all lower ones.
    Found upwards(Pattern pattern, double bytes) const {
        return each_other([&](Rank peer) {
            return peer < rank_ ? receive_from(peer, pattern, bytes)
                                : send_to(peer, pattern, bytes);
        });
    }

    // Down a binomial tree: from the parent, then to each child, the farthest first; one after the
    // other.
    Found down_tree(Rank root, double bytes) const {
        const Rank relative = (rank_ + n_ - root) % n_;
        const auto absolute = [&](Rank peer) { return (peer + root) % n_; };
        std::uint32_t message = at_ / 2;
        Rank reach = std::bit_ceil(n_);
        if (relative != 0) {
            reach = relative & (~relative + 1); // the lowest bit
            if (message == 0) {
                const Rank parent = absolute(relative - reach);
                return then_wait(receive_from(parent, Pattern::broadcast, bytes));
            }
            --message;
        }
        for (reach /= 2; reach > 0; reach /= 2) {
            if (reach < n_ - relative && message-- == 0) {
                return then_wait(send_to(absolute(relative + reach), Pattern::broadcast, bytes));
            }
        }
        return std::nullopt;
    }

    // In turn with each other: partners by exclusive or where that pairs all ranks, else in a ring.
    template <typename Bytes, typename Capacity>
    Found pairwise(Pattern pattern, bool in_ring, const Bytes& bytes,
                   const Capacity& capacity) const {
        const std::uint32_t round = at_ / 3 + 1;
        if (round >= n_) {
            return std::nullopt;
        }
        const bool by_or = std::has_single_bit(n_) && !in_ring;
        const Rank to = by_or ? rank_ ^ round : (rank_ + round) % n_;
        const Rank from = by_or ? to : (rank_ + n_ - round) % n_;
        return swap(pattern, to, bytes(to), from, capacity(from));
    }

    // Bruck's algorithm: in each round the blocks whose number has one bit move that far.
    Found bruck(double bytes) const {
        const std::uint32_t round = at_ / 3;
        if (round >= 31 || (Rank{1} << round) >= n_) {
            return std::nullopt;
        }
        const Rank distance = Rank{1} << round;
        const Rank rest = n_ & (2 * distance - 1);
        const Rank n_blocks =
            (n_ >> (round + 1)) * distance + (rest > distance ? rest - distance : 0);
        const double moved = n_blocks * bytes;
        return swap(Pattern::alltoall, (rank_ + distance) % n_, moved, (rank_ + n_ - distance) % n_,
                    moved);
    }

    Found halving(std::span<const double> counts) const;

    Found compute(double flops) const {
        if (at_ > 0) {
            return std::nullopt;
        }
        return Step{StepKind::compute, 0, 0, flops};
    }

    // A single message.
    Found one(const Step& message) const { return at_ < 2 ? then_wait(message) : std::nullopt; }

    // Sends and receives, and waits for both.
    Found swap(Pattern pattern, Rank to, double bytes, Rank from, double capacity) const {
        switch (at_ % 3) {
        case 0:
            return receive_from(from, pattern, capacity);
        case 1:
            return send_to(to, pattern, bytes);
        default:
            return wait_for_all;
        }
    }

    Found then_wait(const Step& message) const { return at_ % 2 == 0 ? message : wait_for_all; }

  private:
    Rank other(std::uint32_t i) const { return i < rank_ ? i : i + 1; }

    template <typename Message> Found each_other(const Message& message) const {
        if (at_ < n_ - 1) {
            return message(other(at_));
        }
        return at_ == n_ - 1 ? Found(wait_for_all) : std::nullopt;
    }

    Rank rank_;
    Rank n_;
    std::uint32_t at_;
};

double sum(std::span<const double> counts, Rank first, Rank size) {
    const auto n = static_cast<Rank>(counts.size());
    const auto begin = counts.begin() + std::min(first, n);
    return std::accumulate(begin, counts.begin() + std::min(first + size, n), 0.0);
}

// MPICH's recursive doubling of a reduction whose results go to all ranks in unequal shares. Where
// the number of ranks is no power of two, ranks without a partner get the data from those that have
// it.
Found Parts::halving(std::span<const double> counts) const {
    const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
    std::uint32_t passed = 0; // steps of earlier rounds
    for (Rank mask = 1; mask < n_; mask *= 2) {
        const Rank partner = rank_ ^ mask;
        const Rank own_root = rank_ & ~(mask - 1);
        const Rank partner_root = partner & ~(mask - 1);
        const double incoming = total - sum(counts, partner_root, mask);
        if (partner < n_) {
            if (at_ < passed + 3) {
                const Parts here(rank_, n_, at_ - passed);
                return here.swap(Pattern::reduce_scatter, partner,
                                 total - sum(counts, own_root, mask), partner, incoming);
            }
            passed += 3;
        }
        if (partner_root + mask <= n_) {
            continue;
        }
        const Rank n_complete = n_ > own_root + mask ? n_ - own_root - mask : 0;
        for (Rank half = mask / 2; half > 0; half /= 2) {
            const Rank peer = rank_ ^ half;
            const Rank complete = (rank_ & ~(2 * half - 1)) + n_complete;
            const bool sends = peer > rank_ && rank_ < complete && peer >= complete;
            const bool receives = peer < rank_ && peer < complete && rank_ >= complete;
            if (!sends && !receives) {
                continue;
            }
            if (at_ < passed + 2) {
                return Parts(rank_, n_, at_ - passed)
                    .one(sends ? send_to(peer, Pattern::reduce_scatter, incoming)
                               : receive_from(peer, Pattern::reduce_scatter, incoming));
            }
            passed += 2;
        }
    }
    return std::nullopt;
}

// The steps of one action, part by part.
class Plan {
  public:
    Plan(const Trace& trace, Rank rank, const Action& action, Cursor cursor)
        : trace_(trace), action_(action), parts_(rank, trace.n_ranks(), cursor.at), rank_(rank),
          n_(trace.n_ranks()), part_(cursor.part), at_(cursor.at) {}

    Found step() const {
        switch (action_.kind) {
        case ActionKind::compute:
            return first(parts_.compute(action_.amount));
        case ActionKind::send:
            return first(parts_.one({StepKind::send, action_.peer, action_.tag, action_.amount}));
        case ActionKind::receive:
            return first(
                parts_.one({StepKind::receive, action_.peer, action_.tag, action_.second}));
        case ActionKind::send_receive:
            return first(send_receive());
        default:
            return collective();
        }
    }

    std::uint32_t n_parts() const {
        switch (action_.kind) {
        case ActionKind::barrier:
        case ActionKind::reduce:
        case ActionKind::scan:
        case ActionKind::exscan:
            return 2;
        case ActionKind::allreduce:
        case ActionKind::reduce_scatter:
            return 3;
        default:
            return 1;
        }
    }

  private:
    Found first(Found step) const { return part_ == 0 ? step : std::nullopt; }

    Found send_receive() const {
        const bool alone = action_.peer == rank_ && action_.other == rank_;
        if (alone || at_ > 2) {
            return std::nullopt;
        }
        switch (at_) {
        case 0:
            return Step{StepKind::receive, action_.other, 0, action_.second};
        case 1:
            return Step{StepKind::send, action_.peer, 0, action_.amount};
        default:
            return wait_for_all;
        }
    }

    Found collective() const {
        const auto sent = [this](Rank) { return action_.amount; };
        const auto capacity = [this](Rank) { return action_.second; };
        switch (action_.kind) {
        case ActionKind::barrier:
            return barrier();
        case ActionKind::broadcast:
            return parts_.down_tree(action_.peer, action_.amount);
        case ActionKind::reduce:
            return part_ == 0 ? parts_.collect(action_.peer, Pattern::reduce, action_.amount, sent)
                              : parts_.compute(action_.second);
        case ActionKind::allreduce:
            return allreduce();
        case ActionKind::alltoall:
            return alltoall();
        case ActionKind::gather:
            return parts_.collect(action_.peer, Pattern::gather, action_.amount, capacity);
        case ActionKind::allgather:
            return parts_.exchange(Pattern::allgather, sent, capacity);
        case ActionKind::scatter:
            return parts_.distribute(action_.peer, Pattern::scatter, sent, action_.second);
        case ActionKind::scan:
        case ActionKind::exscan:
            return part_ == 0 ? parts_.upwards(Pattern::scan, action_.amount)
                              : parts_.compute(action_.second);
        default:
            return with_counts();
        }
    }

    Found with_counts() const {
        const std::span<const double> counts = trace_.counts(action_);
        const auto of_each = [counts](Rank rank) { return counts[rank]; };
        switch (action_.kind) {
        case ActionKind::alltoallv: {
            const std::span<const double> capacities = trace_.second_counts(action_);
            return parts_.exchange(Pattern::alltoallv, of_each,
                                   [capacities](Rank rank) { return capacities[rank]; });
        }
        case ActionKind::gatherv:
            return parts_.collect(action_.peer, Pattern::gatherv, action_.amount, of_each);
        case ActionKind::allgatherv:
            return parts_.exchange(
                Pattern::allgatherv, [this](Rank) { return action_.amount; }, of_each);
        case ActionKind::scatterv:
            return parts_.distribute(action_.peer, Pattern::scatterv, of_each, action_.second);
        default:
            return reduce_scatter(counts);
        }
    }

    Found barrier() const {
        const auto nothing = [](Rank) { return 0.0; };
        return part_ == 0 ? parts_.collect(0, Pattern::barrier, 0.0, nothing)
                          : parts_.distribute(0, Pattern::barrier, nothing, 0.0);
    }

    Found allreduce() const {
        switch (part_) {
        case 0:
            return parts_.collect(0, Pattern::reduce, action_.amount,
                                  [this](Rank) { return action_.amount; });
        case 1:
            return parts_.down_tree(0, action_.amount);
        default:
            return parts_.compute(action_.second);
        }
    }

    Found alltoall() const {
        const auto sent = [this](Rank) { return action_.amount; };
        const auto capacity = [this](Rank) { return action_.second; };
        switch (alltoall_algorithm(n_, action_.amount)) {
        case Alltoall::pairwise:
            return parts_.pairwise(Pattern::alltoall, false, sent, capacity);
        case Alltoall::bruck:
            return parts_.bruck(action_.amount);
        default:
            return parts_.exchange(Pattern::alltoall, sent, capacity);
        }
    }

    // Equal shares: reduced by rank 0, then scattered. Others as MPICH does it.
    Found reduce_scatter(std::span<const double> counts) const {
        constexpr double long_message = 524288.0; // elements
        const auto of_each = [counts](Rank rank) { return counts[rank]; };
        if (part_ == 2) {
            return parts_.compute(action_.second);
        }
        if (action_.equal_counts) {
            const double total = counts.front() * n_;
            return part_ == 0
                       ? parts_.collect(0, Pattern::reduce, total, [total](Rank) { return total; })
                       : parts_.distribute(0, Pattern::scatterv, of_each, counts[rank_]);
        }
        if (part_ == 1) {
            return std::nullopt;
        }
        if (action_.amount > long_message) {
            const double own = counts[rank_];
            return parts_.pairwise(Pattern::reduce_scatter, true, of_each,
                                   [own](Rank) { return own; });
        }
        return parts_.halving(counts);
    }

    const Trace& trace_;
    const Action& action_;
    Parts parts_;
    Rank rank_;
    Rank n_;
    std::uint32_t part_;
    std::uint32_t at_;
};

} // namespace

std::optional<Step> next_step(const Trace& trace, Rank rank, const Action& action, Cursor& cursor) {
    for (;;) {
        const Plan plan(trace, rank, action, cursor);
        if (cursor.part >= plan.n_parts()) {
            return std::nullopt;
        }
        if (const Found step = plan.step()) {
            ++cursor.at;
            return step;
        }
        cursor = {cursor.part + 1, 0};
    }
}

Alltoall alltoall_algorithm(Rank n_ranks, double bytes) {
    constexpr double kilo = 1024.0;
    const auto choose = [bytes](double bruck_below, double pairwise_from) {
        return bytes < bruck_below      ? Alltoall::bruck
               : bytes >= pairwise_from ? Alltoall::pairwise
                                        : Alltoall::linear;
    };
    constexpr double never = std::numeric_limits<double>::infinity();
    if (n_ranks == 2) {
        constexpr std::array<double, 8> changes{2, 4, 16, 64, 256, 4096, 32768, 1048576};
        const auto n_changes = std::upper_bound(changes.begin(), changes.end(), bytes);
        return (n_changes - changes.begin()) % 2 == 0 ? Alltoall::pairwise : Alltoall::linear;
    }
    if (n_ranks < 8) {
        return bytes < kilo * kilo ? choose(0.0, 512 * kilo) : Alltoall::linear;
    }
    if (n_ranks < 16 || (n_ranks < 32 && bytes < 4)) {
        return Alltoall::linear;
    }
    if (n_ranks < 64) {
        return choose(512, never);
    }
    if (n_ranks < 256) {
        return choose(1024, 256 * kilo);
    }
    if (n_ranks < 512) {
        return choose(1024, 32 * kilo);
    }
    if (n_ranks < 1024) {
        return choose(512, 256 * kilo);
    }
    return choose(n_ranks < 2048 ? 512 : n_ranks < 4096 ? 1024 : 2048, never);
}

} // namespace noctule::mpi
