// Reads the text of a log in the Standard Workload Format into one table of numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace noctule {

// The names of the fields, in their order, as error messages say them.
inline constexpr std::array<std::string_view, 18> swf_fields{"job number",
                                                             "submit time",
                                                             "wait time",
                                                             "run time",
                                                             "allocated processors",
                                                             "average CPU time",
                                                             "used memory",
                                                             "requested processors",
                                                             "requested time",
                                                             "requested memory",
                                                             "status",
                                                             "user",
                                                             "group",
                                                             "executable",
                                                             "queue",
                                                             "partition",
                                                             "preceding job",
                                                             "think time"};

struct SwfTable {
    std::vector<double> cells;        // row-major, one row of 18 finite numbers a job line
    std::vector<std::uint32_t> lines; // the line of the text (from 1) that each row came from
    std::size_t n_rows = 0;
};

// Blank lines and header comments (first visible character ';') are skipped; every other line must
// hold 18 numbers. Throws InputError with the line, the field, what was found and what was
// expected.
SwfTable parse_swf(std::string_view text);

} // namespace noctule
