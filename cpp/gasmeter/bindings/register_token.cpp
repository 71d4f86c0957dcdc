#include "gasmeter/bindings/fast_method.hpp"
#include "gasmeter/bindings/registration.hpp"
#include "gasmeter/bindings/token.hpp"

namespace gasmeter::bindings {
namespace {

PyMethodDef reply_method = keyword_method("reply", &token_reply, R"(reply($self, handler, payload=b'', *args, flags=0)
--

Answer a request, at most once, from within its handler.

Parameters
----------
handler : int
    Index of the handler to run at the requester.
payload : buffer
    Contiguous bytes, at most `Endpoint.max_medium`; none makes the reply a Short.
*args : int
    At most 16 whole numbers of 32 bits.
flags : int, default 0
    `gasmeter.IMMEDIATE`: be refused instead of waiting; in virtual time in handlers that are generators only.

Returns
-------
bool or None
    With `gasmeter.IMMEDIATE` whether it was sent, else None.

Raises
------
gasmeter.UsageError
    For a second reply, a reply to a reply, outside the handler, or values that are not allowed.
)");

PyMethodDef prepare_method =
    keyword_method("prepare", &token_prepare, R"(prepare($self, least, most, args=0, offset=None, *, flags=0)
--

Prepare the reply to a request; see `Endpoint.prepare`. It is committed or cancelled before the handler returns.

Parameters
----------
least, most, args, offset, flags
    As `Endpoint.prepare`; `offset` is in the requester's segment.

Returns
-------
Prepared or None
    None: refused (`gasmeter.IMMEDIATE` only).

Raises
------
gasmeter.UsageError
    As `reply`; in virtual time also in a handler that is no generator.
)");

// Views of the payload are borrowed from the token.
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
  add_fast_method(type, reply_method);
  add_fast_method(type, prepare_method);
}

}  // namespace gasmeter::bindings
