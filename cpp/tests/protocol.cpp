// Numbers, names and replies of Batsim's protocols.
#include "protocol/named_jobs.hpp"
#include "protocol/number_text.hpp"
#include "protocol/plain_reply.hpp"
#include "tests/checks.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

namespace noctule {

namespace {

std::string shortest(double number) {
    TextBuffer text;
    append_shortest(text, number);
    return std::string(text.view());
}

std::string six_decimals(double number) {
    TextBuffer text;
    append_six_decimals(text, number);
    return std::string(text.view());
}

void numbers_are_written_as_python_does() {
    CHECK(shortest(0.0) == "0.0" && shortest(-0.0) == "-0.0" && shortest(3.0) == "3.0");
    CHECK(shortest(0.1) == "0.1" && shortest(-12.5) == "-12.5" && shortest(1.0 / 3.0).size() == 18);
    CHECK(shortest(0.0001) == "0.0001" && shortest(0.00001) == "1e-05");
    CHECK(shortest(1e15) == "1000000000000000.0" && shortest(1e16) == "1e+16");
    CHECK(shortest(123456789012345680.0) == "1.2345678901234568e+17");
    CHECK(shortest(9007199254740993.0) == "9007199254740992.0");
    CHECK(shortest(5e-324) == "5e-324" && shortest(1.7976931348623157e308).size() == 23);
    CHECK(six_decimals(0.0) == "0.000000" && six_decimals(10.0000005) == "10.000001");
    CHECK(six_decimals(1e22) == "10000000000000000000000.000000");
    Random random(1);
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t bits = (std::uint64_t{random()} << 32) | random();
        const auto number = std::bit_cast<double>(bits);
        if (std::isfinite(number)) {
            CHECK(std::strtod(shortest(number).c_str(), nullptr) == number);
        }
    }
}

const std::string usual4 = R"({"now":3.5,"events":[
 {"timestamp":3.5,"type":"EXECUTE_JOB","data":{"job_id":"w0!1","alloc":"0-3 7"}},
 {"data":{"job_id":"w0!2"},"type":"REJECT_JOB","timestamp":3},
 {"timestamp":3.5,"type":"CALL_ME_LATER","data":{"timestamp":10}}]} )";
const std::string usual5 =
    R"({"events":[{"timestamp":1e0,"event_type":"ExecuteJobEvent","event":)"
    R"({"job_id":"a","allocation":{"host_allocation":"2"}}},)"
    R"({"timestamp":1,"event_type":"RejectJobEvent","event":{"job_id":"b"}}],"now":1.25})";

void usual_replies_are_read() {
    PlainReply reply;
    CHECK(read_batsim4_reply(usual4, reply));
    CHECK(reply.now == 3.5 && reply.events.size() == 3);
    CHECK(reply.events[0].job_id == "w0!1" && reply.events[0].hosts == "0-3 7");
    CHECK(reply.events[1].kind == PlainEvent::Kind::reject && reply.events[1].timestamp == 3.0);
    CHECK(reply.events[2].kind == PlainEvent::Kind::call && reply.events[2].call_time == 10.0);
    CHECK(read_batsim5_reply(usual5, reply));
    CHECK(reply.now == 1.25 && reply.events.size() == 2 && reply.events[0].hosts == "2");
    CHECK(read_batsim5_reply(R"({"now":0,"events":[]})", reply));
}

void all_else_is_left_alone() {
    PlainReply reply;
    for (
        const char* text :
        {"",
         "{",
         "[]",
         "null",
         R"({"now":1})",
         R"({"events":[]})",
         R"({"now":1,"events":{}})",
         R"({"now":1,"events":[]} x)",
         R"({"now":1,"now":1,"events":[]})",
         R"({"now":1,"events":[],"more":0})",
         R"({"now":1,"events":[],})",
         R"({"now":-1,"events":[]})",
         R"({"now":01,"events":[]})",
         R"({"now":1.,"events":[]})",
         R"({"now":.5,"events":[]})",
         R"({"now":1e,"events":[]})",
         R"({"now":1e999,"events":[]})",
         R"({"now":"1","events":[]})",
         R"({"now":true,"events":[]})",
         R"({"n\u006fw":1,"events":[]})",
         R"({"now":1,"events":[{}]})",
         R"({"now":1,"events":[1]})",
         R"({"now":1,"events":[{"timestamp":1,"type":"NOTIFY","data":{}}]})",
         R"({"now":1,"events":[{"timestamp":1,"type":"EXECUTE_JOB","data":{"job_id":"a"}}]})",
         R"({"now":1,"events":[{"timestamp":1,"type":"REJECT_JOB","data":{"job_id":"\xc3\xa9"}}]})",
         R"({"now":1,"events":[{"timestamp":1,"type":"REJECT_JOB","data":{"job_id":"a","alloc":"0"}}]})",
         R"({"now":1,"events":[{"timestamp":1,"type":"CALL_ME_LATER","data":{"job_id":"a"}}]})"}) {
        CHECK(!read_batsim4_reply(text, reply));
    }
    CHECK(!read_batsim5_reply(usual4, reply));
    CHECK(!read_batsim4_reply(usual5, reply));
    const std::string deep(100000, '[');
    CHECK(!read_batsim4_reply(R"({"now":1,"events":)" + deep, reply));
}

// In memory of just their size, so that the sanitizers see who reads beyond it.
void damaged_replies_harm_nobody() {
    Random random(2);
    const std::string letters = R"({}[]",:\ 0123456789.eE+-naw)" + std::string("\0\x7f\xff", 3);
    PlainReply reply;
    int n_read = 0;
    for (int i = 0; i < 20000; ++i) {
        const bool is_first = i % 2 == 0;
        std::string text = is_first ? usual4 : usual5;
        for (std::uint32_t n = draw(random, 0, 3); n > 0 && !text.empty(); --n) {
            const auto last = static_cast<std::uint32_t>(text.size() - 1);
            const std::uint32_t at = draw(random, 0, last);
            switch (draw(random, 0, 2)) {
            case 0:
                text[at] = letters[draw(random, 0, static_cast<std::uint32_t>(letters.size() - 1))];
                break;
            case 1:
                text.erase(at, draw(random, 1, 9));
                break;
            default:
                text.insert(at, text.substr(draw(random, 0, last), draw(random, 1, 30)));
                break;
            }
        }
        const auto exact = std::make_unique<char[]>(text.size());
        std::copy(text.begin(), text.end(), exact.get());
        const auto read = is_first ? read_batsim4_reply : read_batsim5_reply;
        if (read({exact.get(), text.size()}, reply)) {
            ++n_read;
            CHECK(reply.now >= 0.0 && reply.events.size() <= text.size() / 20);
        }
    }
    CHECK(n_read > 5000);
}

void named_jobs_are_found_until_they_are_dropped() {
    Random random(3);
    std::vector<std::string> ids;
    for (int i = 0; i < 500; ++i) {
        ids.push_back(i == 0 ? "" : "w" + std::to_string(i % 3) + "!" + std::to_string(i));
    }
    NamedJobs named(std::make_shared<const JobNames>(ids));
    std::set<JobIndex> expected;
    for (int i = 0; i < 20000; ++i) {
        const JobIndex job = draw(random, 0, 499);
        if (draw(random, 0, 1) == 0) {
            named.add(job);
            expected.insert(job);
        } else {
            named.drop(ids[job]);
            expected.erase(job);
        }
        const JobIndex other = draw(random, 0, 499);
        CHECK(named.find(ids[other]) == (expected.contains(other) ? other : no_job));
    }
    CHECK(named.find("w0!none") == no_job);
}

} // namespace

void test_protocol() {
    named_jobs_are_found_until_they_are_dropped();
    numbers_are_written_as_python_does();
    usual_replies_are_read();
    all_else_is_left_alone();
    damaged_replies_harm_nobody();
}

} // namespace noctule
