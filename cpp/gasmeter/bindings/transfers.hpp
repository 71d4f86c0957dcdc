// put, get, put_value, get_value: methods of Endpoint that cost hardly more than the call.
#pragma once

#include <pybind11/pybind11.h>

namespace gasmeter::bindings {

void add_transfers(pybind11::handle endpoint_type);

}  // namespace gasmeter::bindings
