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
// Letters that a whole number takes, a shortest one, and one with six decimals.
constexpr std::size_t whole_room = 20;
constexpr std::size_t shortest_room = 32;
constexpr std::size_t decimals_room = 400;

char* put(char* at, std::string_view piece) {
    std::memcpy(at, piece.data(), piece.size());
    return at + piece.size();
}

char* put_zeros(char* at, std::size_t n) {
    std::memset(at, '0', n);
    return at + n;
}

// The digits of a number with an exponent of ten that is small enough to be done without.
char* put_digits(char* at, std::string_view digits, int exponent) {
    if (exponent < 0) {
        at = put_zeros(put(at, "0."), static_cast<std::size_t>(-exponent - 1));
        return put(at, digits);
    }
    const auto n_whole = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() <= n_whole) {
        at = put_zeros(put(at, digits), n_whole - digits.size());
        return put(at, ".0");
    }
    at = put(put(at, digits.substr(0, n_whole)), ".");
    return put(at, digits.substr(n_whole));
}

} // namespace

void append_shortest(TextBuffer& text, double number) {
    char* const at = text.room(shortest_room);
    const bool may_be_whole = std::abs(number) < most_whole && number != 0.0;
    const auto whole = may_be_whole ? static_cast<std::int64_t>(number) : 0;
    if (may_be_whole && static_cast<double>(whole) == number) {
        text.end_at(put(std::to_chars(at, at + whole_room, whole).ptr, ".0"));
        return;
    }
    // a digit, the others behind a point, and an exponent of ten, as in Python if it is large
    std::array<char, shortest_room> room;
    char* const end =
        std::to_chars(room.data(), room.data() + room.size(), number, std::chars_format::scientific)
            .ptr;
    const bool has_sign = room[0] == '-';
    std::string_view rest(room.data() + has_sign, end);
    const std::size_t mark = rest.find('e');
    const bool is_small = rest[mark + 1] == '-';
    int exponent = 0;
    std::from_chars(rest.data() + mark + 2, end, exponent);
    exponent = is_small ? -exponent : exponent;
    if (exponent < -4 || exponent >= 16) {
        text += {room.data(), end};
        return;
    }
    std::array<char, shortest_room> digits;
    digits[0] = rest.front();
    const std::size_t n_behind = mark > 1 ? mark - 2 : 0;
    std::memcpy(digits.data() + 1, rest.data() + 2, n_behind);
    text.end_at(put_digits(put(at, has_sign ? "-" : ""), {digits.data(), 1 + n_behind}, exponent));
}

void append_six_decimals(TextBuffer& text, double number) {
    char* const at = text.room(decimals_room);
    text.end_at(std::to_chars(at, at + decimals_room, number, std::chars_format::fixed, 6).ptr);
}

void append_whole(TextBuffer& text, std::int64_t number) {
    char* const at = text.room(whole_room);
    text.end_at(std::to_chars(at, at + whole_room, number).ptr);
}

} // namespace noctule
