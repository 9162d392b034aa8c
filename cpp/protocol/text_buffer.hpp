// A text that is written piece by piece, over and over again in the same memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

namespace noctule {

class TextBuffer {
  public:
    void clear() { size_ = 0; }
    std::size_t size() const { return size_; }
    std::string_view view() const { return {letters_.data(), size_}; }

    // The text with a NUL behind it, which its size does not count.
    const char* c_str() {
        *room(1) = '\0';
        return letters_.data();
    }

    // Where at least so many letters can be written; `end_at` then says how many were.
    char* room(std::size_t n) {
        if (letters_.size() - size_ < n) {
            letters_.resize(2 * letters_.size() + n);
        }
        return letters_.data() + size_;
    }
    void end_at(const char* end) { size_ = static_cast<std::size_t>(end - letters_.data()); }

    TextBuffer& operator+=(std::string_view piece) {
        std::memcpy(room(piece.size()), piece.data(), piece.size());
        size_ += piece.size();
        return *this;
    }
    TextBuffer& operator+=(char letter) {
        *room(1) = letter;
        ++size_;
        return *this;
    }

  private:
    std::vector<char> letters_ = std::vector<char>(1024);
    std::size_t size_ = 0;
};

} // namespace noctule
