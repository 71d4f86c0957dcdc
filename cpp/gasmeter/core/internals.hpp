// Access of the library's other parts to an endpoint's private members. This is Endpoint's only friend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/status.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/core/checked.hpp"
#include "gasmeter/core/event.hpp"
#include "gasmeter/core/late_parts.hpp"
#include "gasmeter/core/message.hpp"
#include "gasmeter/core/wait_report.hpp"

namespace gasmeter::core {

template <class H>
class Endpoint;
template <class H>
class Token;

// A view of one endpoint, without cost. Its members have the endpoint's names.
template <class H>
struct Internals {
  using Link = typename Endpoint<H>::Link;
  using Outgoing = typename Endpoint<H>::Outgoing;
  using Staging = typename Endpoint<H>::Staging;

  GASMETER_INLINE explicit Internals(Endpoint<H>& endpoint) : of(endpoint) {}

  // ---- state
  [[nodiscard]] GASMETER_INLINE H& host() const { return of.host_; }
  [[nodiscard]] GASMETER_INLINE auto& near() const { return of.near_; }
  [[nodiscard]] GASMETER_INLINE conduit::Conduit*& conduit() const { return of.conduit_; }
  [[nodiscard]] bool is_native_put(Bytes bytes, const LocalCompletion& local, Flags flags) const {
    return of.is_native_put(bytes, local, flags);
  }
  [[nodiscard]] bool is_copied_put(Bytes bytes, const LocalCompletion& local) const {
    return of.is_copied_put(bytes, local);
  }
  [[nodiscard]] Flags heeded(Flags flags) const { return of.heeded(flags); }
  [[nodiscard]] bool waits_for_roots() const { return of.waits_for_roots(); }
  [[nodiscard]] bool native_get() const { return of.native_get_; }
  [[nodiscard]] std::uint32_t native_parts(Bytes bytes) const { return of.native_parts(bytes); }
  [[nodiscard]] GASMETER_INLINE auto& conduit_lock() const { return of.conduit_lock_; }
  [[nodiscard]] GASMETER_INLINE auto& handlers() const { return of.handlers_; }
  [[nodiscard]] GASMETER_INLINE auto& operations() const { return of.operations_; }
  [[nodiscard]] GASMETER_INLINE auto& operations_lock() const { return of.operations_lock_; }
  [[nodiscard]] GASMETER_INLINE auto& landings() const { return of.landings_; }
  [[nodiscard]] GASMETER_INLINE auto& staging() const { return of.staging_; }
  [[nodiscard]] std::uint32_t& temporaries() const { return of.temporaries_; }
  [[nodiscard]] GASMETER_INLINE auto& whereabouts() const { return of.whereabouts_; }
  [[nodiscard]] GASMETER_INLINE auto& faults() const { return of.faults_; }
  [[nodiscard]] GASMETER_INLINE auto& implicit_group() const { return of.implicit_group(); }

  // ---- checks
  GASMETER_INLINE void check_call(const char* call) const { of.check_call(call); }
  GASMETER_INLINE void check_target(const char* call, Rank rank, const void* address, Bytes bytes) const {
    of.check_target(call, rank, address, bytes);
  }
  void check_rank(Rank rank) const { of.check_rank(rank); }
  [[noreturn]] void refuse_call(const char* call) const { of.refuse_call(call); }
  [[nodiscard]] std::string name_of(HandlerIndex handler) const { return of.name_of(handler); }

  // ---- messages and copies
  template <auto K, class Words>
  GASMETER_INLINE bool send_near(Link& link, Outgoing outgoing, HandlerIndex handler, const Words& words,
                                 const void* from, Bytes bytes, void* destination) const {
    return of.template send_near<K>(link, outgoing, handler, words, from, bytes, destination);
  }
  bool try_near(Link& link, Outgoing outgoing, const Message& message) const {
    return of.try_near(link, outgoing, message);
  }
  template <class Words>
  GASMETER_INLINE static void copy_words(std::byte* to, const Words& words) {
    Endpoint<H>::copy_words(to, words);
  }
  GASMETER_INLINE void copy_near(void* to, const void* from, Bytes bytes) const { of.copy_near(to, from, bytes); }
  Status request_slow(Rank to, const Message& message, Flags flags) const {
    return of.request_slow(to, message, flags);
  }
  Status reply(Token<H>& token, const Message& message, Flags flags) const { return of.reply(token, message, flags); }
  [[nodiscard]] Bytes most_payload(Rank peer, conduit::Category category, Outgoing outgoing, unsigned arguments,
                                   Flags flags) const {
    return of.most_payload(peer, category, outgoing, arguments, flags);
  }

  // ---- progress
  template <class Begin>
  [[nodiscard]] bool begin_without_waiting(std::uint32_t parts, const Begin& begin) const {
    return of.begin_without_waiting(parts, begin);
  }
  void begin_later(std::uint32_t next, std::uint32_t parts, LateParts::Begin begin) const {
    of.begin_later(next, parts, std::move(begin));
  }
  template <class Done, class Step>
  GASMETER_INLINE void wait_loop(Done&& done, Step&& step, const char* call, Waiting waiting) const {
    of.wait_loop(std::forward<Done>(done), std::forward<Step>(step), call, waiting);
  }
  template <class Done>
  GASMETER_INLINE void wait_for(Done&& done, const char* call, Waiting waiting) const {
    of.wait_for(std::forward<Done>(done), call, waiting);
  }
  GASMETER_INLINE void poll_first() const { of.poll_first(); }
  void arrived(const conduit::AmView& message) const { of.arrived(message); }
  unsigned progress_replies() const { return of.progress_replies(); }
  void complete(conduit::OperationId operation) const { of.complete(operation); }

  Endpoint<H>& of;
};

template <class H>
[[nodiscard]] GASMETER_INLINE Internals<H> internals(Endpoint<H>& endpoint) {
  return Internals<H>(endpoint);
}

}  // namespace gasmeter::core
