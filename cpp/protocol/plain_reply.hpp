// Replies of a scheduler that say only the usual things, read without a tree and without copies.
//
// What this reads means the same to the readers in Python; whatever else a reply may be (rarer
// events and fields, escapes, letters beyond ASCII, fields said twice, no JSON at all) is left to
// them.
#pragma once

#include <string_view>
#include <vector>

namespace noctule {

// Texts are parts of the reply.
struct PlainEvent {
    enum class Kind : unsigned char { execute, reject, call };
    Kind kind;
    double timestamp;
    std::string_view job_id; // of a job to execute or to reject
    std::string_view hosts;  // of a job to execute
    double call_time;        // of a call
};

struct PlainReply {
    double now = 0.0;
    std::vector<PlainEvent> events = {};
};

// A date as messages have it.
struct WrittenDate {
    double date = 0.0;
    std::string_view text = {};
};

// False if there is more in it than the usual. Most dates are those of the message `now` that it
// replies to, by letter.
bool read_batsim4_reply(std::string_view text, PlainReply& reply, const WrittenDate& now = {});
bool read_batsim5_reply(std::string_view text, PlainReply& reply, const WrittenDate& now = {});

} // namespace noctule
