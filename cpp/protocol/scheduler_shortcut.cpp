#include "protocol/scheduler_shortcut.hpp"

#include "errors.hpp"
#include "protocol/number_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace noctule {

using namespace std::string_view_literals;

// The words of a protocol for what is told.
struct RequestWords {
    bool is_batsim4;
    std::string_view kind;      // what stands between the date of an event and its type
    std::string_view completed; // a job: up to its id
    std::string_view success;   // behind the id: how it has ended, and what it returned
    std::string_view timed_out;
    std::string_view called;
    std::string_view submissions_ended;
    std::string_view external_events_ended;
};

namespace {

constexpr RequestWords batsim4_requests{
    .is_batsim4 = true,
    .kind = R"(,"type":)",
    .completed = R"("JOB_COMPLETED","data":{"job_id":")",
    .success = R"(","job_state":"COMPLETED_SUCCESSFULLY","return_code":0)",
    .timed_out = R"(","job_state":"COMPLETED_WALLTIME_REACHED","return_code":-1)",
    .called = R"("REQUESTED_CALL","data":{})",
    .submissions_ended = R"("NOTIFY","data":{"type":"no_more_static_job_to_submit"})",
    .external_events_ended = R"("NOTIFY","data":{"type":"no_more_external_event_to_occur"})"};

constexpr RequestWords batsim5_requests{
    .is_batsim4 = false,
    .kind = R"(,"event_type":)",
    .completed = R"("JobCompletedEvent","event":{"job_id":")",
    .success = R"(","state":"COMPLETED_SUCCESSFULLY","return_code":0)",
    .timed_out = R"(","state":"COMPLETED_WALLTIME_REACHED","return_code":4294967295)",
    .called = "",
    .submissions_ended = R"("AllStaticJobsHaveBeenSubmittedEvent","event":{})",
    .external_events_ended = R"("AllStaticExternalEventsHaveBeenInjectedEvent","event":{})"};

} // namespace

Channel::Answer LibraryChannel::ask(TextBuffer& message) {
    std::uint8_t* reply = nullptr;
    std::uint32_t size = 0;
    const unsigned code = function_(reinterpret_cast<const std::uint8_t*>(message.c_str()),
                                    static_cast<std::uint32_t>(message.size() + 1), &reply, &size);
    return {code, reinterpret_cast<const char*>(reply), size};
}

SchedulerShortcut::SchedulerShortcut(Rules rules, std::shared_ptr<const JobNames> names,
                                     std::unique_ptr<JobTexts> texts,
                                     std::unique_ptr<Channel> channel,
                                     std::function<TimerTag()> new_tag)
    : rules_(rules), names_(std::move(names)), texts_(std::move(texts)),
      channel_(std::move(channel)), new_tag_(std::move(new_tag)), named_(names_) {}

bool SchedulerShortcut::decide(const View& view, std::span<const Event> events,
                               Decisions& decisions) {
    for (const JobIndex job : left_to_python_) {
        allocations_.erase(job);
    }
    left_to_python_.clear();
    const auto plain = [&](const Event& event) { return is_plain(view, event); };
    if (!std::ranges::all_of(events, plain)) {
        leave_to_python(events);
        return false;
    }
    if (!(rules_.is_batsim4 ? tell<batsim4_requests>(view, events)
                            : tell<batsim5_requests>(view, events))) {
        return true;
    }
    const Channel::Answer answer = ask();
    const bool is_answer =
        answer.code == 0 && answer.size <= rules_.longest && answer.text != nullptr;
    std::string_view text = is_answer ? std::string_view(answer.text, answer.size) : "";
    while (!rules_.is_batsim4 && text.ends_with('\0')) {
        text.remove_suffix(1);
    }
    const double now = told_date(view.now());
    const auto read = rules_.is_batsim4 ? read_batsim4_reply : read_batsim5_reply;
    if (!read(text, reply_, {told_date_, date_text_.view()}) || !plan(view, reply_, now)) {
        answer_ = answer;
        return false;
    }
    carry_out(decisions);
    return true;
}

bool SchedulerShortcut::is_plain(const View& view, const Event& event) const {
    const JobIndex job = event.subject;
    switch (event.kind) {
    case EventKind::job_submitted:
        return job < names_->size() && texts_->n_hosts(job) > 0;
    case EventKind::job_finished: {
        if (job >= names_->size() || texts_->n_hosts(job) == 0 ||
            (rules_.is_batsim4 && !allocations_.contains(job))) {
            return false;
        }
        const JobState state = view.state(job);
        return state == JobState::completed || state == JobState::timed_out;
    }
    case EventKind::timer_fired:
        return rules_.is_batsim4; // of which all calls are alike
    case EventKind::hosts_released:
    case EventKind::submissions_ended:
    case EventKind::external_events_ended:
        return true;
    default:
        return false;
    }
}

// Python tells of these events; what they change here is the same.
void SchedulerShortcut::leave_to_python(std::span<const Event> events) {
    for (const Event& event : events) {
        const JobIndex job = event.subject;
        if (event.kind == EventKind::job_submitted && job < names_->size()) {
            named_.add(job);
        } else if (event.kind == EventKind::job_finished && job < names_->size()) {
            named_.drop((*names_)[job]);
            left_to_python_.push_back(job);
        } else if (event.kind == EventKind::timer_fired) {
            give_back(event.subject);
        }
    }
}

// Whether there was anything to tell.
template <const RequestWords& words>
bool SchedulerShortcut::tell(const View& view, std::span<const Event> events) {
    date_ = not_a_time;
    message_.clear();
    message_ += R"({"now":)"sv;
    append_date(view.now());
    message_ += R"(,"events":[)"sv;
    const std::size_t empty = message_.size();
    for (const Event& event : events) {
        if (event.kind != EventKind::hosts_released) {
            if (message_.size() > empty) {
                message_ += ',';
            }
            message_ += R"({"timestamp":)"sv;
            append_date(event.time);
            message_ += words.kind;
            tell<words>(view, event);
            message_ += '}';
        }
    }
    const bool has_told = message_.size() > empty;
    message_ += "]}"sv;
    return has_told;
}

template <const RequestWords& words>
void SchedulerShortcut::tell(const View& view, const Event& event) {
    switch (event.kind) {
    case EventKind::job_submitted:
        texts_->append(message_, event.subject, {event.time, date_text_.view()});
        named_.add(event.subject);
        journal_.told.push_back(event.subject);
        break;
    case EventKind::job_finished:
        tell_end<words>(view, event.subject);
        break;
    case EventKind::timer_fired:
        message_ += words.called;
        give_back(event.subject);
        break;
    case EventKind::submissions_ended:
        message_ += words.submissions_ended;
        break;
    default:
        message_ += words.external_events_ended;
        break;
    }
}

template <const RequestWords& words>
void SchedulerShortcut::tell_end(const View& view, JobIndex job) {
    const std::string_view name = (*names_)[job];
    message_ += words.completed;
    message_ += name;
    if (view.state(job) == JobState::completed) {
        message_ += words.success;
    } else {
        message_ += words.timed_out;
    }
    if (words.is_batsim4) {
        const auto allocation = allocations_.find(job);
        message_ += R"(,"alloc":")"sv;
        message_ += allocation->second.to_string();
        message_ += '"';
        allocations_.erase(allocation);
    }
    message_ += '}';
    named_.drop(name);
    journal_.ended.push_back(job);
}

// Most dates of a message are the same.
void SchedulerShortcut::append_date(double date) {
    if (date != date_) {
        write_date(date);
    }
    message_ += date_text_.view();
}

void SchedulerShortcut::write_date(double date) {
    date_text_.clear();
    (rules_.is_batsim4 ? append_six_decimals : append_shortest)(date_text_, date);
    date_ = date;
}

Channel::Answer SchedulerShortcut::ask() {
    watch_.start();
    const Channel::Answer answer = channel_->ask(message_);
    watch_.stop();
    ++n_messages_;
    return answer;
}

// Whether all of a reply can be done; nothing has been, if not.
bool SchedulerShortcut::plan(const View& view, const PlainReply& reply, double now) {
    double latest = now;
    double before = 0.0;
    double date = not_a_time;
    planned_.clear();
    bool is_plain = true;
    for (const PlainEvent& event : reply.events) {
        if (event.timestamp > latest) {
            date = latest = event.timestamp;
        }
        is_plain =
            event.timestamp >= before && event.timestamp <= reply.now && plan(view, event, date);
        if (!is_plain) {
            break;
        }
        before = rules_.is_batsim4 ? 0.0 : event.timestamp;
    }
    for (const Planned& one : planned_) {
        if (!is_plain && one.kind == PlainEvent::Kind::reject) {
            named_.add(one.job);
        }
    }
    busy_until_ = reply.now > now ? reply.now : not_a_time;
    return is_plain;
}

bool SchedulerShortcut::plan(const View& view, const PlainEvent& event, double date) {
    if (event.kind == PlainEvent::Kind::call) {
        planned_.push_back({event.kind, no_job, {}, event.call_time, date});
        return std::isnan(date) && event.call_time > told_date_;
    }
    const JobIndex job = named_.find(event.job_id);
    if (job == no_job) {
        return false;
    }
    if (event.kind == PlainEvent::Kind::execute) {
        return plan_start(view, event, job, date);
    }
    named_.drop(event.job_id);
    planned_.push_back({event.kind, job, {}, 0.0, date});
    return true;
}

bool SchedulerShortcut::plan_start(const View& view, const PlainEvent& event, JobIndex job,
                                   double date) {
    HostSet hosts;
    try {
        hosts = HostSet::parse(event.hosts);
    } catch (const InputError&) {
        return false;
    }
    const auto& intervals = hosts.intervals();
    if (hosts.size() != texts_->n_hosts(job) || intervals.empty() ||
        intervals.back().last >= rules_.n_resources) {
        return false;
    }
    if (rules_.hosts_sleep && std::isnan(date)) {
        for (const Interval& interval : intervals) {
            for (HostId host = interval.first; host <= interval.last; ++host) {
                if (view.phase(host) != HostPhase::awake) {
                    return false;
                }
            }
        }
    }
    planned_.push_back({event.kind, job, std::move(hosts), 0.0, date});
    return true;
}

// A date of now as the scheduler has seen it.
double SchedulerShortcut::told_date(double now) {
    told_date_ = now;
    if (date_ != now) { // the last one of its message is another
        write_date(now);
    }
    if (!rules_.is_batsim4) {
        return now;
    }
    const std::string_view text = date_text_.view();
    std::from_chars(text.data(), text.data() + text.size(), told_date_);
    return rules_.exact_dates ? now : std::max(now, told_date_);
}

void SchedulerShortcut::carry_out(Decisions& decisions) {
    for (Planned& one : planned_) {
        if (one.kind == PlainEvent::Kind::call) {
            decisions.call_at(one.call_time, free_tag());
        } else {
            carry_out(one, decisions);
        }
    }
    if (!std::isnan(busy_until_)) {
        decisions.be_busy_until(busy_until_);
    }
}

void SchedulerShortcut::carry_out(Planned& one, Decisions& decisions) {
    const bool is_start = one.kind == PlainEvent::Kind::execute;
    if (is_start && rules_.is_batsim4) {
        allocations_[one.job] = one.hosts;
    }
    (is_start ? started_ : journal_.rejected).push_back(one.job);
    decision_.kind = is_start ? Decision::Kind::start : Decision::Kind::reject;
    decision_.job = one.job;
    decision_.named_hosts = is_start;
    decision_.hosts = std::move(one.hosts);
    if (std::isnan(one.date)) {
        decisions.apply(decision_);
    } else {
        decisions.postpone(one.date, decision_);
    }
}

TimerTag SchedulerShortcut::free_tag() {
    if (!spare_tags_.empty()) {
        const TimerTag tag = spare_tags_.back();
        spare_tags_.pop_back();
        return tag;
    }
    const TimerTag tag = new_tag_();
    is_own_tag_.resize(std::max(is_own_tag_.size(), tag + std::size_t{1}), 0);
    is_own_tag_[tag] = 1;
    return tag;
}

// A call has come; if it was asked for here, its tag can be used again.
void SchedulerShortcut::give_back(TimerTag tag) {
    if (tag < is_own_tag_.size() && is_own_tag_[tag] != 0) {
        spare_tags_.push_back(tag);
    }
}

Journal SchedulerShortcut::take_journal() { return std::exchange(journal_, {}); }

std::vector<JobIndex> SchedulerShortcut::take_started() { return std::exchange(started_, {}); }

std::optional<Channel::Answer> SchedulerShortcut::take_answer() {
    return std::exchange(answer_, std::nullopt);
}

} // namespace noctule
