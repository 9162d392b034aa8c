#include "mpi/trace.hpp"

#include "errors.hpp"
#include "mpi/forms.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

namespace noctule::mpi {
namespace {

constexpr double largest_count = 9007199254740992.0; // 2^53: beyond, doubles miss integers

constexpr double double_size = 8.0;
constexpr double byte_size = 1.0;

constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A word as a message can show it: short, and only what prints.
std::string quoted(std::string_view word) {
    constexpr std::size_t longest = 40;
    std::string shown = "'";
    for (const char c : word.substr(0, longest)) {
        shown += c >= 0x20 && c < 0x7f ? c : '?';
    }
    return shown + (word.size() > longest ? "...'" : "'");
}

void split(std::string_view line, std::vector<std::string_view>& words) {
    words.clear();
    std::size_t at = 0;
    while (at < line.size()) {
        while (at < line.size() && is_blank(line[at])) {
            ++at;
        }
        const std::size_t begin = at;
        while (at < line.size() && !is_blank(line[at])) {
            ++at;
        }
        if (at > begin) {
            words.push_back(line.substr(begin, at - begin));
        }
    }
}

// Calls `use(number, line)` for each line that holds something, with numbers from 1.
template <typename Use> void for_each_line(std::string_view text, const Use& use) {
    std::uint32_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        while (!line.empty() && is_blank(line.front())) {
            line.remove_prefix(1);
        }
        if (!line.empty() && line.front() != '#') {
            use(number, line);
        }
    }
}

template <typename Number> std::optional<Number> parse_number(std::string_view word) {
    Number value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) {
        return std::nullopt;
    }
    return value;
}

} // namespace

std::string Trace::place(Rank rank, const Action& action) const {
    return source(rank) + ":" + std::to_string(action.line);
}

class TraceReader {
  public:
    explicit TraceReader(std::vector<std::string> sources) { trace_.sources_ = std::move(sources); }

    Trace read(const std::vector<std::string_view>& texts) {
        for (std::size_t i = 0; i < texts.size(); ++i) {
            refuse_binary(texts[i], trace_.sources_[i]);
        }
        shared_ = texts.size() == 1 && count_ranks(texts.front());
        if (!shared_) {
            n_ranks_ = static_cast<Rank>(texts.size());
        }
        trace_.actions_.resize(n_ranks_);
        type_sizes_.assign(n_ranks_, byte_size);
        has_posted_.assign(n_ranks_, false);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            read_text(texts[i], static_cast<Rank>(i));
        }
        for (std::vector<Action>& actions : trace_.actions_) {
            actions.shrink_to_fit();
            trace_.n_actions_ += actions.size();
        }
        trace_.counts_.shrink_to_fit();
        return std::move(trace_);
    }

  private:
    void refuse_binary(std::string_view text, const std::string& source) const {
        const std::size_t at = text.find('\0');
        if (at != std::string_view::npos) {
            const auto line =
                std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
            throw InputError(source + ":" + std::to_string(line + 1) +
                             ": not a text file: got a NUL byte, expected actions of ranks");
        }
    }

    // Whether the only text holds lines of several ranks. If so each of them must have one.
    bool count_ranks(std::string_view text) {
        std::vector<Rank> ranks;
        std::size_t n_lines = 0;
        for_each_line(text, [&](std::uint32_t, std::string_view line) {
            ++n_lines;
            const auto end = std::find_if(line.begin(), line.end(), is_blank);
            const auto rank = parse_number<Rank>({line.begin(), end});
            if (rank && (ranks.empty() || ranks.back() != *rank)) {
                ranks.push_back(*rank);
            }
        });
        std::sort(ranks.begin(), ranks.end());
        ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
        if (ranks.empty() || ranks.back() == 0) {
            return false;
        }
        for (Rank rank = 0; rank < ranks.size(); ++rank) {
            if (ranks[rank] != rank) {
                throw InputError(trace_.sources_.front() + ": got lines of rank " +
                                 std::to_string(ranks.back()) + " but none of rank " +
                                 std::to_string(rank) + ", expected lines of all ranks");
            }
        }
        n_ranks_ = static_cast<Rank>(ranks.size());
        return true;
    }

    void read_text(std::string_view text, Rank rank) {
        source_ = &trace_.sources_[rank];
        bool any_line = false;
        bool any_own = shared_;
        for_each_line(text, [&](std::uint32_t number, std::string_view line) {
            line_ = number;
            name_ = {};
            any_line = true;
            split(line, words_);
            arguments_ = words_;
            rank_ = rank;
            if (is_digit(words_.front().front())) {
                rank_ = line_rank();
                arguments_ = arguments_.subspan(1);
            } else if (shared_) {
                refuse(words_.front(), "a rank, as other lines of this text have one");
            }
            if (!shared_ && rank_ != rank) {
                return;
            }
            any_own = true;
            read_action();
        });
        if (any_line && !any_own) {
            throw InputError(*source_ + ": got no line of rank " + std::to_string(rank) +
                             ", expected its actions");
        }
    }

    Rank line_rank() const {
        const auto rank = parse_number<Rank>(words_.front());
        if (!rank || *rank >= n_ranks_) {
            refuse(words_.front(), "a rank from 0 to " + std::to_string(n_ranks_ - 1));
        }
        if (words_.size() == 1) {
            throw InputError(at_line() + "got only a rank, expected an action after it");
        }
        return *rank;
    }

    void read_action() {
        name_ = arguments_.front();
        arguments_ = arguments_.subspan(1);
        const Form* form = find_form(name_);
        if (form == nullptr) {
            refuse(name_, "one of " + form_names());
        }
        const std::size_t least = form->fixed + form->per_rank * n_ranks_;
        const std::size_t most = form->options == no_limit ? no_limit : least + form->options;
        if (arguments_.size() < least || arguments_.size() > most) {
            refuse_argument_count(least, most);
        }
        if (!form->kind) {
            if (name_ == "init") {
                type_sizes_[rank_] = arguments_.empty() ? byte_size : double_size;
            }
            return;
        }
        Action action;
        action.kind = *form->kind;
        action.line = line_;
        fill(action);
        has_posted_[rank_] = has_posted_[rank_] || action.kind == ActionKind::isend ||
                             action.kind == ActionKind::ireceive;
        trace_.actions_[rank_].push_back(action);
    }

    void fill(Action& action) {
        switch (action.kind) {
        case ActionKind::compute:
            action.amount = amount(0, "a number of flops");
            return;
        case ActionKind::sleep:
            action.amount = amount(0, "a number of seconds");
            return;
        case ActionKind::send:
        case ActionKind::isend:
        case ActionKind::receive:
        case ActionKind::ireceive:
        case ActionKind::send_receive:
        case ActionKind::wait:
        case ActionKind::test:
            fill_message(action);
            return;
        case ActionKind::wait_all:
        case ActionKind::barrier:
            return;
        case ActionKind::broadcast:
            action.peer = root(1);
            action.amount = count(0) * type(2);
            return;
        case ActionKind::reduce:
            action.peer = root(2);
            fill_reduction(action, type(3));
            return;
        case ActionKind::allreduce:
        case ActionKind::scan:
        case ActionKind::exscan:
            fill_reduction(action, type(2));
            return;
        case ActionKind::gather:
        case ActionKind::scatter:
            action.peer = root(2);
            fill_exchange(action, 3);
            return;
        case ActionKind::alltoall:
        case ActionKind::allgather:
            fill_exchange(action, 2);
            return;
        default:
            fill_with_counts(action);
            return;
        }
    }

    void fill_message(Action& action) {
        switch (action.kind) {
        case ActionKind::send_receive:
            action.amount = count(0) * type(4);
            action.peer = rank(1);
            action.second = capacity(2) * type(5, type(4));
            action.other = rank(3);
            return;
        case ActionKind::wait:
        case ActionKind::test:
            action.peer = rank(0);
            action.other = rank(1);
            action.tag = tag(2);
            if (action.peer != rank_ && action.other != rank_) {
                throw InputError(at_action() + "got a message from rank " +
                                 std::to_string(action.peer) + " to rank " +
                                 std::to_string(action.other) + ", expected one of rank " +
                                 std::to_string(rank_));
            }
            if (action.kind == ActionKind::wait && !has_posted_[rank_]) {
                throw InputError(at_action() +
                                 "got no isend or irecv before it, expected what it waits for");
            }
            return;
        case ActionKind::send:
        case ActionKind::isend:
            action.peer = rank(0);
            action.tag = tag(1);
            action.amount = count(2) * type(3);
            return;
        default:
            action.peer = rank(0);
            action.tag = tag(1);
            action.second = capacity(2) * type(3);
            trace_.has_any_tag_ = trace_.has_any_tag_ || action.tag == any_tag;
        }
    }

    void fill_reduction(Action& action, double size) {
        action.amount = count(0) * size;
        action.second = amount(1, "a number of flops");
    }

    void fill_exchange(Action& action, std::size_t first_type) {
        const double size = type(first_type);
        action.amount = count(0) * size;
        action.second = count(1) * type(first_type + 1, size);
    }

    void fill_with_counts(Action& action) {
        const std::size_t n = n_ranks_;
        action.first = new_counts();
        switch (action.kind) {
        case ActionKind::alltoallv:
            add_counts(1, type(2 * n + 2));
            add_counts(n + 2, type(2 * n + 3, type(2 * n + 2)));
            return;
        case ActionKind::gatherv:
            action.peer = root(n + 1);
            action.amount = count(0) * type(n + 2);
            add_counts(1, type(n + 3, type(n + 2)));
            return;
        case ActionKind::allgatherv:
            fill_allgatherv(action);
            return;
        case ActionKind::scatterv:
            action.peer = root(n + 1);
            action.second = count(n) * type(n + 3, type(n + 2));
            add_counts(0, type(n + 2));
            return;
        default: // reduce_scatter
            action.second = amount(n, "a number of flops");
            action.equal_counts = true;
            for (std::size_t i = 0; i < n; ++i) {
                action.amount += count(i);
                action.equal_counts = action.equal_counts && count(i) == count(0);
            }
            add_counts(0, type(n + 1));
            return;
        }
    }

    // Types, displacements, or types and displacements may follow.
    void fill_allgatherv(Action& action) {
        const std::size_t n = n_ranks_;
        const std::size_t n_more = arguments_.size() - n - 1;
        if (n_more > 2 && (n_more < n || n_more > n + 2)) {
            refuse_argument_count(n + 1, 2 * n + 3);
        }
        const std::size_t n_types = n_more <= 2 ? n_more : n_more - n;
        const double size = n_types >= 1 ? type(n + 1) : type_sizes_[rank_];
        action.amount = count(0) * size;
        add_counts(1, n_types == 2 ? type(n + 2) : size);
    }

    std::uint32_t new_counts() const {
        if (trace_.counts_.size() > std::numeric_limits<std::uint32_t>::max()) {
            throw InputError(at_line() + "got more than 2^32 counts, expected a smaller trace");
        }
        return static_cast<std::uint32_t>(trace_.counts_.size());
    }

    void add_counts(std::size_t first, double size) {
        for (std::size_t i = first; i < first + n_ranks_; ++i) {
            trace_.counts_.push_back(count(i) * size);
        }
    }

    // Arguments, each of which is checked. Those that may be missing have a default.

    double amount(std::size_t i, const char* expected) const {
        const auto value = parse_number<double>(arguments_[i]);
        if (!value || !std::isfinite(*value) || *value < 0.0) {
            refuse(arguments_[i], expected);
        }
        return *value;
    }

    // Traces write 1e6, and now and then a fraction, which is cut off.
    double count(std::size_t i) const {
        const double value = amount(i, "a number of elements");
        if (value > largest_count) {
            refuse(arguments_[i], "at most 2^53 elements");
        }
        return std::trunc(value);
    }

    // A negative count says that the receiver does not know what comes.
    double capacity(std::size_t i) const {
        const auto value = parse_number<double>(arguments_[i]);
        if (value && std::isfinite(*value) && *value < 0.0) {
            return std::numeric_limits<double>::infinity();
        }
        return count(i);
    }

    Rank rank(std::size_t i) const {
        const auto value = parse_number<Rank>(arguments_[i]);
        if (!value || *value >= n_ranks_) {
            refuse(arguments_[i], "a rank from 0 to " + std::to_string(n_ranks_ - 1));
        }
        return *value;
    }

    Rank root(std::size_t i) const { return i < arguments_.size() ? rank(i) : 0; }

    std::int32_t tag(std::size_t i) const {
        const auto value = parse_number<std::int32_t>(arguments_[i]);
        if (!value) {
            refuse(arguments_[i], "a tag, which is an integer");
        }
        return *value;
    }

    double type(std::size_t i) const { return type(i, type_sizes_[rank_]); }

    double type(std::size_t i, double missing) const {
        if (i >= arguments_.size()) {
            return missing;
        }
        const auto number = parse_number<std::size_t>(arguments_[i]);
        if (!number || *number >= n_types) {
            refuse(arguments_[i], "a datatype from 0 to " + std::to_string(n_types - 1));
        }
        return type_size(*number);
    }

    std::string at_line() const { return *source_ + ":" + std::to_string(line_) + ": "; }
    std::string at_action() const { return at_line() + std::string(name_) + ": "; }

    [[noreturn]] void refuse(std::string_view word, const std::string& expected) const {
        throw InputError((name_.empty() || word == name_ ? at_line() : at_action()) + "got " +
                         quoted(word) + ", expected " + expected);
    }

    [[noreturn]] void refuse_argument_count(std::size_t least, std::size_t most) const {
        std::string expected = std::to_string(least);
        if (most == no_limit) {
            expected += " at least";
        } else if (most > least) {
            expected += " to " + std::to_string(most);
        }
        throw InputError(at_action() + "got " + std::to_string(arguments_.size()) +
                         (arguments_.size() == 1 ? " argument" : " arguments") + ", expected " +
                         expected);
    }

    Trace trace_;
    Rank n_ranks_ = 0;
    bool shared_ = false;            // one text has the lines of all ranks
    std::vector<bool> has_posted_;   // by rank: an isend or an irecv
    std::vector<double> type_sizes_; // of a rank's data where no datatype is given

    const std::string* source_ = nullptr; // of the line that is read, with what follows
    std::uint32_t line_ = 0;
    Rank rank_ = 0;
    std::string_view name_;
    std::vector<std::string_view> words_;
    std::span<const std::string_view> arguments_;
};

Trace Trace::parse(const std::vector<std::string_view>& texts, std::vector<std::string> sources) {
    if (texts.empty() || texts.size() > std::numeric_limits<Rank>::max()) {
        throw InputError("MPI trace: got no text, expected one a rank");
    }
    if (texts.size() != sources.size()) {
        throw InputError("MPI trace: got " + std::to_string(sources.size()) + " sources of " +
                         std::to_string(texts.size()) + " texts, expected one for each");
    }
    return TraceReader(std::move(sources)).read(texts);
}

} // namespace noctule::mpi
