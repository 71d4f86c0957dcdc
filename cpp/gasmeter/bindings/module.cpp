#include "gasmeter/bindings/registration.hpp"

PYBIND11_MODULE(_core, module) {
  using namespace gasmeter::bindings;
  module.doc() = "The compiled core: catalogue, jobs in virtual time, and a rank's endpoint.";
  register_errors();
  register_catalogue(module);
  register_model_job(module);
  register_token(module);
  register_event(module);
  register_endpoint(module);
  register_rank(module);
}
