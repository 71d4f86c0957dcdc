// The Extended API over active messages. It completes a conduit that only carries messages.
// put: a Long (or Medium, as the conduit prefers) request per fragment, each answered by a Short reply
// get: a Short request per fragment, each answered by a Medium reply, or by a Long one into the caller's segment where
//      that takes fewer
#pragma once

#include <cstdint>
#include <optional>

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/library_handlers.hpp"

namespace gasmeter::core {

template <class H>
class Reference {
 public:
  using Ep = Endpoint<H>;

  static void register_handlers(HandlerTable<H>& handlers);

  // Start a transfer and return its operation; nothing if an immediate one was refused. If an immediate transfer finds
  // no room for later fragments, later polls send them. Those of a put are sent from a copy.
  static std::optional<OperationId> put(Ep& ep, Rank rank, void* to, const void* from, Bytes bytes, Flags flags,
                                        ImplicitGroup* group);
  static std::optional<OperationId> get(Ep& ep, Rank rank, void* to, const void* from, Bytes bytes, Flags flags,
                                        ImplicitGroup* group);

  // Start a transfer as parts of an existing operation. After a refusal nothing was started, but the operation still
  // counts the parts.
  static Status put_parts(Ep& ep, Rank rank, void* to, const void* from, Bytes bytes, Flags flags, OperationId id);
  static Status get_parts(Ep& ep, Rank rank, void* to, const void* from, Bytes bytes, Flags flags, OperationId id);

 private:
  template <class Start>
  static std::optional<OperationId> whole(Ep& ep, OperationKind kind, ImplicitGroup* group, Start&& start);
  static Status put_part(Ep& ep, Rank rank, bool as_long, void* to, const void* from, Bytes bytes, Flags flags,
                         OperationId id);
  static Status get_part(Ep& ep, Rank rank, bool as_long, void* to, const void* from, Bytes bytes, Flags flags,
                         OperationId id);
  static void await(Ep& ep, Rank rank, OperationId id, std::uint32_t parts);
};

}  // namespace gasmeter::core
