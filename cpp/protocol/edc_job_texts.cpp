#include "protocol/edc_job_texts.hpp"

#include "protocol/number_text.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

using namespace std::string_view_literals;

bool is_plain_text(std::string_view text) {
    return std::ranges::none_of(text, [](char letter) {
        return static_cast<unsigned char>(letter) < 0x20 || letter == '"' || letter == '\\';
    });
}

void EdcJobTexts::add(JobIndex job, const Fields& fields) {
    const std::size_t first = profiles_.size();
    profiles_ += fields.workload;
    profiles_ += '!';
    profiles_ += fields.profile;
    jobs_[job] = {fields.walltime, fields.submit_time, first,
                  static_cast<std::uint32_t>(profiles_.size() - first), fields.n_hosts};
}

void EdcJobTexts::append(TextBuffer& text, JobIndex job, const WrittenDate& date) const {
    const Entry& entry = jobs_[job];
    text += R"("JobSubmittedEvent","event":{"job_id":")"sv;
    text += (*names_)[job];
    text += R"(","job":{"resource_request":)"sv;
    append_whole(text, entry.n_hosts);
    if (!std::isnan(entry.walltime)) {
        text += R"(,"walltime":)"sv;
        append_shortest(text, entry.walltime);
    }
    text += R"(,"rigid":true,"profile_id":")"sv;
    text += std::string_view(profiles_).substr(entry.profile, entry.profile_size);
    text += R"("},"submission_time":)"sv;
    const double told = entry.submit_time;
    if (std::isnan(told) || (told == date.date && !std::signbit(told))) {
        text += date.text;
    } else {
        append_shortest(text, told);
    }
    text += '}';
}

} // namespace noctule
