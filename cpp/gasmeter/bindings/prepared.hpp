// A negotiated-payload message between prepare and commit, as Python sees it.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/run/any_endpoint.hpp"

namespace gasmeter::bindings {

// Its buffer is the network's own memory, so it must be gone from Python's hands before the network goes on: the array
// that was handed out becomes empty, and a commit is refused while there are views or memoryviews of it.
class Prepared {
 public:
  // `endpoint`: its object.
  Prepared(py::object endpoint, std::unique_ptr<run::AnyPrepared> message, bool is_long, void* destination,
           unsigned arguments);
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  // What is still open is cancelled.
  ~Prepared();

  [[nodiscard]] bool is_open() const { return message_ != nullptr; }
  [[nodiscard]] Bytes size() const { return size_; }
  // Throws UsageError once it is committed or cancelled.
  [[nodiscard]] py::object buffer();
  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }
  [[nodiscard]] py::object owner() const { return owner_; }

  // Throws UsageError naming the call unless it is open, and while views of its buffer live.
  void check(const char* call) const;
  // Touches nothing of Python's. It is open.
  [[nodiscard]] run::AnyPrepared& get() { return *message_; }
  [[nodiscard]] core::Message message(const char* call, HandlerIndex handler, Bytes bytes,
                                      std::span<const std::int32_t> words) const;
  // Cancels it before the endpoint's next operation.
  void drop();
  // After a commit or cancel: with the GIL.
  void close();

 private:
  void check_views(const char* call) const;
  void empty_array();

  py::object owner_;
  Endpoint& endpoint_;
  std::unique_ptr<run::AnyPrepared> message_;
  Bytes size_;
  bool is_long_;
  void* destination_;
  unsigned arguments_;
  py::object memory_;  // an array that every view of the one below refers to
  py::object array_;   // what Python is handed
};

// Makes a Prepared of what an operation prepared; None if that was refused. A new reference.
[[nodiscard]] PyObject* prepared_object(py::object endpoint, std::unique_ptr<run::AnyPrepared> message,
                                        const run::AnyPrepare& what);

}  // namespace gasmeter::bindings
