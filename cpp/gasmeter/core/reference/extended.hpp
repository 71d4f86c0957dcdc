// The Extended API over active messages: what makes a conduit complete that only carries messages.
//   put: a Long (or Medium, as the conduit prefers) request per fragment, each answered by a Short reply
//   get: a Short request per fragment, each answered by a Medium reply, or by a Long one into the caller's segment
//   where
//        that takes fewer
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

  // Starts the transfer and returns its operation; nothing if an immediate one was refused. Of an immediate transfer
  // the fragments that find no room behind the first are sent by later polls; of a put, out of a copy.
  static std::optional<OperationId> put(Ep& ep, Rank rank, void* to, const void* from, Bytes bytes, Flags flags,
                                        ImplicitGroup* group);
  static std::optional<OperationId> get(Ep& ep, Rank rank, void* to, const void* from, Bytes bytes, Flags flags,
                                        ImplicitGroup* group);

  // The same as parts of an operation that is under way already; refused: nothing of it was started, but the operation
  // counts its parts.
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
