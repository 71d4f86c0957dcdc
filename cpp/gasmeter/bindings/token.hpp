// Token: the argument of a Python handler, and how a handler runs.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "gasmeter/bindings/call.hpp"
#include "gasmeter/bindings/endpoint.hpp"

namespace gasmeter::bindings {

// A token is dead when the handler has returned. On a virtual rank a reply is sent when the handler returns: Python
// takes no virtual time, so that this is the same instant.
class Token {
 public:
  Token(Endpoint& endpoint, run::AnyToken& token);
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;

  [[nodiscard]] std::uint32_t source() const { return source_; }
  [[nodiscard]] bool is_request() const { return is_request_; }
  [[nodiscard]] py::tuple arguments() const { return arguments_; }
  // Return a copy of the payload, made at the first call.
  [[nodiscard]] py::bytes payload();
  // Return the payload itself, read-only, until the handler returns. `self`: the token's object.
  [[nodiscard]] py::object view(const py::object& self);
  // Lend the payload by the buffer protocol, which counts views of views, too. Returns -1 with an exception set.
  int lend(PyObject* self, Py_buffer* view, int flags) noexcept;
  void take_back() { --lent_; }

  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }
  // Return the token. Throws UsageError naming the call once the handler has returned.
  run::AnyToken& live(const char* call);
  // Reply now, or when the handler returns. Returns a new reference: the call's result.
  PyObject* reply(const Arguments& arguments);

  // End the token after its handler has returned: views are taken back. Throws UsageError for views in use.
  void end();
  [[nodiscard]] std::unique_ptr<Call> take_put_off() { return std::move(put_off_); }
  // End it as end() does, for a handler that has already failed.
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
