// The shortcut around schedulers in Python that speak Batsim's protocols.
#include "bindings/python_job_texts.hpp"
#include "bindings/view.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace noctule {

namespace {

// A function of Python from bytes to bytes.
class PythonChannel : public Channel {
  public:
    explicit PythonChannel(nb::object ask) : ask_(std::move(ask)) {}

    Answer ask(TextBuffer& message) override {
        reply_ = ask_(nb::bytes(message.view().data(), message.size()));
        char* text = nullptr;
        Py_ssize_t size = 0;
        if (PyBytes_AsStringAndSize(reply_.ptr(), &text, &size) != 0) {
            nb::raise_python_error();
        }
        return {0, text, static_cast<std::size_t>(size)};
    }

    bool needs_lock() const override { return true; }

  private:
    nb::object ask_;
    nb::object reply_;
};

} // namespace

// A shortcut of one view, and of no other.
struct BoundShortcut {
    nb::object view;
    std::unique_ptr<SchedulerShortcut> shortcut;
};

Shortcut* shortcut_of(nb::handle view, nb::handle shortcut) {
    BoundShortcut* bound = nullptr;
    const bool is_one = shortcut.is_valid() && nb::try_cast(shortcut, bound) && bound != nullptr;
    return is_one && bound->view.is(view) ? bound->shortcut.get() : nullptr;
}

namespace {

std::unique_ptr<Channel> channel_of(nb::handle channel) {
    if (nb::isinstance<nb::int_>(channel)) {
        const auto address = nb::cast<std::uintptr_t>(channel);
        return std::make_unique<LibraryChannel>(
            reinterpret_cast<LibraryChannel::Function>(address));
    }
    return std::make_unique<PythonChannel>(nb::borrow(channel));
}

BoundShortcut make_shortcut(nb::object view_object, nb::typed<nb::dict, nb::str, nb::any> jobs,
                            nb::object channel, bool is_batsim4, bool exact_dates, bool hosts_sleep,
                            HostId n_resources, std::size_t longest, nb::object profile_text,
                            nb::typed<nb::list, ViewJob> named) {
    PythonView* view = nb::cast<PythonView*>(view_object);
    const JobTable& table = view->engine().table();
    const bool has_names = table.numbers.empty();
    const auto names = std::make_shared<const JobNames>(
        std::span(table.names).first(has_names ? view->n_static_jobs() : 0));
    auto texts =
        is_batsim4 ? batsim4_job_texts(names, jobs, profile_text) : edc_job_texts(names, jobs);
    const auto new_tag = [view, n = 0]() mutable {
        return view->tag_of(nb::str(("shortcut " + std::to_string(++n)).c_str()));
    };
    auto shortcut = std::make_unique<SchedulerShortcut>(
        SchedulerShortcut::Rules{is_batsim4, exact_dates, hosts_sleep, n_resources, longest}, names,
        std::move(texts), channel_of(channel), new_tag);
    for (const nb::handle job_id : named) {
        const JobIndex job = view->find(job_id, "Shortcut");
        if (job < names->size()) {
            shortcut->add_named(job);
        }
    }
    return {view_object, std::move(shortcut)};
}

nb::list ids_of(const SchedulerShortcut& shortcut, const std::vector<JobIndex>& jobs) {
    nb::list ids;
    for (const JobIndex job : jobs) {
        const std::string_view name = shortcut.names()[job];
        ids.append(nb::str(name.data(), name.size()));
    }
    return ids;
}

nb::object answer_of(SchedulerShortcut& shortcut) {
    const auto answer = shortcut.take_answer();
    if (!answer) {
        return nb::none();
    }
    if (shortcut.needs_lock()) {
        return nb::bytes(answer->text, answer->size);
    }
    return nb::make_tuple(answer->code, reinterpret_cast<std::uintptr_t>(answer->text),
                          answer->size);
}

} // namespace

void bind_shortcut(nb::module_& module) {
    nb::class_<BoundShortcut>(module, "Shortcut",
                              "Decides in place of a scheduler where only the usual is said.")
        .def(nb::new_(&make_shortcut), nb::arg("view"), nb::arg("jobs"), nb::arg("channel"),
             nb::kw_only(), nb::arg("is_batsim4"), nb::arg("exact_dates"), nb::arg("hosts_sleep"),
             nb::arg("n_resources"), nb::arg("longest"), nb::arg("profile_text").none(),
             nb::arg("named"))
        .def_prop_ro("n_messages", [](const BoundShortcut& s) { return s.shortcut->n_messages(); })
        .def_prop_ro("seconds", [](const BoundShortcut& s) { return s.shortcut->seconds(); })
        .def(
            "take_journal",
            [](BoundShortcut& s) {
                const Journal journal = s.shortcut->take_journal();
                return nb::make_tuple(ids_of(*s.shortcut, journal.told),
                                      ids_of(*s.shortcut, journal.rejected),
                                      ids_of(*s.shortcut, journal.ended));
            },
            nb::sig("def take_journal(self) -> tuple[list[str], list[str], list[str]]"),
            "Return the ids of jobs that were told, rejected, and told to have ended, since.")
        .def(
            "take_answer", [](BoundShortcut& s) { return answer_of(*s.shortcut); },
            nb::sig("def take_answer(self) -> bytes | tuple[int, int, int] | None"),
            "Return the answer to what was told of this instant, if that is still to be read: of a "
            "library its code, the address of its text and how long that is.")
        .def(
            "take_started",
            [](BoundShortcut& s) { return ids_of(*s.shortcut, s.shortcut->take_started()); },
            nb::sig("def take_started(self) -> list[str]"),
            "Return the ids of jobs that were started since, in order.")
        .def(
            "allocations",
            [](BoundShortcut& s) {
                nb::dict found;
                for (const auto& [job, hosts] : s.shortcut->allocations()) {
                    found[ids_of(*s.shortcut, {job})[0]] = nb::cast(hosts);
                }
                return found;
            },
            nb::sig("def allocations(self) -> dict[str, HostSet]"),
            "Return the hosts of the jobs that were started here and have not ended.")
        .def(
            "drop_named",
            [](BoundShortcut& s, const std::string& job_id) { s.shortcut->drop_named(job_id); },
            nb::arg("job_id"), "Hear that a job can no longer be named.");
}

} // namespace noctule
