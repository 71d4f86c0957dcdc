#include "gasmeter/bindings/operation_methods.hpp"
#include "gasmeter/bindings/registration.hpp"
#include "gasmeter/bindings/token.hpp"

namespace gasmeter::bindings {
namespace {

// Let the token lend views of its payload.
void lend_payload(PyHeapTypeObject* heap_type) {
  heap_type->as_buffer.bf_getbuffer = [](PyObject* self, Py_buffer* view, int flags) {
    return object_of<Token>(self).lend(self, view, flags);
  };
  heap_type->as_buffer.bf_releasebuffer = [](PyObject* self, Py_buffer*) { object_of<Token>(self).take_back(); };
  heap_type->ht_type.tp_as_buffer = &heap_type->as_buffer;
}

}  // namespace

void register_token(py::module_& module) {
  py::class_<Token> type(module, "Token", py::custom_type_setup(&lend_payload),
                         "What a handler is given: the message it runs for. Valid inside the handler only.");
  type.def_property_readonly("source", &Token::source, "Rank that sent the message (int).")
      .def_property_readonly("is_request", &Token::is_request, "Whether the handler may reply (bool).")
      .def_property_readonly("args", &Token::arguments, "The arguments (tuple of 0 to 16 int of 32 bits).")
      .def_property_readonly("payload", &Token::payload, "A copy of the payload (bytes, empty for a Short).")
      .def_property_readonly(
          "view", [](const py::object& self) { return self.cast<Token&>().view(self); },
          R"(The payload itself, without a copy (read-only memoryview of bytes).

It is released when the handler returns: using it later is a ValueError, and an array made of it that is still in use
then is an error of the handler.)");
  add_operations(type, Object::token);
}

}  // namespace gasmeter::bindings
