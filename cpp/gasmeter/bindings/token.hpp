// What a Python handler is given, and how one is run.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "gasmeter/bindings/call.hpp"
#include "gasmeter/bindings/endpoint.hpp"

namespace gasmeter::bindings {

// Dead when the handler has returned. On a virtual rank a reply is sent when the handler returns: Python takes no
// virtual time, so that this is the same instant.
class Token {
 public:
  Token(Endpoint& endpoint, run::AnyToken& token);
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;

  [[nodiscard]] std::uint32_t source() const { return source_; }
  [[nodiscard]] bool is_request() const { return is_request_; }
  [[nodiscard]] py::tuple arguments() const { return arguments_; }
  // A copy, made when it is first asked for.
  [[nodiscard]] py::bytes payload();
  // The payload itself, read-only, until the handler returns. `self`: the token's object.
  [[nodiscard]] py::object view(const py::object& self);
  // The buffer protocol, by which views of views are counted, too. With an exception set: -1.
  int lend(PyObject* self, Py_buffer* view, int flags) noexcept;
  void take_back() { --lent_; }

  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }
  // Throws UsageError naming the call once the handler has returned.
  run::AnyToken& live(const char* call);
  // Now, or when the handler returns. A new reference: what the call returns.
  PyObject* reply(const Arguments& arguments);

  // The handler has returned: views are taken back. Throws UsageError for those that are in use.
  void end();
  [[nodiscard]] std::unique_ptr<Call> take_put_off() { return std::move(put_off_); }
  // As end(), for a handler that has failed already.
  void kill() noexcept;

 private:
  Endpoint& endpoint_;
  run::AnyToken* token_;
  std::uint32_t source_;
  bool is_request_;
  py::tuple arguments_;
  py::object payload_;
  py::object view_;  // refers to the token's object, until the end
  int lent_ = 0;
  std::unique_ptr<Call> put_off_;
};

}  // namespace gasmeter::bindings
