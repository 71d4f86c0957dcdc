#include "gasmeter/bindings/fast_method.hpp"

#include "gasmeter/base/error.hpp"

namespace gasmeter::bindings {

void refuse_integer(const char* call, const char* what, PyObject* value) {
  const bool too_large = PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
  PyErr_Clear();
  if (too_large) {
    throw UsageError(std::string(call) + ": " + what + " " + py::repr(value).cast<std::string>() +
                     " is outside 64 bits (-2^63..2^63-1)");
  }
  throw py::type_error(std::string(call) + ": " + what + " must be a whole number, not " + Py_TYPE(value)->tp_name);
}

}  // namespace gasmeter::bindings
