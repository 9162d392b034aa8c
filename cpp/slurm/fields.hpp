// The fields of settings and requests by their names, as numbers: how they come from outside.
#pragma once

#include "slurm/clocks.hpp"
#include "slurm/requests.hpp"

#include <string_view>

namespace noctule::slurm {

// Each throws InputError if there is no such field.
void set_field(Node& node, std::string_view name, double value);
void set_field(Partition& partition, std::string_view name, double value);
void set_field(Parameters& parameters, std::string_view name, double value);
void set_field(Request& request, std::string_view name, std::int64_t value);
void set_field(Drive& drive, std::string_view name, double value);

} // namespace noctule::slurm
