// A non-blocking operation as Python sees it.
#pragma once

#include <memory>
#include <vector>

#include "gasmeter/bindings/buffer.hpp"
#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/core/event.hpp"

namespace gasmeter::bindings {

// Keeps its endpoint, and the operation's memory until the operation is complete.
class Event {
 public:
  Event(py::object endpoint, core::Event event, Buffer buffer = {}, std::vector<Buffer> more = {})
      : endpoint_(py::cast<Endpoint*>(endpoint)),
        owner_(std::move(endpoint)),
        event_(event),
        buffer_(std::move(buffer)),
        more_(std::move(more)) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  // An operation that was never waited for may still use its memory, which is then never freed.
  ~Event() {
    if (event_.is_done()) return;
    static_cast<void>(new Buffer(std::move(buffer_)));
    static_cast<void>(new std::vector<Buffer>(std::move(more_)));
    static_cast<void>(result_.release());
  }

  [[nodiscard]] core::Event& get() { return event_; }
  [[nodiscard]] Endpoint& endpoint() { return *endpoint_; }
  [[nodiscard]] py::object owner() const { return owner_; }

  // Set where the result of a fetching atomic operation goes.
  void set_result(std::unique_ptr<std::uint64_t> result, core::atomics::ValueType type) {
    result_ = std::move(result);
    type_ = type;
  }
  // Return the result. Throws UsageError before the operation is complete.
  [[nodiscard]] py::object value() const;

  // Give back the memory of a complete operation, with the GIL.
  void finish() {
    event_ = core::Event::done();
    buffer_ = Buffer();
    more_.clear();
  }

 private:
  Endpoint* endpoint_;
  py::object owner_;
  core::Event event_;
  Buffer buffer_;
  std::vector<Buffer> more_;
  std::unique_ptr<std::uint64_t> result_;
  core::atomics::ValueType type_{};
};

}  // namespace gasmeter::bindings
