#include "small_files.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace noctule {

namespace {

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int operator*() const { return number_; }

  private:
    int number_;
};

int open_to_write(const std::string& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

// Returns the number of an error, or 0.
int written(const SmallFile& file) {
    int number = open_to_write(file.path);
    if (number < 0 && errno == ENOENT) {
        const std::string folder = file.path.substr(0, file.path.rfind('/'));
        std::error_code code;
        if (::mkdir(folder.c_str(), 0777) != 0) {
            std::filesystem::create_directories(folder, code);
        }
        if (code) {
            return code.value();
        }
        number = open_to_write(file.path);
    }
    const Descriptor descriptor(number);
    if (*descriptor < 0) {
        return errno;
    }
    std::string_view rest = file.content;
    while (!rest.empty()) {
        const ssize_t n = ::write(*descriptor, rest.data(), rest.size());
        if (n < 0 && errno != EINTR) {
            return errno;
        }
        rest.remove_prefix(n < 0 ? 0 : static_cast<std::size_t>(n));
    }
    return 0;
}

std::optional<std::string> content_of(const std::string& path) {
    const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (*descriptor < 0) {
        return std::nullopt;
    }
    std::string content;
    char piece[8192];
    while (true) {
        const ssize_t n = ::read(*descriptor, piece, sizeof piece);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return std::nullopt;
        }
        if (n == 0) {
            return content;
        }
        content.append(piece, static_cast<std::size_t>(n));
    }
}

} // namespace

std::pair<std::size_t, int> write_small_files(const std::vector<SmallFile>& files) {
    for (std::size_t i = 0; i < files.size(); ++i) {
        const int error = written(files[i]);
        if (error != 0) {
            return {i, error};
        }
    }
    return {files.size(), 0};
}

std::vector<std::optional<std::string>> read_small_files(const std::vector<std::string>& paths) {
    std::vector<std::optional<std::string>> contents;
    contents.reserve(paths.size());
    for (const std::string& path : paths) {
        contents.push_back(content_of(path));
    }
    return contents;
}

} // namespace noctule
