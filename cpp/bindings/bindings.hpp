// The files of this folder are the only ones that know Python.
#pragma once

#include "engine.hpp"
#include "errors.hpp"
#include "order.hpp"
#include "policy.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

namespace noctule {

namespace nb = nanobind;

template <typename T> using Column = nb::ndarray<nb::numpy, const T, nb::ndim<1>>;

// A read-only NumPy column over memory of `owner`, which it keeps alive; nothing is copied.
template <typename T>
Column<T> column_of(const T* data, std::size_t size, nb::handle owner, std::int64_t stride = 1) {
    const std::size_t shape[1] = {size};
    const std::int64_t strides[1] = {stride};
    return Column<T>(data, 1, shape, owner, strides);
}

template <typename Array> auto column_of(const Array& values, nb::handle owner) {
    return column_of(values.data(), values.size(), owner);
}

// A NumPy column that owns its values.
template <typename T> Column<T> own_column(std::vector<T>&& values) {
    auto kept = std::make_unique<std::vector<T>>(std::move(values));
    const std::vector<T>& column = *kept;
    const nb::capsule owner(
        kept.release(), [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); });
    return column_of(column, owner);
}

// A NumPy column as it comes in, and its values, of which there must be n.
template <typename T>
using Values = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T> std::span<const T> span_of(const Values<T>& values, std::size_t n) {
    if (values.shape(0) != n) {
        throw std::invalid_argument("columns of different lengths");
    }
    return {values.data(), n};
}

// An engine that tells other threads not to look while a native policy runs without the GIL.
class BoundEngine : public Engine {
  public:
    using Engine::Engine;

    class NativeRun {
      public:
        explicit NativeRun(BoundEngine& engine) : engine_(engine) {
            engine.running_natively_ = true;
        }
        ~NativeRun() { engine_.running_natively_ = false; }
        NativeRun(const NativeRun&) = delete;

      private:
        BoundEngine& engine_;
    };

    const void* served_by = nullptr; // the native policy of this run

    BoundEngine& at_rest() {
        if (running_natively_) {
            throw std::runtime_error("the simulation is running in another thread");
        }
        return *this;
    }

  private:
    bool running_natively_ = false; // read and written with the GIL held
};

// A policy remembers its run, so it cannot serve two.
struct NativePolicy {
    std::unique_ptr<Policy> policy;
    std::function<std::unique_ptr<Policy>(Absences)> made_for;
    bool used = false;

    Policy& serving(BoundEngine& engine) {
        if (used && engine.served_by != this) {
            throw InputError("policy: got a native policy that has decided for another simulation, "
                             "expected a new one");
        }
        if (!used && engine.absences() != Absences::none) {
            policy = made_for(engine.absences());
        }
        engine.served_by = this;
        used = true;
        return *policy;
    }
};

// The machine that a run is to make for itself.
struct MachineSetup {
    std::shared_ptr<const MachinePlan> plan;
    std::uint32_t n_storages;
    MachineOptions options;
    bool report_ranks;
    bool has_latency;
    bool is_book; // of power, as jobs need no more
};

// A job's id as the user wrote it: an int or a str.
nb::object id_object(const JobTable& table, JobIndex job);

void bind_errors(nb::module_& module);
void bind_host_set(nb::module_& module);
void bind_programs(nb::module_& module);
void bind_job_table(nb::module_& module);
void bind_swf(nb::module_& module);
void bind_record(nb::module_& module);
void bind_summary(nb::module_& module);
void bind_histories(nb::module_& module);
void bind_queue_history(nb::module_& module);
void bind_network(nb::module_& module);
void bind_batch(nb::module_& module);
void bind_machine(nb::module_& module);
void bind_replay(nb::module_& module);
void bind_engine(nb::module_& module);
void bind_native_policy(nb::module_& module);
void bind_view(nb::module_& module);
void bind_shortcut(nb::module_& module);
void bind_mpi(nb::module_& module);
void bind_slurm(nb::module_& module);
void bind_slurm_accounting(nb::module_& module);

} // namespace noctule
