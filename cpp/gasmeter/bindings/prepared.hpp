// A negotiated-payload message between prepare and commit, as Python sees it.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/run/any_endpoint.hpp"

namespace gasmeter::bindings {

// The buffer is the network's own memory, so that Python must lose it before the network goes on. The array passed to
// Python becomes empty, and a commit is refused while views or memoryviews of it exist.
class Prepared {
 public:
  // `endpoint`: the endpoint's object.
  Prepared(py::object endpoint, std::unique_ptr<run::AnyPrepared> message, bool is_long, void* destination,
           unsigned arguments);
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  // Cancels a message that is still open.
  ~Prepared();

  [[nodiscard]] bool is_open() const { return message_ != nullptr; }
  [[nodiscard]] Bytes size() const { return size_; }
  // Return the buffer. Throws UsageError once the message is committed or cancelled.
  [[nodiscard]] py::object buffer();
  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }
  [[nodiscard]] py::object owner() const { return owner_; }

  // Throw UsageError naming the call unless the message is open, and while views of its buffer live.
  void check(const char* call) const;
  // Return the open message. Touches no Python object.
  [[nodiscard]] run::AnyPrepared& get() { return *message_; }
  [[nodiscard]] core::Message message(const char* call, HandlerIndex handler, Bytes bytes,
                                      std::span<const std::int32_t> words) const;
  // Cancel the message before the endpoint's next operation.
  void drop();
  // Close it after a commit or cancel; with the GIL.
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
  py::object memory_;  // an array to which every view of `array_` refers
  py::object array_;   // the array passed to Python
};

// Make a Prepared of a prepared message; None if the prepare was refused. Returns a new reference.
[[nodiscard]] PyObject* prepared_object(py::object endpoint, std::unique_ptr<run::AnyPrepared> message,
                                        const run::AnyPrepare& what);

}  // namespace gasmeter::bindings
