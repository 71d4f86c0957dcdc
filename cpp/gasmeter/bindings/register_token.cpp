#include "gasmeter/bindings/buffer.hpp"
#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/bindings/registration.hpp"

namespace gasmeter::bindings {

void register_token(py::module_& module) {
  using namespace py::literals;
  py::class_<Token>(module, "Token", "What a handler is given: the message it runs for. Valid inside the handler only.")
      .def_property_readonly("source", &Token::source, "Rank that sent the message (int).")
      .def_property_readonly("is_request", &Token::is_request, "Whether the handler may reply (bool).")
      .def_property_readonly("args", &Token::arguments, "The arguments (tuple of 0 to 16 int of 32 bits).")
      .def_property_readonly("payload", &Token::payload, "A copy of the payload (bytes, empty for a Short).")
      .def(
          "reply",
          [](Token& token, std::int64_t handler, py::object payload, const py::args& arguments) {
            const Buffer buffer("reply", payload, Access::read);
            token.reply(Message("reply", handler, {buffer.data(), buffer.size()}, arguments));
          },
          "handler"_a, "payload"_a = py::bytes(), R"(Answer a request, at most once, from within its handler.

Parameters
----------
handler : int
    Index of the handler to run at the requester.
payload : buffer
    Contiguous bytes, at most `Endpoint.max_medium`; none makes the reply a Short.
*args : int
    At most 16 whole numbers of 32 bits.

Raises
------
gasmeter.UsageError
    For a second reply, a reply to a reply, outside the handler, or values that are not allowed.
)");
}

}  // namespace gasmeter::bindings
