#include "program.hpp"

#include "errors.hpp"

#include <algorithm>
#include <regex>

namespace noctule {

namespace {

constexpr std::size_t longest_pattern = 1000; // the standard library recurses on them

// Parts of a program; those that are left out are no_program.
std::vector<ProgramIndex> parts_of(const Action& action) {
    if (const auto* sequence = std::get_if<Sequence>(&action)) {
        return sequence->parts;
    }
    if (const auto* receive = std::get_if<Receive>(&action)) {
        return {receive->success, receive->failure, receive->timeout};
    }
    return {};
}

} // namespace

ProgramIndex ProgramTable::add(Program program) {
    for (const ProgramIndex part : parts_of(program.action)) {
        if (part >= programs_.size() &&
            (part != no_program || std::holds_alternative<Sequence>(program.action))) {
            throw InputError("program " + program.name + ": got part " + std::to_string(part) +
                             ", expected one of the " + std::to_string(programs_.size()) +
                             " programs before it");
        }
    }
    programs_.push_back(std::make_shared<const Program>(std::move(program)));
    return static_cast<ProgramIndex>(programs_.size() - 1);
}

void check_pattern(const std::string& pattern) {
    if (pattern.size() > longest_pattern) {
        throw InputError("pattern: got " + std::to_string(pattern.size()) +
                         " characters, expected at most " + std::to_string(longest_pattern));
    }
    try {
        const std::regex compiled(pattern, std::regex::ECMAScript);
    } catch (const std::regex_error&) {
        throw InputError("pattern: got '" + pattern + "', expected a regular expression");
    }
}

} // namespace noctule
