// How jobs are told, by the objects of their files: dicts, of which the usual ones are understood.
#pragma once

#include "bindings/bindings.hpp"
#include "protocol/edc_job_texts.hpp"

namespace noctule {

// For protocol 5: what is needed is copied, so that Python can be left alone afterwards.
std::unique_ptr<JobTexts> edc_job_texts(const std::shared_ptr<const JobNames>& names,
                                        nb::dict jobs);

// For protocol 4, which has all fields of a job; `profile_text(job_id)` gives that of its profile,
// or is None if those are not told.
std::unique_ptr<JobTexts> batsim4_job_texts(const std::shared_ptr<const JobNames>& names,
                                            nb::dict jobs, nb::object profile_text);

} // namespace noctule
