// Replies of a scheduler that say only the usual things, read without a tree and without copies.
//
// What this reads means the same to the readers in Python; whatever else a reply may be (rarer
// events and fields, escapes, letters beyond ASCII, fields said twice, no JSON at all) is left to
// them.
#pragma once

#include <string_view>
#include <vector>

namespace noctule {

// The words of a protocol for the usual events.
struct ReplyWords {
    std::string_view kind;    // the field with the type of an event
    std::string_view data;    // and the one with its content
    std::string_view execute; // types of events
    std::string_view reject;
    std::string_view call;   // nothing if none is usual
    std::string_view hosts;  // of a job that is executed
    std::string_view nested; // the object in which they are, or nothing
};

inline constexpr ReplyWords batsim4_replies{.kind = "type",
                                            .data = "data",
                                            .execute = "EXECUTE_JOB",
                                            .reject = "REJECT_JOB",
                                            .call = "CALL_ME_LATER",
                                            .hosts = "alloc",
                                            .nested = ""};
inline constexpr ReplyWords batsim5_replies{.kind = "event_type",
                                            .data = "event",
                                            .execute = "ExecuteJobEvent",
                                            .reject = "RejectJobEvent",
                                            .call = "",
                                            .hosts = "host_allocation",
                                            .nested = "allocation"};

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

// False if there is more in it than the usual.
bool read_plain_reply(std::string_view text, const ReplyWords& words, PlainReply& reply);

} // namespace noctule
