// The waiting jobs of a policy, in its order, with an index for backfilling in deep queues.
//
// Jobs lie in blocks of 64. A block, a group of 16 blocks and a section of 16 groups know the least
// size in them and, for every class of sizes, the least walltime among jobs no larger: a search
// skips what cannot hold a job that may pass. Those bounds may lag behind removals, which makes
// them loose but never wrong; a search that was misled tightens them. Short queues are scanned.
#pragma once

#include "order.hpp"
#include "policy.hpp"

#include <array>
#include <memory>
#include <vector>

namespace noctule {

struct QueuedJob {
    double key;
    double walltime;
    JobIndex job;
    std::uint32_t n_hosts;
    std::uint32_t submission;

    bool operator<(const QueuedJob& other) const {
        return key != other.key ? key < other.key : submission < other.submission;
    }
};

// What may start ahead of the first job: it fits now, and either ends by the shadow or needs no
// more than the extra hosts.
struct Window {
    double now;
    double shadow;
    std::uint32_t n_free;
    std::uint32_t extra;

    bool ends_in_time(double walltime) const { return now + walltime <= shadow; }
    bool admits(std::uint32_t n_hosts, double walltime) const {
        return n_hosts <= n_free && (n_hosts <= extra || ends_in_time(walltime));
    }
};

class JobQueue {
  public:
    struct Position {
        std::size_t block;
        std::uint32_t slot;
    };

    explicit JobQueue(Order order) : order_(std::move(order)) {}

    // Adds submitted jobs, removes cancelled ones, and puts the queue in the order of now.
    void follow(const View& view, std::span<const Event> events);

    const Order& order() const { return order_; }
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    const QueuedJob& front() const { return at(first()); }

    // Whether a new job would go before all others.
    bool goes_first(const View& view, JobIndex job) const { return entry(view, job) < front(); }

    Position first() const { return {head_, blocks_[head_]->begin}; }
    bool valid(Position position) const { return position.block < blocks_.size(); }
    const QueuedJob& at(Position position) const {
        return blocks_[position.block]->jobs[position.slot];
    }

    // The position behind this one; the jobs behind a removed one keep their order.
    Position after(Position position) const;
    Position remove(Position position);
    void add(const View& view, JobIndex job);
    void remove(const View& view, JobIndex job);

    // The first position from this one on that the window admits; not valid if there is none.
    Position find(Position from, const Window& window);

  private:
    static constexpr std::uint32_t block_size = 64;
    static constexpr std::size_t group_size = 16;                // blocks
    static constexpr std::size_t section_size = 16 * group_size; // blocks
    static constexpr std::size_t n_classes = 80;
    static constexpr std::size_t scanned_size = 256;

    struct Bounds {
        std::uint32_t least_size;
        bool loose; // jobs were removed since it was computed
        std::array<float, n_classes> least_walltime;

        void clear();
        void include(const QueuedJob& job);
        void include(const Bounds& other);
        bool may_admit(const Window& window, std::size_t size_class) const;
    };

    struct Block {
        std::uint32_t begin = 0; // jobs are in [begin, end); removing the first one moves nothing
        std::uint32_t end = 0;
        bool bounded = false; // bounds hold
        Bounds bounds;
        QueuedJob fence{}; // no job of the block is after it
        std::array<QueuedJob, block_size> jobs;

        bool empty() const { return begin == end; }
    };

    // Of a group or a section.
    struct Node {
        bool bounded = false;
        Bounds bounds;
    };

    static std::size_t class_of(std::uint32_t n_hosts);
    QueuedJob entry(const View& view, JobIndex job) const;
    void insert(const QueuedJob& job);
    void reset();
    void split(std::size_t block);
    void shift(std::vector<Node>& nodes, std::size_t size, std::size_t block);
    std::size_t block_for(const QueuedJob& job) const;
    std::unique_ptr<Block> new_block();
    std::size_t drop_front_blocks();
    void rebuild(std::vector<QueuedJob> jobs);
    std::vector<QueuedJob> all() const;
    void reorder(const View& view);
    void bound(Block& block) const;
    void bound_group(std::size_t group);
    void bound_section(std::size_t section);
    bool may_skip_section(std::size_t section, const Window& window, std::size_t size_class);
    bool may_skip_group(std::size_t group, const Window& window, std::size_t size_class);
    void tighten(std::size_t block);
    void include_above(std::size_t block, const QueuedJob& job);
    Position scan(Position from, const Window& window) const;
    bool scan_block(std::size_t block, std::uint32_t slot, const Window& window,
                    Position& found) const;

    Order order_;
    std::vector<std::unique_ptr<Block>> blocks_;
    std::vector<std::unique_ptr<Block>> spare_;
    std::vector<Node> groups_;
    std::vector<Node> sections_;
    std::size_t head_ = 0; // the first block that is not empty
    std::size_t size_ = 0;
};

} // namespace noctule
