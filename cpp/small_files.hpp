// Many small files in one call, so that other threads go on meanwhile.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace noctule {

struct SmallFile {
    std::string path;
    std::string_view content;
};

// Writes files and the folders around them; what is there is replaced. Returns the position of the
// first that could not be written and the number of the error; the number is 0 if all could.
std::pair<std::size_t, int> write_small_files(const std::vector<SmallFile>& files);

// The contents of files; nothing where one cannot be read.
std::vector<std::optional<std::string>> read_small_files(const std::vector<std::string>& paths);

} // namespace noctule
