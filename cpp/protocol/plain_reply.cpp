#include "protocol/plain_reply.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

namespace noctule {

namespace {

// Beyond this, no digits are added to a number.
constexpr std::uint64_t most_digits = 1'000'000'000'000'000'000;

// Letters of texts that mean themselves.
constexpr std::array<bool, 256> is_usual = [] {
    std::array<bool, 256> letters{};
    for (std::size_t letter = 0x20; letter < 0x7f; ++letter) {
        letters[letter] = letter != '"' && letter != '\\';
    }
    return letters;
}();

// Takes JSON apart; each function says whether it found what it looks for.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

    bool take(char what) {
        skip_blanks();
        if (at_ == end_ || *at_ != what) {
            return false;
        }
        ++at_;
        return true;
    }

    bool at_end() {
        skip_blanks();
        return at_ == end_;
    }

    // A text of printable ASCII without escapes.
    bool text(std::string_view& found) {
        if (!take('"')) {
            return false;
        }
        const char* const first = at_;
        while (at_ != end_ && is_usual[static_cast<unsigned char>(*at_)]) {
            ++at_;
        }
        found = {first, static_cast<std::size_t>(at_ - first)};
        return at_ != end_ && *at_++ == '"';
    }

    // A number that is not negative.
    bool number(double& found) {
        skip_blanks();
        const char* const first = at_;
        std::uint64_t whole = 0;
        const std::size_t n_whole = digits(&whole);
        if (n_whole == 0 || (n_whole > 1 && *first == '0')) {
            return false;
        }
        std::uint64_t fraction = 0;
        if (at_ != end_ && *at_ == '.') {
            ++at_;
            if (digits(&fraction) == 0) {
                return false;
            }
        }
        if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
            ++at_;
            at_ += at_ != end_ && (*at_ == '+' || *at_ == '-') ? 1 : 0;
            if (digits() == 0) {
                return false;
            }
        } else if (fraction == 0 && n_whole <= 15) {
            found = static_cast<double>(whole);
            return true;
        }
        return std::from_chars(first, at_, found).ec == std::errc{};
    }

    // Calls `field(name)` for each field of an object, to take its value.
    template <typename Field> bool object(Field&& field) {
        return list('{', '}', [&] {
            std::string_view name;
            return text(name) && take(':') && field(name);
        });
    }

    template <typename Item> bool array(Item&& item) { return list('[', ']', item); }

  private:
    template <typename Item> bool list(char open, char close, Item&& item) {
        if (!take(open)) {
            return false;
        }
        if (take(close)) {
            return true;
        }
        do {
            if (!item()) {
                return false;
            }
        } while (take(','));
        return take(close);
    }

    void skip_blanks() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) {
            ++at_;
        }
    }

    // How many digits there are, and what they mean, unless that is too much.
    std::size_t digits(std::uint64_t* value = nullptr) {
        const char* const first = at_;
        for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
            if (value != nullptr) {
                const auto digit = static_cast<std::uint64_t>(*at_ - '0');
                *value = *value < most_digits ? 10 * *value + digit : most_digits;
            }
        }
        return static_cast<std::size_t>(at_ - first);
    }

    const char* at_;
    const char* end_;
};

// A field that is there at most once.
template <typename Value> using Field = std::optional<Value>;

class Reader {
  public:
    Reader(std::string_view text, const ReplyWords& words, PlainReply& reply)
        : scanner_(text), words_(words), reply_(reply) {}

    bool read() {
        Field<double> now;
        bool has_events = false;
        const bool found = scanner_.object([&](std::string_view name) {
            if (name == "now") {
                return number(now);
            }
            if (name != "events" || has_events) {
                return false;
            }
            has_events = true;
            return scanner_.array([&] { return event(); });
        });
        if (!found || !now || !has_events || !scanner_.at_end()) {
            return false;
        }
        reply_.now = *now;
        return true;
    }

  private:
    struct Content {
        Field<std::string_view> job_id = {};
        Field<std::string_view> hosts = {};
        Field<double> timestamp = {};
        bool has_nested = false;
    };

    bool number(Field<double>& found) { return !found && scanner_.number(found.emplace()); }
    bool text(Field<std::string_view>& found) { return !found && scanner_.text(found.emplace()); }

    bool event() {
        Field<double> timestamp;
        Field<std::string_view> kind;
        Field<Content> content;
        const bool found = scanner_.object([&](std::string_view name) {
            if (name == "timestamp") {
                return number(timestamp);
            }
            if (name == words_.kind) {
                return text(kind);
            }
            return name == words_.data && !content && read_content(content.emplace());
        });
        return found && timestamp && kind && content && keep(*timestamp, *kind, *content);
    }

    bool read_content(Content& content) {
        return scanner_.object([&](std::string_view name) {
            if (name == "job_id") {
                return text(content.job_id);
            }
            if (name == "timestamp") {
                return number(content.timestamp);
            }
            if (words_.nested.empty()) {
                return name == words_.hosts && text(content.hosts);
            }
            if (name != words_.nested || content.has_nested) {
                return false;
            }
            content.has_nested = true;
            return scanner_.object([&](std::string_view inner) {
                return inner == words_.hosts && text(content.hosts);
            });
        });
    }

    bool keep(double timestamp, std::string_view kind, const Content& content) {
        const bool is_execute = kind == words_.execute;
        const bool is_call = !words_.call.empty() && kind == words_.call;
        if (!is_execute && !is_call && kind != words_.reject) {
            return false;
        }
        if (content.job_id.has_value() == is_call || content.timestamp.has_value() != is_call ||
            content.hosts.has_value() != is_execute || (content.has_nested && !is_execute)) {
            return false;
        }
        using Kind = PlainEvent::Kind;
        const Kind what = is_call ? Kind::call : is_execute ? Kind::execute : Kind::reject;
        reply_.events.push_back({what, timestamp, content.job_id.value_or(std::string_view()),
                                 content.hosts.value_or(std::string_view()),
                                 content.timestamp.value_or(0.0)});
        return true;
    }

    Scanner scanner_;
    const ReplyWords& words_;
    PlainReply& reply_;
};

} // namespace

bool read_plain_reply(std::string_view text, const ReplyWords& words, PlainReply& reply) {
    reply.events.clear();
    return Reader(text, words, reply).read();
}

} // namespace noctule
