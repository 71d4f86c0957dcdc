// Remote atomics. The network does them if it can. Otherwise a Short request does the operation at the target, and a
// Short reply brings the old value or an acknowledgement.
#pragma once

#include <cstdint>
#include <optional>

#include "gasmeter/core/atomics/operation.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/internals.hpp"
#include "gasmeter/core/library_handlers.hpp"

namespace gasmeter::core {

namespace atomics {

using ValueType = AtomicType;

template <AtomicValue T>
[[nodiscard]] constexpr ValueType value_type() {
  if constexpr (std::same_as<T, std::int32_t>) return ValueType::i32;
  if constexpr (std::same_as<T, std::uint32_t>) return ValueType::u32;
  if constexpr (std::same_as<T, std::int64_t>) return ValueType::i64;
  if constexpr (std::same_as<T, std::uint64_t>) return ValueType::u64;
  if constexpr (std::same_as<T, float>) return ValueType::f32;
  if constexpr (std::same_as<T, double>) return ValueType::f64;
}

}  // namespace atomics

template <class H>
class RemoteAtomics {
 public:
  using Ep = Endpoint<H>;
  using ValueType = atomics::ValueType;

  static void register_handlers(HandlerTable<H>& handlers);
  // Start an operation by messages. Return nothing if an immediate one was refused. An implicit one counts as a put
  // (set), a get (get) or rmw (all others).
  static std::optional<OperationId> start(Ep& ep, Rank rank, const RemoteAtomic& atomic, Flags flags, bool implicit);
  // Tell whether the network does all of `ops`.
  [[nodiscard]] static bool offloaded(Ep& ep, ValueType type, AtomicOps ops);
  // Start an operation that the network does; see start().
  static std::optional<OperationId> start_offloaded(Ep& ep, Rank rank, const RemoteAtomic& atomic, Flags flags,
                                                    bool implicit);
  [[nodiscard]] static Event event_of(Ep& ep, OperationId id) { return internals(ep).operations().event_of(id); }

 private:
  static void on_request(Token<H>& token);
  static void on_fetched(Token<H>& token);
};

}  // namespace gasmeter::core
