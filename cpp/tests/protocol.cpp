// Numbers, names and replies of Batsim's protocols.
#include "protocol/named_jobs.hpp"
#include "protocol/number_text.hpp"
#include "protocol/plain_reply.hpp"
#include "protocol/stopwatch.hpp"
#include "tests/checks.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

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

// By a text of digits that is cut and filled up.
std::string naive_shortest(double number) {
    char room[64];
    const auto end = std::to_chars(room, room + sizeof room, number, std::chars_format::scientific);
    std::string text(room, end.ptr);
    const std::string sign = text.front() == '-' ? "-" : "";
    const std::string digits = text.substr(sign.size(), text.find('e') - sign.size());
    const int exponent = std::stoi(text.substr(text.find('e') + 1));
    if (exponent < -4 || exponent >= 16) {
        return text;
    }
    std::string all = std::string(exponent < 0 ? static_cast<std::size_t>(-exponent) : 0, '0') +
                      digits.front() + (digits.size() > 1 ? digits.substr(2) : "");
    const std::size_t n_whole = exponent < 0 ? 1 : static_cast<std::size_t>(exponent) + 1;
    all.resize(std::max(all.size(), n_whole + 1), '0');
    return sign + all.substr(0, n_whole) + "." + all.substr(n_whole);
}

void texts_grow_and_are_written_again() {
    Random random(4);
    TextBuffer text;
    for (int round = 0; round < 50; ++round) {
        std::string expected;
        text.clear();
        for (std::uint32_t n = draw(random, 0, 60); n > 0; --n) {
            const std::string piece(draw(random, 0, 90), static_cast<char>('a' + n % 26));
            text += piece;
            text += '"';
            expected += piece + '"';
        }
        CHECK(text.view() == expected && text.size() == expected.size());
        CHECK(text.c_str() == expected && text.size() == expected.size());
    }
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
            CHECK(shortest(number) == naive_shortest(number));
        }
        const double usual =
            std::ldexp(1.0 + static_cast<double>(random()), -static_cast<int>(draw(random, 0, 50)));
        const double negative = -usual;
        CHECK(shortest(usual) == naive_shortest(usual));
        CHECK(shortest(negative) == naive_shortest(negative));
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

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
        text.replace(at, what.size(), by);
    }
    return text;
}

bool are_same(const PlainReply& reply, const PlainReply& other) {
    const auto same = [](const PlainEvent& a, const PlainEvent& b) {
        return a.kind == b.kind && a.timestamp == b.timestamp && a.job_id == b.job_id &&
               a.hosts == b.hosts && a.call_time == b.call_time;
    };
    return reply.now == other.now && std::ranges::equal(reply.events, other.events, same);
}

// Objects that begin with a blank are read field by field, whatever their order; others at first as
// most schedulers write them.
void check_both_ways(std::string_view text, bool is_batsim4, int& n_read) {
    const auto read = is_batsim4 ? read_batsim4_reply : read_batsim5_reply;
    std::string apart = replaced(std::string(text), R"({"timestamp")", R"({ "timestamp")");
    apart = replaced(apart, R"({"now")", R"({ "now")");
    PlainReply reply;
    PlainReply by_field;
    const bool is_read = read(text, reply, {3.5, "3.5"});
    CHECK(is_read == read(apart, by_field, {}));
    if (is_read) {
        ++n_read;
        CHECK(are_same(reply, by_field));
        CHECK(reply.now >= 0.0 && reply.events.size() <= text.size() / 20);
    }
}

std::string random_reply(Random& random, bool is_batsim4) {
    const auto date = [&] {
        const std::string whole = std::to_string(draw(random, 0, 1000000));
        return draw(random, 0, 2) == 0 ? whole : whole + "." + std::to_string(draw(random, 0, 99));
    };
    std::string text = R"({"now":)" + date() + R"(,"events":[)";
    for (std::uint32_t n = draw(random, 0, 4); n > 0; --n) {
        const std::string id = "w0!" + std::to_string(draw(random, 0, 99999));
        const std::string hosts = std::to_string(draw(random, 0, 99)) + "-120 130";
        const bool is_start = draw(random, 0, 3) > 0;
        text += R"({"timestamp":)" + date();
        if (is_batsim4) {
            text += is_start ? R"(,"type":"EXECUTE_JOB","data":{"job_id":")" + id +
                                   R"(","alloc":")" + hosts + R"("}})"
                             : R"(,"type":"CALL_ME_LATER","data":{"timestamp":)" + date() + "}}";
        } else {
            text += is_start
                        ? R"(,"event_type":"ExecuteJobEvent","event":{"job_id":")" + id +
                              R"(","allocation":{"host_allocation":")" + hosts + R"("}}})"
                        : R"(,"event_type":"RejectJobEvent","event":{"job_id":")" + id + R"("}})";
        }
        text += n > 1 ? "," : "";
    }
    return text + "]}";
}

void replies_are_read_alike_in_any_form() {
    Random random(5);
    int n_read = 0;
    for (int i = 0; i < 2000; ++i) {
        check_both_ways(random_reply(random, i % 2 == 0), i % 2 == 0, n_read);
    }
    CHECK(n_read == 2000);
}

std::string damaged(Random& random, std::string text) {
    const std::string letters = R"({}[]",:\ 0123456789.eE+-naw)" + std::string("\0\x7f\xff", 3);
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
    return text;
}

// In memory of just their size, so that the sanitizers see who reads beyond it.
void damaged_replies_harm_nobody() {
    Random random(2);
    int n_read = 0;
    for (int i = 0; i < 30000; ++i) {
        const bool is_first = i % 2 == 0;
        const std::string text = damaged(random, i % 3 == 0 ? random_reply(random, is_first)
                                                 : is_first ? usual4
                                                            : usual5);
        const auto exact = std::make_unique<char[]>(text.size());
        std::copy(text.begin(), text.end(), exact.get());
        check_both_ways({exact.get(), text.size()}, is_first, n_read);
    }
    CHECK(n_read > 7000);
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

void stopwatches_sum_what_passes_between_start_and_stop() {
    using namespace std::chrono;
    Stopwatch watch;
    CHECK(watch.seconds() == 0.0);
    const auto began = steady_clock::now();
    for (int i = 0; i < 3; ++i) {
        watch.start();
        std::this_thread::sleep_for(milliseconds(4));
        watch.stop();
        std::this_thread::sleep_for(milliseconds(4));
    }
    const double elapsed = duration<double>(steady_clock::now() - began).count();
    CHECK(watch.seconds() > 0.0118 && watch.seconds() < elapsed - 0.0118);
}

} // namespace

void test_protocol() {
    stopwatches_sum_what_passes_between_start_and_stop();
    named_jobs_are_found_until_they_are_dropped();
    texts_grow_and_are_written_again();
    numbers_are_written_as_python_does();
    usual_replies_are_read();
    all_else_is_left_alone();
    replies_are_read_alike_in_any_form();
    damaged_replies_harm_nobody();
}

} // namespace noctule
