// A scheduler that speaks one of Batsim's protocols, where messages and replies are the usual ones.
//
// What is written and read here means what the classes in Python mean, which do all the rest. They
// must be told, before they do it, of what happened here: see Journal.
#pragma once

#include "protocol/named_jobs.hpp"
#include "protocol/plain_reply.hpp"
#include "protocol/stopwatch.hpp"
#include "protocol/text_buffer.hpp"
#include "shortcut.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

namespace noctule {

// The way to a scheduler.
class Channel {
  public:
    struct Answer {
        unsigned code = 0; // anything but 0 is an error
        const char* text = nullptr;
        std::size_t size = 0;
    };

    virtual ~Channel() = default;
    // What comes back belongs to the scheduler until the next message.
    virtual Answer ask(TextBuffer& message) = 0;
    virtual bool needs_lock() const = 0;
};

// A component of Batsim 5 in a library.
class LibraryChannel : public Channel {
  public:
    using Function = std::uint8_t (*)(const std::uint8_t* message, std::uint32_t size,
                                      std::uint8_t** reply, std::uint32_t* reply_size);

    explicit LibraryChannel(Function function) : function_(function) {}
    Answer ask(TextBuffer& message) override;
    bool needs_lock() const override { return false; }

  private:
    Function function_;
};

// Writes how jobs are submitted.
class JobTexts {
  public:
    virtual ~JobTexts() = default;
    // How many hosts a job asks for; 0 if it is not an usual one.
    virtual std::uint32_t n_hosts(JobIndex job) const = 0;
    // Appends the type of the event and its content, at the date of the submission.
    virtual void append(TextBuffer& text, JobIndex job, const WrittenDate& date) const = 0;
};

// What happened here and nobody in Python knows of yet.
struct Journal {
    std::vector<JobIndex> told; // jobs that were submitted
    std::vector<JobIndex> ended;
    std::vector<JobIndex> rejected;
};

struct RequestWords; // of a protocol

class SchedulerShortcut : public Shortcut {
  public:
    struct Rules {
        bool is_batsim4;
        bool exact_dates;    // of Batsim 4: see BatsimSetup
        bool hosts_sleep;    // some can
        HostId n_resources;  // hosts that can be named
        std::size_t longest; // reply, in bytes
    };

    // `new_tag` gives a tag for calls that nobody else uses.
    SchedulerShortcut(Rules rules, std::shared_ptr<const JobNames> names,
                      std::unique_ptr<JobTexts> texts, std::unique_ptr<Channel> channel,
                      std::function<TimerTag()> new_tag);

    bool decide(const View& view, std::span<const Event> events, Decisions& decisions) override;
    bool needs_lock() const override { return channel_->needs_lock(); }

    const JobNames& names() const { return *names_; }
    std::size_t n_messages() const { return n_messages_; }
    double seconds() const { return watch_.seconds(); } // that answers took
    // Takes what Python has not heard of, which it does now.
    Journal take_journal();
    // Takes the answer to what was told of this instant, if that is for Python to read.
    std::optional<Channel::Answer> take_answer();
    // Takes the jobs that were started here, in order.
    std::vector<JobIndex> take_started();
    // Hosts of the jobs that were started here and have not ended.
    const std::unordered_map<JobIndex, HostSet>& allocations() const { return allocations_; }
    // A job that Python has told of can be named.
    void add_named(JobIndex job) { named_.add(job); }
    // A job can no longer be named, as Python has decided.
    void drop_named(std::string_view name) { named_.drop(name); }

  private:
    struct Planned {
        PlainEvent::Kind kind;
        JobIndex job;
        HostSet hosts;    // of a start
        double call_time; // of a call
        double date;      // NaN: at once
    };

    bool is_plain(const View& view, const Event& event) const;
    void leave_to_python(std::span<const Event> events);
    template <const RequestWords& words> bool tell(const View& view, std::span<const Event> events);
    template <const RequestWords& words> void tell(const View& view, const Event& event);
    template <const RequestWords& words> void tell_end(const View& view, JobIndex job);
    void append_date(double date);
    void write_date(double date);
    Channel::Answer ask();
    bool plan(const View& view, const PlainReply& reply, double now);
    bool plan(const View& view, const PlainEvent& event, double date);
    bool plan_start(const View& view, const PlainEvent& event, JobIndex job, double date);
    void carry_out(Decisions& decisions);
    void carry_out(Planned& one, Decisions& decisions);
    double told_date(double now);
    TimerTag free_tag();
    void give_back(TimerTag tag);

    Rules rules_;
    std::shared_ptr<const JobNames> names_;
    std::unique_ptr<JobTexts> texts_;
    std::unique_ptr<Channel> channel_;
    std::function<TimerTag()> new_tag_;
    NamedJobs named_; // were told, and have not ended
    std::unordered_map<JobIndex, HostSet> allocations_;
    std::vector<JobIndex> left_to_python_; // have ended; Python needs their allocations
    std::vector<std::uint8_t> is_own_tag_; // by tag: its call was asked for here
    std::vector<TimerTag> spare_tags_;
    Journal journal_;
    std::vector<JobIndex> started_;
    std::size_t n_messages_ = 0;
    Stopwatch watch_; // runs while an answer is awaited
    std::optional<Channel::Answer> answer_;

    // of one call, kept for their memory
    TextBuffer message_;
    TextBuffer date_text_; // of the last date that was written
    double date_ = not_a_time;
    double told_date_ = 0.0;
    double busy_until_ = not_a_time;
    PlainReply reply_;
    std::vector<Planned> planned_;
    Decision decision_{.kind = Decision::Kind::nothing};
};

} // namespace noctule
