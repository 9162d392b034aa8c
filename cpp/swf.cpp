#include "swf.hpp"

#include "errors.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <system_error>

namespace noctule {
namespace {

constexpr std::size_t n_fields = swf_fields.size();

// 10^15 < 2^53: an integer of so many digits is exact in a double.
constexpr std::ptrdiff_t max_exact_digits = 15;

// Tabs, and '\r', so that lines may end in CRLF; '\n' never gets here.
constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string at_line(std::uint32_t line) { return "line " + std::to_string(line) + ": "; }

// A field as a message can show it: short, and only what prints.
std::string quoted(std::string_view field) {
    constexpr std::size_t longest = 40;
    std::string shown = "'";
    for (const char c : field.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(c);
        shown += byte < 0x80 ? c : '?';
    }
    shown += field.size() > longest ? "...'" : "'";
    return shown;
}

[[noreturn]] void refuse_field(std::uint32_t line, std::size_t field, std::string_view found) {
    if (std::any_of(found.begin(), found.end(), is_control)) {
        throw InputError(at_line(line) + "not a text file: got a control character, expected 18 "
                                         "numbers");
    }
    throw InputError(at_line(line) + "field " + std::to_string(field + 1) + " (" +
                     std::string(swf_fields[field]) + "): got " + quoted(found) +
                     ", expected a number");
}

[[noreturn]] void refuse_count(std::uint32_t line, std::size_t count) {
    throw InputError(at_line(line) + "got " + std::to_string(count) +
                     (count == 1 ? " field" : " fields") + ", expected " +
                     std::to_string(n_fields));
}

// Decimals and exponents; false where the field is not one finite number.
bool parse_real(const char* first, const char* last, double& value) {
    if (*first == '+' && last - first > 1 && first[1] != '-') {
        ++first;
    }
    const auto [end, error] = std::from_chars(first, last, value);
    return error == std::errc{} && end == last && std::isfinite(value);
}

const char* skip_blanks(const char* at, const char* end) {
    while (at != end && is_blank(*at)) {
        ++at;
    }
    return at;
}

const char* skip_field(const char* at, const char* end) {
    while (at != end && !is_blank(*at)) {
        ++at;
    }
    return at;
}

// Reads the field that begins at `at` into `value` and returns its end, or nullptr where it is not
// a number. Nearly all fields of a log are short integers, which need no general conversion.
const char* parse_field(const char* const at, const char* const end, double& value) {
    const bool negative = *at == '-';
    const char* const digits = at + (negative ? 1 : 0);
    const char* digit = digits;
    std::uint64_t whole = 0;
    for (; digit != end && *digit >= '0' && *digit <= '9'; ++digit) {
        whole = 10 * whole + static_cast<std::uint64_t>(*digit - '0');
    }
    const bool exact = digit != digits && digit - digits <= max_exact_digits;
    if (exact && (digit == end || is_blank(*digit))) {
        const auto number = static_cast<double>(static_cast<std::int64_t>(whole));
        value = negative ? -number : number;
        return digit;
    }
    const char* const stop = skip_field(at, end);
    return parse_real(at, stop, value) ? stop : nullptr;
}

std::size_t count_fields(const char* at, const char* end) {
    std::size_t count = 0;
    for (at = skip_blanks(at, end); at != end; at = skip_blanks(at, end)) {
        at = skip_field(at, end);
        ++count;
    }
    return count;
}

void parse_row(const char* const first, const char* const end, std::uint32_t line,
               std::array<double, n_fields>& row) {
    const char* at = first;
    for (std::size_t field = 0; field < n_fields; ++field) {
        at = skip_blanks(at, end);
        if (at == end) {
            refuse_count(line, field);
        }
        const char* const stop = parse_field(at, end, row[field]);
        if (stop == nullptr) {
            refuse_field(line, field, {at, skip_field(at, end)});
        }
        at = stop;
    }
    if (skip_blanks(at, end) != end) {
        refuse_count(line, count_fields(first, end));
    }
}

void refuse_binary(std::string_view text) {
    const std::size_t at = text.find('\0');
    if (at != std::string_view::npos) {
        const auto before =
            std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        throw InputError(at_line(static_cast<std::uint32_t>(before + 1)) +
                         "not a text file: got a NUL byte, expected 18 numbers");
    }
}

} // namespace

SwfTable parse_swf(std::string_view text) {
    refuse_binary(text);
    SwfTable table;
    // A row takes 36 bytes at least: a file of blank lines must not reserve a row for each.
    const auto n_lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    const std::size_t n_rows = std::min(n_lines, text.size() / (2 * n_fields) + 1);
    table.cells.reserve(n_rows * n_fields);
    table.lines.reserve(n_rows);

    std::array<double, n_fields> row{};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (std::uint32_t line = 1; at != end; ++line) {
        const auto* newline =
            static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
        const char* const stop = newline == nullptr ? end : newline;
        const char* const first = skip_blanks(at, stop);
        if (first != stop && *first != ';') {
            parse_row(first, stop, line, row);
            table.cells.insert(table.cells.end(), row.begin(), row.end());
            table.lines.push_back(line);
        }
        at = newline == nullptr ? end : newline + 1;
    }
    table.n_rows = table.lines.size();
    return table;
}

} // namespace noctule
