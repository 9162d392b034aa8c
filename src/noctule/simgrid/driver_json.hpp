// Just enough to write JSON.
#pragma once

#include <charconv>
#include <string>
#include <utility>
#include <vector>

inline std::string number(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    return {text, end};
}

inline std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else {
            out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return out + "\"";
}

using Fields = std::vector<std::pair<std::string, std::string>>;

inline std::string object(const Fields& fields) {
    std::string out = "{";
    for (const auto& [key, value] : fields) {
        out += (out.size() > 1 ? ", " : "") + quoted(key) + ": " + value;
    }
    return out + "}";
}

inline std::string array(const std::vector<std::string>& items) {
    std::string out = "[";
    for (const auto& item : items) {
        out += (out.size() > 1 ? ", " : "") + item;
    }
    return out + "]";
}
