#include "protocol/number_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace noctule {

namespace {

// Below this, whole numbers are exact, and written without an exponent.
constexpr double most_whole = 1e15;

template <typename... Format>
std::string_view written(std::array<char, 400>& room, double number, Format... format) {
    const auto end = std::to_chars(room.data(), room.data() + room.size(), number, format...).ptr;
    return {room.data(), end};
}

} // namespace

void append_shortest(std::string& text, double number) {
    std::array<char, 400> room;
    const bool may_be_whole = std::abs(number) < most_whole && number != 0.0;
    const auto whole = may_be_whole ? static_cast<std::int64_t>(number) : 0;
    if (may_be_whole && static_cast<double>(whole) == number) {
        text.append(room.data(), std::to_chars(room.data(), room.data() + room.size(), whole).ptr);
        text += ".0";
        return;
    }
    // digits and an exponent of ten, from which the usual form is made
    std::string_view rest = written(room, number, std::chars_format::scientific);
    if (rest.front() == '-') {
        text += '-';
        rest.remove_prefix(1);
    }
    const std::size_t at = rest.find('e');
    int exponent = 0;
    const bool has_minus = rest[at + 1] == '-';
    std::from_chars(rest.data() + at + 2, rest.data() + rest.size(), exponent);
    exponent = has_minus ? -exponent : exponent;
    if (exponent < -4 || exponent >= 16) {
        text += rest; // of which the exponent has a sign and two digits, as in Python
        return;
    }
    std::string digits(1, rest.front());
    digits += at > 1 ? rest.substr(2, at - 2) : std::string_view();
    if (exponent < 0) {
        text += "0.";
        text.append(static_cast<std::size_t>(-exponent - 1), '0');
        text += digits;
        return;
    }
    const auto n_whole = static_cast<std::size_t>(exponent) + 1;
    digits.append(digits.size() < n_whole + 1 ? n_whole + 1 - digits.size() : 0, '0');
    text.append(digits, 0, n_whole);
    text += '.';
    text.append(digits, n_whole);
}

void append_six_decimals(std::string& text, double number) {
    std::array<char, 400> room;
    text += written(room, number, std::chars_format::fixed, 6);
}

} // namespace noctule
