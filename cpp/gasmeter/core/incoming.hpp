// Checks of a message by the library's handlers, before they touch memory, in all builds: peers may send anything. A
// message that fails ends the job with a line that names both ranks, the handler and the error.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/internals.hpp"
#include "gasmeter/core/landing_table.hpp"

namespace gasmeter::core {

template <class H>
class Incoming {
 public:
  explicit Incoming(Token<H>& token) : token_(token) {}

  enum class Sent : std::uint8_t { request, reply };

  GASMETER_INLINE void expect(bool holds, const char* otherwise) const {
    if (GASMETER_UNLIKELY(!holds)) refuse(otherwise);
  }
  // Check category, direction and number of arguments. Afterwards arguments and payload may be read.
  GASMETER_INLINE void expect_form(Category category, Sent sent, std::size_t arguments) const {
    expect(token_.category() == category, "it is of another category than this handler's messages");
    expect(token_.is_request() == (sent == Sent::request), "a request where a reply belongs, or the reverse");
    expect(token_.arguments().size() == arguments, "another number of arguments than this handler's messages have");
  }
  // Check memory that a peer may name.
  GASMETER_INLINE void expect_in_segment(const void* at, Bytes bytes) const {
    expect(token_.endpoint().segment().holds(at, bytes), "it names memory outside this rank's segment");
  }

  [[nodiscard]] std::uint32_t word(std::size_t i) const { return static_cast<std::uint32_t>(token_.argument(i)); }
  [[nodiscard]] std::uint64_t wide(std::size_t i) const { return word(i) | std::uint64_t{word(i + 1)} << 32; }
  [[nodiscard]] std::byte* address(std::size_t i) const { return reinterpret_cast<std::byte*>(wide(i)); }

  // Complete a part of this rank's operation, which the first argument names. Throw if the peer owes it no answer.
  void complete_operation() const {
    Endpoint<H>& endpoint = token_.endpoint();
    bool is_owed = false;
    {
      const std::lock_guard guard(internals(endpoint).operations_lock());
      is_owed = internals(endpoint).operations().answered(OperationId{word(0)}, token_.source());
    }
    expect(is_owed, "it answers an operation that awaits nothing from this peer");
  }
  // Take the place that this rank gave to the request; the second and third argument name it. Throw unless the place
  // awaits `bytes` bytes.
  [[nodiscard]] void* claim_landing(Bytes bytes) const {
    Endpoint<H>& endpoint = token_.endpoint();
    std::optional<void*> at;
    {
      const std::lock_guard guard(internals(endpoint).operations_lock());
      at = internals(endpoint).landings().claim(
          {word(1), word(2)}, {nullptr, bytes, OperationId{word(0)}, token_.source(), token_.handler()});
    }
    expect(at.has_value(), "it answers a request that awaits nothing like it from this peer");
    return *at;
  }

  [[noreturn]] GASMETER_NOINLINE void refuse(const std::string& why) const {
    const HandlerEntry<H>* const entry = token_.entry();
    throw UsageError("rank " + std::to_string(index(token_.endpoint().rank())) + ": message from rank " +
                     std::to_string(index(token_.source())) + " for handler " +
                     std::to_string(index(token_.handler())) + (entry != nullptr ? " '" : "") +
                     (entry != nullptr ? entry->name : "") + (entry != nullptr ? "'" : "") + ": " + why);
  }

 private:
  Token<H>& token_;
};

// Place in the landing table for a reply, opened by the requesting side. The destructor closes it if the request was
// not sent.
template <class H>
class AwaitedData {
 public:
  AwaitedData(Endpoint<H>& endpoint, const Landing& landing) : endpoint_(endpoint) {
    const std::lock_guard guard(internals(endpoint_).operations_lock());
    id_ = internals(endpoint_).landings().open(landing);
  }
  AwaitedData(const AwaitedData&) = delete;
  AwaitedData& operator=(const AwaitedData&) = delete;
  ~AwaitedData() {
    if (is_sent_) return;
    const std::lock_guard guard(internals(endpoint_).operations_lock());
    internals(endpoint_).landings().close(id_);
  }
  [[nodiscard]] std::int32_t place() const { return static_cast<std::int32_t>(id_.place); }
  [[nodiscard]] std::int32_t generation() const { return static_cast<std::int32_t>(id_.generation); }
  void sent() { is_sent_ = true; }

 private:
  Endpoint<H>& endpoint_;
  LandingId id_;
  bool is_sent_ = false;
};

}  // namespace gasmeter::core
