// The table of contents of noctule._core.
#include "bindings/bindings.hpp"

#include "errors.hpp"

namespace noctule {

void bind_errors(nb::module_&) {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        const auto raise = [](const char* name, const std::exception& error) {
            const nb::object kind = nb::module_::import_("noctule.errors").attr(name);
            PyErr_SetString(kind.ptr(), error.what());
        };
        try {
            std::rethrow_exception(thrown);
        } catch (const InputError& error) {
            raise("InputError", error);
        } catch (const DecisionError& error) {
            raise("DecisionError", error);
        } catch (const DeadlockError& error) {
            raise("DeadlockError", error);
        }
    });
}

} // namespace noctule

NB_MODULE(_core, module) {
    module.doc() = "Noctule's engine.";
    noctule::bind_errors(module);
    noctule::bind_host_set(module);
    noctule::bind_programs(module);
    noctule::bind_job_table(module);
    noctule::bind_swf(module);
    noctule::bind_record(module);
    noctule::bind_summary(module);
    noctule::bind_histories(module);
    noctule::bind_queue_history(module);
    noctule::bind_network(module);
    noctule::bind_machine(module);
    noctule::bind_replay(module);
    noctule::bind_engine(module);
    noctule::bind_native_policy(module);
    noctule::bind_batch(module);
    noctule::bind_shortcut(module);
    noctule::bind_view(module);
    noctule::bind_mpi(module);
    noctule::bind_slurm_accounting(module);
    noctule::bind_slurm(module);
}
