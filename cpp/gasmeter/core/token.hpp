// A handler's view of its message.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "gasmeter/base/status.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/core/event.hpp"
#include "gasmeter/core/message.hpp"

namespace gasmeter::core {

template <class H>
class Endpoint;
template <class H>
class Prepared;
template <class H>
class SlowHandlers;
template <class H>
struct HandlerEntry;

// The token is valid inside the handler only. A request handler may reply at most once, to the requester. A reply
// handler must not communicate. Neither may poll or wait.
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
  [[nodiscard]] conduit::Category category() const { return message_.category; }
  [[nodiscard]] bool is_long() const { return message_.category == conduit::Category::long_message; }
  [[nodiscard]] HandlerIndex handler() const { return message_.handler; }
  [[nodiscard]] std::int32_t argument(std::size_t i) const { return message_.arguments[i]; }
  [[nodiscard]] std::span<const std::int32_t> arguments() const { return message_.arguments; }
  // Return the payload. Medium: a library buffer, aligned for any type, that the handler may change and that is valid
  // until it returns. Long: the destination exactly as the sender gave it. Short: null.
  [[nodiscard]] void* payload() const { return message_.payload; }
  [[nodiscard]] Bytes size() const { return message_.size; }
  [[nodiscard]] void* context() const { return context_; }
  template <class T>
  [[nodiscard]] T& context_as() const {
    return *static_cast<T*>(context_);
  }

  // Return the handler's registration; null for the library's handler of unregistered indices.
  [[nodiscard]] const HandlerEntry<H>* entry() const;

  // Return the largest payload of a reply to this request.
  [[nodiscard]] Bytes max_reply_medium(unsigned arguments = conduit::kMaxArguments, Flags flags = Flags::none) const;
  [[nodiscard]] Bytes max_reply_long(unsigned arguments = conduit::kMaxArguments, Flags flags = Flags::none) const;

  // Send a reply. With Flags::immediate it may be refused; another may then be tried.
  template <std::convertible_to<std::int32_t>... Args>
  Status reply_short(HandlerIndex handler, Args... arguments) {
    return reply_short(handler, Flags::none, arguments...);
  }
  template <std::convertible_to<std::int32_t>... Args>
  Status reply_short(HandlerIndex handler, Flags flags, Args... arguments);
  template <std::convertible_to<std::int32_t>... Args>
  Status reply_medium(HandlerIndex handler, const void* from, Bytes bytes, Args... arguments) {
    return reply_medium(handler, from, bytes, Flags::none, arguments...);
  }
  template <std::convertible_to<std::int32_t>... Args>
  Status reply_medium(HandlerIndex handler, const void* from, Bytes bytes, Flags flags, Args... arguments);
  // `to` is an address in the requester's segment.
  template <std::convertible_to<std::int32_t>... Args>
  Status reply_long(HandlerIndex handler, const void* from, Bytes bytes, void* to, Args... arguments) {
    return reply_long(handler, from, bytes, to, Flags::none, arguments...);
  }
  template <std::convertible_to<std::int32_t>... Args>
  Status reply_long(HandlerIndex handler, const void* from, Bytes bytes, void* to, Flags flags, Args... arguments);

  // Send a reply of any category, out of line: message.hpp.
  Status reply(const Message& message, Flags flags);

  // Send a reply with a choice of local completion (now or event; not group). core/negotiated.hpp must be included.
  template <std::convertible_to<std::int32_t>... Args>
  Status reply_medium(HandlerIndex handler, const void* from, Bytes bytes, LocalCompletion local, Flags flags,
                      Args... arguments);
  template <std::convertible_to<std::int32_t>... Args>
  Status reply_long(HandlerIndex handler, const void* from, Bytes bytes, void* to, LocalCompletion local, Flags flags,
                    Args... arguments);

  // Negotiated payload: see Endpoint::prepare_medium and core/negotiated.hpp, which must be included.
  [[nodiscard]] Prepared<H> prepare_medium(const void* client, Bytes least, Bytes most, unsigned arguments,
                                           LocalCompletion local = LocalCompletion::now(), Flags flags = Flags::none);
  [[nodiscard]] Prepared<H> prepare_long(const void* client, Bytes least, Bytes most, void* destination,
                                         unsigned arguments, LocalCompletion local = LocalCompletion::now(),
                                         Flags flags = Flags::none);

 private:
  friend class Endpoint<H>;
  friend class Prepared<H>;
  friend class SlowHandlers<H>;
  void take_reply(const char* call);
  [[noreturn]] void refuse_reply(const char* call) const;

  Endpoint<H>& endpoint_;
  const conduit::AmView& message_;
  void* context_;
  bool replied_ = false;
};

}  // namespace gasmeter::core
