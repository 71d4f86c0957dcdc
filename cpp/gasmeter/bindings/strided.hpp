// put_strided, get_strided: transfers that NumPy arrays describe by their own strides; RemoteArray describes the side
// that no array of this process can.
#pragma once

#include <pybind11/pybind11.h>

namespace gasmeter::bindings {

void register_strided(pybind11::module_& module, pybind11::handle endpoint_type);

}  // namespace gasmeter::bindings
