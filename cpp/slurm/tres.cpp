#include "slurm/tres.hpp"

#include <algorithm>

namespace noctule::slurm {

namespace {

// Memory that a job asks for, in all; 0 where nothing is said, or all of its nodes.
double requested_memory(const Request& request, const Partition& partition, double nodes,
                        double cpus) {
    if (request.all_memory) {
        return 0.0;
    }
    const bool is_told = request.memory_mb > 0;
    const auto amount =
        static_cast<double>(is_told ? request.memory_mb : partition.default_memory_mb);
    const bool is_per_cpu =
        is_told ? request.memory_is_per_cpu : partition.default_memory_is_per_cpu;
    return amount * (is_per_cpu ? cpus : nodes);
}

// Of a family with types both are counted: gres/gpu and gres/gpu:a100.
void add_gres(Tres& tres, const Settings& settings, std::uint32_t kind, double amount) {
    const std::string& name = settings.gres_kinds[kind];
    tres[first_gres_tres + kind] += amount;
    const std::string family = name.substr(0, name.find(':'));
    const auto at = std::ranges::find(settings.gres_kinds, family);
    if (family != name && at != settings.gres_kinds.end()) {
        tres[first_gres_tres + static_cast<std::size_t>(at - settings.gres_kinds.begin())] +=
            amount;
    }
}

void add_licenses(Tres& tres, const Settings& settings, const Request& request) {
    for (const LicenseRequest& asked : request.licenses) {
        tres[first_gres_tres + settings.gres_kinds.size() + asked.license] += asked.count;
    }
}

// A weighted sum, or of what nodes have the dearest alone.
double billing(const Settings& settings, std::uint32_t partition, const Tres& tres) {
    const PriorityParameters& parameters = settings.priority;
    if (partition >= parameters.billing_weights.size() ||
        parameters.billing_weights[partition].empty()) {
        return tres[tres_cpu];
    }
    const std::vector<double>& weights = parameters.billing_weights[partition];
    const std::size_t first_license = first_gres_tres + settings.gres_kinds.size();
    double sum = 0;
    double dearest = 0;
    for (std::size_t k = 0; k < std::min(weights.size(), tres.size()); ++k) {
        const double amount = k == tres_billing ? 0.0 : weights[k] * tres[k];
        const bool is_of_nodes = k < first_license && k != tres_node;
        dearest = is_of_nodes ? std::max(dearest, amount) : dearest;
        sum += parameters.max_tres && is_of_nodes ? 0.0 : amount;
    }
    return parameters.max_tres ? sum + dearest : sum;
}

} // namespace

std::uint32_t requested_cpus(const Request& request) {
    const std::uint32_t tasks =
        request.tasks > 0 ? request.tasks
                          : std::max(1U, request.min_nodes) * std::max(1U, request.tasks_per_node);
    return std::max({request.min_cpus, tasks * std::max(1U, request.cpus_per_task),
                     std::max(1U, request.min_nodes)});
}

Tres requested_tres(const Settings& settings, const Request& request, std::uint32_t partition) {
    Tres tres(n_tres(settings), 0.0);
    tres[tres_cpu] = requested_cpus(request);
    tres[tres_node] = std::max(1U, request.min_nodes);
    tres[tres_memory] =
        requested_memory(request, settings.partitions[partition], tres[tres_node], tres[tres_cpu]);
    for (const GresRequest& gres : request.gres) {
        const double amount = gres.per_job + gres.per_node * tres[tres_node] +
                              gres.per_task * static_cast<double>(std::max(1U, request.tasks));
        add_gres(tres, settings, gres.kind, amount);
    }
    add_licenses(tres, settings, request);
    tres[tres_billing] = billing(settings, partition, tres);
    return tres;
}

Tres held_tres(const Settings& settings, const Request& request, std::uint32_t partition,
               const Choice& choice) {
    Tres tres = requested_tres(settings, request, partition);
    tres[tres_cpu] = choice.cpus;
    tres[tres_node] = choice.nodes.count();
    if (choice.shares.nodes.empty()) { // whole nodes: memory as it was asked for
        tres[tres_memory] = requested_memory(request, settings.partitions[partition],
                                             tres[tres_node], tres[tres_cpu]);
    } else {
        tres[tres_memory] = 0;
        for (const Holding& holding : choice.shares.nodes) {
            tres[tres_memory] += static_cast<double>(holding.memory_mb);
        }
    }
    if (!choice.shares.gres.empty()) {
        std::fill_n(tres.begin() + first_gres_tres, settings.gres_kinds.size(), 0.0);
        for (std::size_t k = 0; k < choice.shares.gres.size(); ++k) {
            add_gres(tres, settings, static_cast<std::uint32_t>(k % settings.gres_kinds.size()),
                     choice.shares.gres[k]);
        }
    }
    tres[tres_billing] = billing(settings, partition, tres);
    return tres;
}

Tres total_tres(const Settings& settings, const Partition& partition) {
    Tres tres(n_tres(settings), 0.0);
    partition.nodes.for_each([&](NodeIndex i) {
        const Node& node = settings.nodes[i];
        tres[tres_cpu] += node.cpus;
        tres[tres_memory] += static_cast<double>(node.memory_mb);
        tres[tres_node] += 1;
        for (std::size_t k = 0; k < std::min(node.gres.size(), settings.gres_kinds.size()); ++k) {
            tres[first_gres_tres + k] += node.gres[k];
        }
    });
    for (std::size_t k = 0; k < settings.licenses.size(); ++k) {
        tres[first_gres_tres + settings.gres_kinds.size() + k] = settings.licenses[k].total;
    }
    tres[tres_billing] = tres[tres_cpu];
    return tres;
}

} // namespace noctule::slurm
