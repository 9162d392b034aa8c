#include "network/zones.hpp"

namespace noctule {

namespace {

std::uint64_t key_of(MemberIndex from, MemberIndex to) { return std::uint64_t(from) << 32 | to; }

} // namespace

bool DeclaredRoutes::add(MemberIndex from, MemberIndex to, PointId gw_src, PointId gw_dst,
                         std::span<const LinkId> links) {
    const auto number = static_cast<std::uint32_t>(entries_.size());
    if (!index_.emplace(key_of(from, to), number).second) {
        return false;
    }
    entries_.push_back(
        {from, to, links_.size(), static_cast<std::uint32_t>(links.size()), gw_src, gw_dst});
    links_.insert(links_.end(), links.begin(), links.end());
    return true;
}

const DeclaredRoutes::Entry* DeclaredRoutes::find(MemberIndex from, MemberIndex to) const {
    const auto found = index_.find(key_of(from, to));
    return found == index_.end() ? nullptr : &entries_[found->second];
}

} // namespace noctule
