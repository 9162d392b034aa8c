#include "slurm/limit_check.hpp"

#include <array>

namespace noctule::slurm {

namespace {

// Slurm's words: of CPUs, memory, nodes, billing, generic resources and licences.
using Names = std::array<std::string_view, 6>;

constexpr std::array<Names, 9> tres_rules{{
    {"GrpCpuLimit", "GrpMemLimit", "GrpNodeLimit", "GrpBilling", "GrpGRES", "GrpLicense"},
    {"GrpCPUMinutesLimit", "GrpMemMinutes", "GrpNodeMinutes", "GrpBillingMinutes", "GrpGRESMinutes",
     "GrpLicenseMinutes"},
    {"GrpCPURunMinutesLimit", "GrpMemRunMinutes", "GrpNodeRunMinutes", "GrpBillingRunMinutes",
     "GrpGRESRunMinutes", "GrpLicenseRunMinutes"},
    {"MaxCpuPerJobLimit", "MaxMemoryPerJob", "MaxNodePerJobLimit", "MaxBillingPerJob",
     "MaxGRESPerJob", "MaxLicensePerJob"},
    {"MaxCpuPerNode", "MaxMemoryPerNode", "MaxNodePerNode", "MaxBillingPerNode", "MaxGRESPerNode",
     "MaxLicensePerNode"},
    {"MaxCpuMinutesPerJobLimit", "MaxMemoryMinutesPerJob", "MaxNodeMinutesPerJob",
     "MaxBillingMinutesPerJob", "MaxGRESMinutesPerJob", "MaxLicenseMinutesPerJob"},
    {"MaxCpuPerUserLimit", "MaxMemoryPerUser", "MaxNodePerUserLimit", "MaxBillingPerUser",
     "MaxGRESPerUser", "MaxLicensePerUser"},
    {"MaxCpuPerAccount", "MaxMemoryPerAccount", "MaxNodePerAccount", "MaxBillingPerAccount",
     "MaxGRESPerAccount", "MaxLicensePerAccount"},
    {"MinCpuNotSatisfied", "MinMemory", "MinNode", "MinBilling", "MinGRES", "MinLicense"},
}};

constexpr std::array<std::string_view, 11> other_rules{
    "GrpJobsLimit",
    "GrpSubmitJobsLimit",
    "GrpWallLimit",
    "MaxJobsLimit",
    "MaxJobsPerUserLimit",
    "MaxJobsPerAccountLimit",
    "MaxSubmitJobLimit",
    "MaxSubmitJobPerUserLimit",
    "MaxSubmitJobPerAccountLimit",
    "MaxWallDurationPerJobLimit",
    "UsageThreshold",
};

} // namespace

std::string LimitCheck::name(LimitRule rule, std::uint32_t tres) const {
    const auto number = static_cast<std::size_t>(rule);
    std::string text(prefix_);
    if (number >= tres_rules.size()) {
        return text.append(other_rules[number - tres_rules.size()]);
    }
    const std::size_t resource = tres < first_gres_tres  ? tres
                                 : tres < first_license_ ? first_gres_tres
                                                         : first_gres_tres + 1;
    return text.append(tres_rules[number][resource]);
}

void LimitCheck::judge(LimitRule rule, std::uint32_t tres, double allowed, double needed,
                       Breaks breaks) {
    if (prefix_ == "QOS") {
        bound_.emplace(rule, tres);
    }
    const bool is_broken = breaks == Breaks::above   ? needed > allowed
                           : breaks == Breaks::below ? needed < allowed
                                                     : needed >= allowed;
    if (is_broken) {
        found_ = {name(rule, tres), std::string(whose_), allowed, needed};
    }
}

} // namespace noctule::slurm
