// A non-blocking operation as Python sees it.
#pragma once

#include <memory>
#include <vector>

#include "gasmeter/bindings/buffer.hpp"
#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/core/event.hpp"

namespace gasmeter::bindings {

// Keeps the operation's memory until it is complete, and its endpoint.
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
  // An operation that nobody waited for may still use its memory: that is then never freed.
  ~Event() {
    if (event_.is_done()) return;
    static_cast<void>(new Buffer(std::move(buffer_)));
    static_cast<void>(new std::vector<Buffer>(std::move(more_)));
    static_cast<void>(result_.release());
  }

  [[nodiscard]] core::Event& get() { return event_; }
  [[nodiscard]] Endpoint& endpoint() { return *endpoint_; }
  [[nodiscard]] py::object owner() const { return owner_; }

  // Of a fetching atomic operation: where its result goes.
  void set_result(std::unique_ptr<std::uint64_t> result, core::atomics::ValueType type) {
    result_ = std::move(result);
    type_ = type;
  }
  // Throws UsageError before it is complete.
  [[nodiscard]] py::object value() const;

  // With the GIL, once it is complete: gives back its memory.
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
