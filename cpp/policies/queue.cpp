#include "policies/queue.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace noctule {

namespace {

// Bounds must never exceed what they stand for.
float rounded_down(double value) {
    const auto rounded = static_cast<float>(value);
    return rounded > value ? std::nextafter(rounded, -std::numeric_limits<float>::infinity())
                           : rounded;
}

constexpr QueuedJob last_fence{infinity, infinity, no_job, 0, no_job};

} // namespace

// Sizes up to 16 have a class each, larger ones four an octave.
std::size_t JobQueue::class_of(std::uint32_t n_hosts) {
    if (n_hosts <= 16) {
        return n_hosts == 0 ? 0 : n_hosts - 1;
    }
    const auto octave = static_cast<std::uint32_t>(std::bit_width(n_hosts)) - 1;
    const std::uint32_t quarter = n_hosts >> (octave - 2) & 3;
    return std::min<std::size_t>(16 + (octave - 4) * 4 + quarter, n_classes - 1);
}

void JobQueue::Bounds::clear() {
    least_size = no_job;
    loose = false;
    least_walltime.fill(std::numeric_limits<float>::infinity());
}

void JobQueue::Bounds::include(const QueuedJob& job) {
    least_size = std::min(least_size, job.n_hosts);
    const float walltime = rounded_down(job.walltime);
    for (std::size_t c = class_of(job.n_hosts); c < n_classes; ++c) {
        least_walltime[c] = std::min(least_walltime[c], walltime);
    }
}

void JobQueue::Bounds::include(const Bounds& other) {
    least_size = std::min(least_size, other.least_size);
    for (std::size_t c = 0; c < n_classes; ++c) {
        least_walltime[c] = std::min(least_walltime[c], other.least_walltime[c]);
    }
}

bool JobQueue::Bounds::may_admit(const Window& window, std::size_t size_class) const {
    return least_size <= window.n_free &&
           (least_size <= window.extra || window.ends_in_time(least_walltime[size_class]));
}

QueuedJob JobQueue::entry(const View& view, JobIndex job) const {
    const double key =
        order_.key(view.now(), view.submit_time(job), view.walltime(job), view.n_hosts(job));
    return {key, view.walltime(job), job, view.n_hosts(job), view.submission_number(job)};
}

void JobQueue::follow(const View& view, std::span<const Event> events) {
    for (const Event& event : events) {
        if (event.kind == EventKind::job_submitted) {
            add(view, event.subject);
        } else if (event.kind == EventKind::job_cancelled) {
            remove(view, event.subject);
        }
    }
    if (order_.depends_on_time() && size_ > 1) {
        reorder(view);
    }
}

void JobQueue::add(const View& view, JobIndex job) { insert(entry(view, job)); }

std::unique_ptr<JobQueue::Block> JobQueue::new_block() {
    if (spare_.empty()) {
        return std::make_unique<Block>();
    }
    std::unique_ptr<Block> block = std::move(spare_.back());
    spare_.pop_back();
    block->begin = block->end = 0;
    block->bounded = false;
    return block;
}

// An empty queue keeps one empty block.
void JobQueue::reset() {
    std::move(blocks_.begin(), blocks_.end(), std::back_inserter(spare_));
    blocks_.clear();
    groups_.clear();
    sections_.clear();
    blocks_.push_back(new_block());
    blocks_.back()->fence = last_fence;
    head_ = 0;
}

std::size_t JobQueue::block_for(const QueuedJob& job) const {
    const auto begin = blocks_.begin() + static_cast<std::ptrdiff_t>(head_);
    const auto found = std::lower_bound(
        begin, blocks_.end(), job,
        [](const std::unique_ptr<Block>& block, const QueuedJob& j) { return block->fence < j; });
    return static_cast<std::size_t>(found - blocks_.begin());
}

void JobQueue::insert(const QueuedJob& job) {
    if (size_ == 0) {
        reset();
    }
    std::size_t b = order_.is_fcfs() ? blocks_.size() - 1 : block_for(job);
    if (blocks_[b]->end == block_size) {
        split(b);
        b = order_.is_fcfs() ? blocks_.size() - 1 : block_for(job);
    }
    Block& block = *blocks_[b];
    const auto begin = block.jobs.begin() + block.begin;
    const auto end = block.jobs.begin() + block.end;
    const auto place = begin == end || *(end - 1) < job ? end : std::upper_bound(begin, end, job);
    std::move_backward(place, end, end + 1);
    *place = job;
    ++block.end;
    ++size_;
    if (block.bounded) {
        block.bounds.include(job);
    }
    include_above(b, job);
}

void JobQueue::include_above(std::size_t b, const QueuedJob& job) {
    const auto include = [&](std::vector<Node>& nodes, std::size_t n) {
        if (n < nodes.size() && nodes[n].bounded) {
            nodes[n].bounds.include(job);
        }
    };
    include(groups_, b / group_size);
    include(sections_, b / section_size);
}

// Makes room in a block whose last slot is taken.
void JobQueue::split(std::size_t b) {
    Block& block = *blocks_[b];
    if (block.begin > block_size / 2) {
        std::move(block.jobs.begin() + block.begin, block.jobs.end(), block.jobs.begin());
        block.end -= block.begin;
        block.begin = 0;
        return;
    }
    b -= drop_front_blocks();
    std::unique_ptr<Block> tail = new_block();
    tail->fence = block.fence;
    // Appending leaves the blocks of a first-come queue full.
    const std::uint32_t cut = order_.is_fcfs() ? block.end : (block.begin + block.end) / 2;
    std::move(block.jobs.begin() + cut, block.jobs.begin() + block.end, tail->jobs.begin());
    tail->end = block.end - cut;
    block.end = cut;
    block.fence = block.jobs[cut - 1];
    block.bounded = false;
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(b) + 1, std::move(tail));
    shift(groups_, group_size, b);
    shift(sections_, section_size, b);
    if (blocks_.size() - head_ > 8 + 4 * size_ / block_size) {
        rebuild(all());
    }
}

// Every block behind has moved by one, and the last of each node into the next one.
void JobQueue::shift(std::vector<Node>& nodes, std::size_t size, std::size_t b) {
    for (std::size_t n = b / size + 1; n < nodes.size(); ++n) {
        Block& entered = *blocks_[n * size];
        if (!entered.bounded) {
            bound(entered);
        }
        nodes[n].bounds.include(entered.bounds);
        nodes[n].bounds.loose = true;
    }
}

// Forgets whole groups of empty blocks in front, so that the others keep their groups; returns how
// many blocks went.
std::size_t JobQueue::drop_front_blocks() {
    const std::size_t groups = head_ / group_size;
    if (groups == 0 || head_ < blocks_.size() / 2) {
        return 0;
    }
    const auto dropped = static_cast<std::ptrdiff_t>(groups * group_size);
    std::move(blocks_.begin(), blocks_.begin() + dropped, std::back_inserter(spare_));
    blocks_.erase(blocks_.begin(), blocks_.begin() + dropped);
    const auto known = std::min(groups, groups_.size());
    groups_.erase(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(known));
    sections_.clear();
    head_ -= groups * group_size;
    return groups * group_size;
}

std::vector<QueuedJob> JobQueue::all() const {
    std::vector<QueuedJob> jobs;
    jobs.reserve(size_);
    for (std::size_t b = head_; b < blocks_.size(); ++b) {
        const Block& block = *blocks_[b];
        jobs.insert(jobs.end(), block.jobs.begin() + block.begin, block.jobs.begin() + block.end);
    }
    return jobs;
}

void JobQueue::rebuild(std::vector<QueuedJob> jobs) {
    std::move(blocks_.begin(), blocks_.end(), std::back_inserter(spare_));
    blocks_.clear();
    groups_.clear();
    sections_.clear();
    head_ = 0;
    constexpr std::size_t filled = block_size * 3 / 4;
    for (std::size_t i = 0; i < jobs.size(); i += filled) {
        const std::size_t end = std::min(i + filled, jobs.size());
        blocks_.push_back(new_block());
        Block& block = *blocks_.back();
        std::copy(jobs.begin() + static_cast<std::ptrdiff_t>(i),
                  jobs.begin() + static_cast<std::ptrdiff_t>(end), block.jobs.begin());
        block.end = static_cast<std::uint32_t>(end - i);
        block.fence = jobs[end - 1];
    }
    if (!blocks_.empty()) {
        blocks_.back()->fence = last_fence;
    }
}

void JobQueue::reorder(const View& view) {
    std::vector<QueuedJob> jobs = all();
    for (QueuedJob& job : jobs) {
        job.key = entry(view, job.job).key;
    }
    std::sort(jobs.begin(), jobs.end());
    rebuild(std::move(jobs));
}

JobQueue::Position JobQueue::after(Position position) const {
    ++position.slot;
    while (position.slot >= blocks_[position.block]->end) {
        if (++position.block == blocks_.size()) {
            break;
        }
        position.slot = blocks_[position.block]->begin;
    }
    return position;
}

JobQueue::Position JobQueue::remove(Position position) {
    Block& block = *blocks_[position.block];
    if (position.slot == block.begin) {
        ++block.begin;
        ++position.slot;
    } else {
        std::move(block.jobs.begin() + position.slot + 1, block.jobs.begin() + block.end,
                  block.jobs.begin() + position.slot);
        --block.end;
    }
    block.bounds.loose = true;
    if (position.block / group_size < groups_.size()) {
        groups_[position.block / group_size].bounds.loose = true;
    }
    if (position.block / section_size < sections_.size()) {
        sections_[position.block / section_size].bounds.loose = true;
    }
    --size_;
    while (head_ < blocks_.size() && blocks_[head_]->empty()) {
        ++head_;
    }
    if (position.slot >= block.end) {
        --position.slot;
        return after(position);
    }
    return position;
}

void JobQueue::remove(const View& view, JobIndex job) {
    if (!order_.depends_on_time()) {
        const QueuedJob wanted = entry(view, job);
        const std::size_t b = block_for(wanted);
        const Block& block = *blocks_[b];
        const auto found = std::lower_bound(block.jobs.begin() + block.begin,
                                            block.jobs.begin() + block.end, wanted);
        remove({b, static_cast<std::uint32_t>(found - block.jobs.begin())});
        return;
    }
    for (Position p = first(); valid(p); p = after(p)) {
        if (at(p).job == job) {
            remove(p);
            return;
        }
    }
}

void JobQueue::bound(Block& block) const {
    Bounds& bounds = block.bounds;
    bounds.clear();
    for (std::uint32_t s = block.begin; s < block.end; ++s) {
        const QueuedJob& job = block.jobs[s];
        float& least = bounds.least_walltime[class_of(job.n_hosts)];
        least = std::min(least, rounded_down(job.walltime));
        bounds.least_size = std::min(bounds.least_size, job.n_hosts);
    }
    for (std::size_t c = 1; c < n_classes; ++c) {
        bounds.least_walltime[c] = std::min(bounds.least_walltime[c], bounds.least_walltime[c - 1]);
    }
    block.bounded = true;
}

void JobQueue::bound_group(std::size_t group) {
    Bounds& bounds = groups_[group].bounds;
    bounds.clear();
    const std::size_t end = std::min((group + 1) * group_size, blocks_.size());
    for (std::size_t b = std::max(group * group_size, head_); b < end; ++b) {
        if (!blocks_[b]->bounded) {
            bound(*blocks_[b]);
        }
        bounds.include(blocks_[b]->bounds);
    }
    groups_[group].bounded = true;
}

void JobQueue::bound_section(std::size_t section) {
    Bounds& bounds = sections_[section].bounds;
    bounds.clear();
    constexpr std::size_t groups_a_section = section_size / group_size;
    const std::size_t end = std::min((section + 1) * groups_a_section, groups_.size());
    for (std::size_t g = section * groups_a_section; g < end; ++g) {
        if (!groups_[g].bounded) {
            bound_group(g);
        }
        bounds.include(groups_[g].bounds);
    }
    sections_[section].bounded = true;
}

bool JobQueue::may_skip_section(std::size_t section, const Window& window, std::size_t size_class) {
    if (!sections_[section].bounded) {
        bound_section(section);
    }
    return !sections_[section].bounds.may_admit(window, size_class);
}

bool JobQueue::may_skip_group(std::size_t group, const Window& window, std::size_t size_class) {
    if (!groups_[group].bounded) {
        bound_group(group);
    }
    return !groups_[group].bounds.may_admit(window, size_class);
}

// After a search has passed a block in vain: makes the bounds that end with it exact again.
void JobQueue::tighten(std::size_t b) {
    const bool last = b + 1 == blocks_.size();
    if ((last || (b + 1) % group_size == 0) && groups_[b / group_size].bounds.loose) {
        bound_group(b / group_size);
    }
    if ((last || (b + 1) % section_size == 0) && sections_[b / section_size].bounds.loose) {
        bound_section(b / section_size);
    }
}

bool JobQueue::scan_block(std::size_t b, std::uint32_t slot, const Window& window,
                          Position& found) const {
    const Block& block = *blocks_[b];
    for (; slot < block.end; ++slot) {
        if (window.admits(block.jobs[slot].n_hosts, block.jobs[slot].walltime)) {
            found = {b, slot};
            return true;
        }
    }
    return false;
}

JobQueue::Position JobQueue::scan(Position from, const Window& window) const {
    Position found{blocks_.size(), 0};
    for (std::size_t b = from.block; b < blocks_.size(); ++b) {
        if (scan_block(b, b == from.block ? from.slot : blocks_[b]->begin, window, found)) {
            break;
        }
    }
    return found;
}

JobQueue::Position JobQueue::find(Position from, const Window& window) {
    if (size_ <= scanned_size || !valid(from)) {
        return scan(from, window);
    }
    Position found{blocks_.size(), 0};
    if (scan_block(from.block, from.slot, window, found)) {
        return found;
    }
    groups_.resize((blocks_.size() + group_size - 1) / group_size);
    sections_.resize((blocks_.size() + section_size - 1) / section_size);
    const std::size_t size_class = class_of(window.n_free);
    const std::size_t begin = from.block + 1;
    for (std::size_t b = begin; b < blocks_.size();) {
        if ((b == begin || b % section_size == 0) &&
            may_skip_section(b / section_size, window, size_class)) {
            b = (b / section_size + 1) * section_size;
            continue;
        }
        if ((b == begin || b % group_size == 0) &&
            may_skip_group(b / group_size, window, size_class)) {
            b = (b / group_size + 1) * group_size;
            tighten(std::min(b, blocks_.size()) - 1);
            continue;
        }
        Block& block = *blocks_[b];
        if (!block.bounded) {
            bound(block);
        }
        if (block.bounds.may_admit(window, size_class)) {
            if (scan_block(b, block.begin, window, found)) {
                return found;
            }
            if (block.bounds.loose) {
                bound(block);
            }
        }
        tighten(b);
        ++b;
    }
    return found;
}

} // namespace noctule
