#include "gasmeter/bindings/registration.hpp"

PYBIND11_MODULE(_core, module) {
  using namespace gasmeter::bindings;
  module.doc() = "The compiled core: catalogue, jobs in virtual time, and endpoints of ranks.";
  register_errors();
  register_catalogue(module);
  register_model_job(module);
  register_token(module);
  register_event(module);
  register_endpoint(module);
  register_prepared(module);
  register_atomic_domain(module);
  register_team(module);
  register_shared_space(module);
  register_operation(module);
  register_operations(module);
  register_strided(module);
  register_rank(module);
  register_program_job(module);
}
