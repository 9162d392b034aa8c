#include "protocol/plain_reply.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

namespace noctule {

namespace {

// The words of a protocol for the usual events.
struct ReplyWords {
    std::string_view kind;    // the field with the type of an event
    std::string_view data;    // and the one with its content
    std::string_view execute; // types of events
    std::string_view reject;
    std::string_view call;   // nothing if none is usual
    std::string_view hosts;  // of a job that is executed
    std::string_view nested; // the object in which they are, or nothing
    // what stands around the date, the id and the hosts, where they are told in this order without
    // blanks
    std::string_view before_id;
    std::string_view before_hosts;
    std::string_view behind_hosts;
};

constexpr ReplyWords batsim4_words{.kind = "type",
                                   .data = "data",
                                   .execute = "EXECUTE_JOB",
                                   .reject = "REJECT_JOB",
                                   .call = "CALL_ME_LATER",
                                   .hosts = "alloc",
                                   .nested = "",
                                   .before_id = R"(,"type":"EXECUTE_JOB","data":{"job_id":")",
                                   .before_hosts = R"(","alloc":")",
                                   .behind_hosts = R"("}})"};
constexpr ReplyWords batsim5_words{.kind = "event_type",
                                   .data = "event",
                                   .execute = "ExecuteJobEvent",
                                   .reject = "RejectJobEvent",
                                   .call = "",
                                   .hosts = "host_allocation",
                                   .nested = "allocation",
                                   .before_id =
                                       R"(,"event_type":"ExecuteJobEvent","event":{"job_id":")",
                                   .before_hosts = R"(","allocation":{"host_allocation":")",
                                   .behind_hosts = R"("}}})"};

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
        if (at_ == end_ || *at_ != what) {
            skip_blanks();
            if (at_ == end_ || *at_ != what) {
                return false;
            }
        }
        ++at_;
        return true;
    }

    // These very letters.
    bool take_letters(std::string_view letters) {
        if (static_cast<std::size_t>(end_ - at_) < letters.size() ||
            std::memcmp(at_, letters.data(), letters.size()) != 0) {
            return false;
        }
        at_ += letters.size();
        return true;
    }

    const char* position() const { return at_; }
    void go_back(const char* position) { at_ = position; }

    // One word in quotes.
    bool take_word(std::string_view word) {
        skip_blanks();
        const std::size_t n = word.size() + 2;
        if (static_cast<std::size_t>(end_ - at_) < n || *at_ != '"' || at_[n - 1] != '"' ||
            std::memcmp(at_ + 1, word.data(), word.size()) != 0) {
            return false;
        }
        at_ += n;
        return true;
    }

    // A field of an object, up to its value.
    bool take_field(std::string_view name) {
        const char* const before = at_;
        if (take_word(name) && take(':')) {
            return true;
        }
        at_ = before;
        return false;
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
        found = letters();
        return at_ != end_ && *at_++ == '"';
    }

    // Printable ASCII up to what is none, a quotation mark or an escape.
    std::string_view letters() {
        const char* const first = at_;
        while (at_ != end_ && is_usual[static_cast<unsigned char>(*at_)]) {
            ++at_;
        }
        return {first, static_cast<std::size_t>(at_ - first)};
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

    // These letters of a number, if it has no others.
    bool take_number(std::string_view letters) {
        const char* const before = at_;
        if (!letters.empty() && take_letters(letters) && at_ != end_ &&
            (*at_ == ',' || *at_ == '}')) {
            return true;
        }
        at_ = before;
        return false;
    }

    // Takes the fields of an object one by one by `field`.
    template <typename Field> bool object(Field&& field) { return list('{', '}', field); }
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

template <const ReplyWords& words> class Reader {
  public:
    Reader(std::string_view text, PlainReply& reply, const WrittenDate& now)
        : scanner_(text), reply_(reply), now_(now) {}

    bool read() {
        const char* const before = scanner_.position();
        if (usual_reply()) {
            return true;
        }
        scanner_.go_back(before);
        reply_.events.clear();
        return any_reply();
    }

  private:
    struct Content {
        Field<std::string_view> job_id = {};
        Field<std::string_view> hosts = {};
        Field<double> timestamp = {};
        bool has_nested = false;
    };

    // One whose fields come in this order and without blanks.
    bool usual_reply() {
        if (!scanner_.take_letters(R"({"now":)") || !number(reply_.now) ||
            !scanner_.take_letters(R"(,"events":)")) {
            return false;
        }
        return scanner_.array([&] { return event(); }) && scanner_.take('}') && scanner_.at_end();
    }

    bool any_reply() {
        Field<double> now;
        bool has_events = false;
        const bool found = scanner_.object([&] {
            if (scanner_.take_field("now")) {
                return number(now);
            }
            if (has_events || !scanner_.take_field("events")) {
                return false;
            }
            has_events = true;
            return scanner_.array([&] { return event(); });
        });
        reply_.now = now.value_or(0.0);
        return found && now && has_events && scanner_.at_end();
    }

    bool number(double& found) {
        if (scanner_.take_number(now_.text)) {
            found = now_.date;
            return true;
        }
        return scanner_.number(found);
    }
    bool number(Field<double>& found) { return !found && number(found.emplace()); }
    bool text(Field<std::string_view>& found) { return !found && scanner_.text(found.emplace()); }

    bool event() {
        const char* const before = scanner_.position();
        if (execution()) {
            return true;
        }
        scanner_.go_back(before);
        return any_event();
    }

    // A job to execute, told as most schedulers do; all others are read by any_event().
    bool execution() {
        double timestamp = 0.0;
        if (!scanner_.take_letters(R"({"timestamp":)") || !number(timestamp) ||
            !scanner_.take_letters(words.before_id)) {
            return false;
        }
        const std::string_view job_id = scanner_.letters();
        if (!scanner_.take_letters(words.before_hosts)) {
            return false;
        }
        const std::string_view hosts = scanner_.letters();
        if (!scanner_.take_letters(words.behind_hosts)) {
            return false;
        }
        reply_.events.push_back({PlainEvent::Kind::execute, timestamp, job_id, hosts, 0.0});
        return true;
    }

    bool any_event() {
        Field<double> timestamp;
        Field<PlainEvent::Kind> kind;
        Field<Content> content;
        const bool found = scanner_.object([&] {
            if (scanner_.take_field("timestamp")) {
                return number(timestamp);
            }
            if (scanner_.take_field(words.kind)) {
                return !kind && read_kind(kind);
            }
            return !content && scanner_.take_field(words.data) && read_content(content.emplace());
        });
        return found && timestamp && kind && content && keep(*timestamp, *kind, *content);
    }

    bool read_kind(Field<PlainEvent::Kind>& kind) {
        using Kind = PlainEvent::Kind;
        if (scanner_.take_word(words.execute)) {
            kind = Kind::execute;
        } else if (scanner_.take_word(words.reject)) {
            kind = Kind::reject;
        } else if (!words.call.empty() && scanner_.take_word(words.call)) {
            kind = Kind::call;
        }
        return kind.has_value();
    }

    bool read_content(Content& content) {
        return scanner_.object([&] {
            if (scanner_.take_field("job_id")) {
                return text(content.job_id);
            }
            if (words.nested.empty() && scanner_.take_field(words.hosts)) {
                return text(content.hosts);
            }
            if (scanner_.take_field("timestamp")) {
                return number(content.timestamp);
            }
            if (words.nested.empty() || content.has_nested || !scanner_.take_field(words.nested)) {
                return false;
            }
            content.has_nested = true;
            return scanner_.object(
                [&] { return scanner_.take_field(words.hosts) && text(content.hosts); });
        });
    }

    bool keep(double timestamp, PlainEvent::Kind kind, const Content& content) {
        const bool is_execute = kind == PlainEvent::Kind::execute;
        const bool is_call = kind == PlainEvent::Kind::call;
        if (content.job_id.has_value() == is_call || content.timestamp.has_value() != is_call ||
            content.hosts.has_value() != is_execute || (content.has_nested && !is_execute)) {
            return false;
        }
        reply_.events.push_back({kind, timestamp, content.job_id.value_or(std::string_view()),
                                 content.hosts.value_or(std::string_view()),
                                 content.timestamp.value_or(0.0)});
        return true;
    }

    Scanner scanner_;
    PlainReply& reply_;
    const WrittenDate& now_;
};

} // namespace

bool read_batsim4_reply(std::string_view text, PlainReply& reply, const WrittenDate& now) {
    reply.events.clear();
    return Reader<batsim4_words>(text, reply, now).read();
}

bool read_batsim5_reply(std::string_view text, PlainReply& reply, const WrittenDate& now) {
    reply.events.clear();
    return Reader<batsim5_words>(text, reply, now).read();
}

} // namespace noctule
