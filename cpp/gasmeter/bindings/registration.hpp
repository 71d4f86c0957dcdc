// Register functions, one per topic, each in the file of its name.
#pragma once

#include <pybind11/pybind11.h>

namespace gasmeter::bindings {

namespace py = pybind11;

void register_errors();
void register_catalogue(py::module_& module);
void register_model_job(py::module_& module);
void register_token(py::module_& module);
void register_event(py::module_& module);
void register_endpoint(py::module_& module);
void register_rank(py::module_& module);
void register_prepared(py::module_& module);
void register_atomic_domain(py::module_& module);
void register_team(py::module_& module);
void register_shared_space(py::module_& module);
void register_operation(py::module_& module);
void register_operations(py::module_& module);
void register_program_job(py::module_& module);
void register_strided(py::module_& module);

}  // namespace gasmeter::bindings
