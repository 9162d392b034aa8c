#include "bindings/python_job_texts.hpp"

#include "protocol/number_text.hpp"

#include <array>
#include <cmath>
#include <unordered_map>

namespace noctule {

namespace {

std::optional<std::string_view> letters_of(PyObject* value) {
    if (value == nullptr || !PyUnicode_CheckExact(value)) {
        return std::nullopt;
    }
    Py_ssize_t size = 0;
    const char* letters = PyUnicode_AsUTF8AndSize(value, &size);
    if (letters == nullptr) {
        PyErr_Clear(); // half a letter
        return std::nullopt;
    }
    return std::string_view(letters, static_cast<std::size_t>(size));
}

// The letters of a text that stands in JSON as it is.
std::optional<std::string_view> plain_text(PyObject* value) {
    const auto letters = letters_of(value);
    return letters && is_plain_text(*letters) ? letters : std::nullopt;
}

std::optional<std::int64_t> whole_number(PyObject* value) {
    if (value == nullptr || !PyLong_CheckExact(value)) {
        return std::nullopt;
    }
    int overflow = 0;
    const std::int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0 ? std::optional(number) : std::nullopt;
}

// A finite number.
std::optional<double> plain_number(PyObject* value) {
    constexpr std::int64_t most_exact = std::int64_t{1} << 53;
    if (const auto whole = whole_number(value)) {
        const bool is_exact = -most_exact <= *whole && *whole <= most_exact;
        return is_exact ? std::optional(static_cast<double>(*whole)) : std::nullopt;
    }
    if (value == nullptr || !PyFloat_CheckExact(value)) {
        return std::nullopt;
    }
    const double number = PyFloat_AS_DOUBLE(value);
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// The number of hosts of a job; 0 where it is an odd one.
std::uint32_t n_hosts_of(PyObject* res) {
    const auto number = whole_number(res);
    const bool fits = number && *number > 0 && *number < no_job;
    return fits ? static_cast<std::uint32_t>(*number) : 0;
}

// Finds jobs by their names; quickly, if it is asked in the order in which they are.
class Finder {
  public:
    explicit Finder(const JobNames& names) : names_(names) {}

    JobIndex find(std::string_view name) {
        if (next_ < names_.size() && names_[next_] == name) {
            return next_++;
        }
        if (index_of_.empty()) {
            for (JobIndex job = 0; job < names_.size(); ++job) {
                index_of_[names_[job]] = job;
            }
        }
        const auto found = index_of_.find(name);
        next_ = found == index_of_.end() ? next_ : found->second + 1;
        return found == index_of_.end() ? no_job : found->second;
    }

  private:
    const JobNames& names_;
    JobIndex next_ = 0;
    std::unordered_map<std::string_view, JobIndex> index_of_; // made when it is needed
};

// Calls use(job, raw) for each job of the workload that has an object.
template <typename Use> void for_each_job(const JobNames& names, nb::dict jobs, Use use) {
    Finder finder(names);
    PyObject* name = nullptr;
    PyObject* raw = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(jobs.ptr(), &position, &name, &raw) != 0) {
        const auto text = plain_text(name);
        const JobIndex job = text ? finder.find(*text) : no_job;
        if (job != no_job && PyDict_CheckExact(raw)) {
            use(job, raw);
        }
    }
}

// Writes a whole number, a fraction, a text, true, false or null, as protocol 4 has them.
bool append_plain(TextBuffer& text, PyObject* value) {
    if (value == Py_None || PyBool_Check(value)) {
        text += value == Py_None ? "null" : value == Py_True ? "true" : "false";
    } else if (const auto whole = whole_number(value)) {
        append_whole(text, *whole);
    } else if (PyFloat_CheckExact(value) && std::isfinite(PyFloat_AS_DOUBLE(value))) {
        append_six_decimals(text, PyFloat_AS_DOUBLE(value));
    } else if (const auto letters = plain_text(value)) {
        (text += '"') += *letters;
        text += '"';
    } else {
        return false;
    }
    return true;
}

class Batsim4JobTexts : public JobTexts {
  public:
    Batsim4JobTexts(std::shared_ptr<const JobNames> names, nb::dict jobs, nb::object profile_text)
        : names_(std::move(names)), jobs_(names_->size()), profile_text_(std::move(profile_text)) {
        TextBuffer text;
        for_each_job(*names_, jobs, [&](JobIndex job, PyObject* raw) {
            text.clear();
            if (append_fields(text, job, raw, {0.0, "0.000000"})) {
                jobs_[job] = {nb::borrow(raw), n_hosts_of(PyDict_GetItemString(raw, "res"))};
            }
        });
    }

    std::uint32_t n_hosts(JobIndex job) const override { return jobs_[job].n_hosts; }

    void append(TextBuffer& text, JobIndex job, const WrittenDate& date) const override {
        text += R"("JOB_SUBMITTED","data":{"job_id":")";
        text += (*names_)[job];
        text += R"(","job":)";
        append_fields(text, job, jobs_[job].raw.ptr(), date);
        if (!profile_text_.is_none()) {
            const std::string_view name = (*names_)[job];
            const nb::object profile = profile_text_(nb::str(name.data(), name.size()));
            (text += R"(,"profile":)") += nb::cast<nb::str>(profile).c_str();
        }
        text += '}';
    }

  private:
    struct Entry {
        nb::object raw;
        std::uint32_t n_hosts = 0;
    };

    // All fields of a job, with its full id, in the order of its file.
    bool append_fields(TextBuffer& text, JobIndex job, PyObject* raw,
                       const WrittenDate& date) const {
        const auto add = [&](std::string_view key, std::string_view value) {
            ((text += text.view().ends_with('{') ? "\"" : ",\"") += key) += "\":";
            text += value;
        };
        const std::string id = '"' + std::string((*names_)[job]) + '"';
        bool has_id = false;
        bool has_date = false;
        PyObject* key = nullptr;
        PyObject* value = nullptr;
        Py_ssize_t position = 0;
        text += '{';
        while (PyDict_Next(raw, &position, &key, &value) != 0) {
            const auto name = plain_text(key);
            if (!name) {
                return false;
            }
            has_date = has_date || *name == "subtime";
            if (*name == "id") {
                has_id = true;
                add(*name, id);
                continue;
            }
            add(*name, "");
            if (!append_plain(text, value)) {
                return false;
            }
        }
        if (!has_id) {
            add("id", id);
        }
        if (!has_date) {
            add("subtime", "");
            text += date.text;
        }
        text += '}';
        return true;
    }

    std::shared_ptr<const JobNames> names_;
    std::vector<Entry> jobs_;
    nb::object profile_text_;
};

} // namespace

namespace {

// Finds out what the fields of jobs mean; quickly, as those of all jobs mostly have the same names.
class FieldNames {
  public:
    enum class Field : std::uint8_t { profile, walltime, submit_time, n_hosts, extra, other };

    Field field(PyObject* key) {
        for (std::size_t i = 0; i < n_; ++i) {
            if (known_[i].key == key) {
                return known_[i].field;
            }
        }
        const Known found{key, read(key)};
        if (n_ < known_.size()) {
            known_[n_++] = found;
        }
        return found.field;
    }

  private:
    struct Known {
        PyObject* key; // that lives as long as its job
        Field field;
    };

    static Field read(PyObject* key) {
        const auto name = letters_of(key);
        return !name || *name == "extra_data" ? Field::extra
               : *name == "profile"           ? Field::profile
               : *name == "walltime"          ? Field::walltime
               : *name == "subtime"           ? Field::submit_time
               : *name == "res"               ? Field::n_hosts
                                              : Field::other;
    }

    std::array<Known, 8> known_;
    std::size_t n_ = 0;
};

} // namespace

std::unique_ptr<JobTexts> edc_job_texts(const std::shared_ptr<const JobNames>& names,
                                        nb::dict jobs) {
    auto texts = std::make_unique<EdcJobTexts>(names);
    FieldNames names_of_fields;
    for_each_job(*names, jobs, [&](JobIndex job, PyObject* raw) {
        std::optional<std::string_view> profile;
        std::optional<double> walltime = -1.0;
        std::optional<double> submit_time = not_a_time;
        std::uint32_t n_hosts = 0;
        PyObject* key = nullptr;
        PyObject* value = nullptr;
        Py_ssize_t position = 0;
        while (PyDict_Next(raw, &position, &key, &value) != 0) {
            switch (names_of_fields.field(key)) {
            case FieldNames::Field::profile:
                profile = plain_text(value);
                break;
            case FieldNames::Field::walltime:
                walltime = plain_number(value);
                break;
            case FieldNames::Field::submit_time:
                submit_time = plain_number(value);
                break;
            case FieldNames::Field::n_hosts:
                n_hosts = n_hosts_of(value);
                break;
            case FieldNames::Field::extra:
                return;
            case FieldNames::Field::other:
                break;
            }
        }
        if (!profile || !walltime || !submit_time) {
            return;
        }
        const bool has_owner = profile->find('!') != std::string_view::npos;
        const std::string_view owner = has_owner ? *profile : (*names)[job];
        texts->add(job, {.n_hosts = n_hosts,
                         .walltime = *walltime == -1.0 ? not_a_time : *walltime,
                         .submit_time = *submit_time,
                         .workload = owner.substr(0, owner.find('!')),
                         .profile = profile->substr(has_owner ? profile->rfind('!') + 1 : 0)});
    });
    return texts;
}

std::unique_ptr<JobTexts> batsim4_job_texts(const std::shared_ptr<const JobNames>& names,
                                            nb::dict jobs, nb::object profile_text) {
    return std::make_unique<Batsim4JobTexts>(names, std::move(jobs), std::move(profile_text));
}

} // namespace noctule
