// A non-blocking operation as Python sees it.
#pragma once

#include "gasmeter/bindings/buffer.hpp"
#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/core/event.hpp"

namespace gasmeter::bindings {

// Keeps the operation's memory until it is complete. The endpoint must outlive it.
class Event {
 public:
  Event(Endpoint& endpoint, core::Event event, Buffer buffer)
      : endpoint_(&endpoint), event_(event), buffer_(std::move(buffer)) {}
  Event(Event&&) = default;
  Event& operator=(Event&&) = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  // An operation that nobody waited for may still use its memory: that is then never freed.
  ~Event() {
    if (!event_.is_done()) static_cast<void>(new Buffer(std::move(buffer_)));
  }

  bool test() {
    if (!event_.is_done() && !endpoint_->test(event_)) return false;
    finish();
    return true;
  }
  void wait() {
    if (!event_.is_done()) endpoint_->wait(event_);
    finish();
  }

 private:
  void finish() {
    event_ = core::Event::done();
    buffer_ = Buffer();
  }

  Endpoint* endpoint_;
  core::Event event_;
  Buffer buffer_;
};

}  // namespace gasmeter::bindings
