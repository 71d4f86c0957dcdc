// What a handler sees of the message it runs for.
#pragma once

#include <cstdint>
#include <span>

#include "gasmeter/base/status.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/core/event.hpp"

namespace gasmeter::core {

template <class H>
class Endpoint;

// Valid inside the handler only. A request handler may reply at most once, to the requester; a reply handler may not
// communicate. Neither may poll or wait.
template <class H>
class Token {
 public:
  Token(Endpoint<H>& endpoint, const conduit::AmView& message, void* context)
      : endpoint_(endpoint), message_(message), context_(context) {}
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;

  [[nodiscard]] Endpoint<H>& endpoint() { return endpoint_; }
  [[nodiscard]] Rank source() const { return message_.source; }
  [[nodiscard]] bool is_request() const { return message_.is_request; }
  [[nodiscard]] bool is_long() const { return message_.category == conduit::Category::long_message; }
  [[nodiscard]] HandlerIndex handler() const { return message_.handler; }
  [[nodiscard]] std::int32_t argument(std::size_t i) const { return message_.arguments[i]; }
  [[nodiscard]] std::span<const std::int32_t> arguments() const { return message_.arguments; }
  // Medium: a library buffer, aligned for any type, that the handler may change and that dies with it.
  // Long: the destination exactly as the sender gave it. Short: null.
  [[nodiscard]] void* payload() const { return message_.payload; }
  [[nodiscard]] Bytes size() const { return message_.size; }
  [[nodiscard]] void* context() const { return context_; }
  template <class T>
  [[nodiscard]] T& context_as() const {
    return *static_cast<T*>(context_);
  }

  template <class... Args>
  Status reply_short(HandlerIndex handler, Args... arguments);
  template <class... Args>
  Status reply_medium(HandlerIndex handler, const void* from, Bytes bytes, Args... arguments);
  // `to`: address in the requester's segment.
  template <class... Args>
  Status reply_long(HandlerIndex handler, const void* from, Bytes bytes, void* to, Args... arguments);

 private:
  friend class Endpoint<H>;
  void take_reply();

  Endpoint<H>& endpoint_;
  const conduit::AmView& message_;
  void* context_;
  bool replied_ = false;
};

}  // namespace gasmeter::core
