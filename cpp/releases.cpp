#include "releases.hpp"

#include <algorithm>
#include <cassert>

namespace noctule {

namespace {
constexpr std::size_t max_chunk = 128;
} // namespace

std::size_t Releases::chunk_of(const Release& release) const {
    if (chunks_.size() == 1) {
        return 0;
    }
    const auto found = std::lower_bound(
        chunks_.begin(), chunks_.end(), release,
        [](const Chunk& chunk, const Release& r) { return chunk.releases.back() < r; });
    return static_cast<std::size_t>(found - chunks_.begin());
}

void Releases::add(const Release& release) {
    if (chunks_.empty()) {
        chunks_.emplace_back().releases.reserve(max_chunk);
    }
    const std::size_t c = std::min(chunk_of(release), chunks_.size() - 1);
    Chunk& chunk = chunks_[c];
    auto& releases = chunk.releases;
    releases.insert(std::upper_bound(releases.begin(), releases.end(), release), release);
    chunk.n_hosts += release.n_hosts;
    if (releases.size() < max_chunk) {
        return;
    }
    Chunk half;
    half.releases.reserve(max_chunk);
    half.releases.assign(releases.begin() + max_chunk / 2, releases.end());
    releases.resize(max_chunk / 2);
    for (const Release& moved : half.releases) {
        half.n_hosts += moved.n_hosts;
    }
    chunk.n_hosts -= half.n_hosts;
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(c) + 1, std::move(half));
}

void Releases::remove(double time, JobIndex job) {
    const Release release{time, job, 0};
    const std::size_t c = chunk_of(release);
    assert(c < chunks_.size());
    Chunk& chunk = chunks_[c];
    const auto found = std::lower_bound(chunk.releases.begin(), chunk.releases.end(), release);
    assert(found != chunk.releases.end() && found->job == job);
    chunk.n_hosts -= found->n_hosts;
    chunk.releases.erase(found);
    if (chunk.releases.empty() && chunks_.size() > 1) {
        chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(c));
    }
}

std::uint64_t Releases::n_hosts() const {
    std::uint64_t n = 0;
    for (const Chunk& chunk : chunks_) {
        n += chunk.n_hosts;
    }
    return n;
}

Shadow Releases::shadow(double now, std::uint32_t n_free, std::uint32_t needed) const {
    std::uint64_t available = n_free;
    double time = infinity;
    for (const Chunk& chunk : chunks_) {
        if (available + chunk.n_hosts < needed) {
            available += chunk.n_hosts;
            continue;
        }
        for (const Release& release : chunk.releases) {
            if (available >= needed && release.time > time) {
                return {time, static_cast<std::uint32_t>(available - needed)};
            }
            available += release.n_hosts;
            if (available >= needed) {
                time = std::max(release.time, now);
            }
        }
    }
    return {time, static_cast<std::uint32_t>(available < needed ? 0 : available - needed)};
}

} // namespace noctule
