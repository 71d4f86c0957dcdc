// C++ exceptions keep their names in Python: the classes are those of gasmeter.errors.
#include <exception>
#include <new>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/errors.hpp"
#include "gasmeter/bindings/registration.hpp"
#include "gasmeter/launch/error_name.hpp"

namespace gasmeter::bindings {
namespace {

void set_error(const Error& error) {
  const std::string name(launch::error_name(error));
  py::set_error(py::module_::import("gasmeter.errors").attr(name.c_str()), error.what());
}

void translate(std::exception_ptr pointer) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    set_error(error);
  }
}

}  // namespace

void set_current_exception() noexcept {
  try {
    try {
      throw;
    } catch (const Error& error) {
      set_error(error);
    } catch (py::error_already_set& error) {
      error.restore();
    } catch (const py::builtin_exception& error) {
      error.set_error();
    } catch (const std::bad_alloc&) {
      PyErr_NoMemory();
    }
  } catch (py::error_already_set& error) {  // the import failed
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

void register_errors() {
  py::register_exception_translator(&translate);
}

}  // namespace gasmeter::bindings
