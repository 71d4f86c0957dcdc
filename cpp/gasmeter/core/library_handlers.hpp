// All handler indices of the library, 1 to 127. Clients have 128 to 255. Index 0 lets the library choose.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::core {

inline constexpr std::uint8_t kFirstClientHandler = 128;

namespace reference {
inline constexpr HandlerIndex kBarrier{1};
inline constexpr HandlerIndex kPutMedium{2};
inline constexpr HandlerIndex kPutLong{3};
inline constexpr HandlerIndex kAcknowledge{4};
inline constexpr HandlerIndex kGetRequest{5};
inline constexpr HandlerIndex kGetReply{6};
}  // namespace reference

namespace atomics {
inline constexpr HandlerIndex kRequest{7};
inline constexpr HandlerIndex kFetched{8};
}  // namespace atomics

namespace reference {
inline constexpr HandlerIndex kGetLong{9};
inline constexpr HandlerIndex kGetLongReply{10};
}  // namespace reference

namespace vis {
inline constexpr HandlerIndex kPutShape{24};
inline constexpr HandlerIndex kPutList{25};
inline constexpr HandlerIndex kGetShape{26};
inline constexpr HandlerIndex kGetList{27};
inline constexpr HandlerIndex kShapeReply{28};
inline constexpr HandlerIndex kListReply{29};
inline constexpr HandlerIndex kPeerCompletion{30};
}  // namespace vis

namespace teams {
inline constexpr HandlerIndex kFirst{48};
inline constexpr HandlerIndex kPiece{49};
inline constexpr HandlerIndex kReady{50};
}  // namespace teams

// Handlers of shared spaces, registered by pgas.
namespace spaces {
inline constexpr HandlerIndex kAgree{52};
inline constexpr HandlerIndex kMake{53};
inline constexpr HandlerIndex kAskToFree{54};
inline constexpr HandlerIndex kInvalidate{55};
inline constexpr HandlerIndex kRelease{56};
inline constexpr HandlerIndex kNoted{57};
inline constexpr HandlerIndex kGet{58};
inline constexpr HandlerIndex kGetAnswer{59};
inline constexpr HandlerIndex kPut{60};
inline constexpr HandlerIndex kPutAnswer{61};
inline constexpr HandlerIndex kMeet{62};
inline constexpr HandlerIndex kMeetAnswer{63};
inline constexpr HandlerIndex kLock{64};
inline constexpr HandlerIndex kLockAnswer{65};
inline constexpr HandlerIndex kUnlock{66};
inline constexpr HandlerIndex kUnlockAnswer{67};
inline constexpr HandlerIndex kGrant{68};
}  // namespace spaces

// In ascending order. The compiler thus refuses an index that is used twice or belongs to clients.
inline constexpr std::array kLibraryHandlers = {reference::kBarrier,    reference::kPutMedium,
                                                reference::kPutLong,    reference::kAcknowledge,
                                                reference::kGetRequest, reference::kGetReply,
                                                atomics::kRequest,      atomics::kFetched,
                                                reference::kGetLong,    reference::kGetLongReply,
                                                vis::kPutShape,         vis::kPutList,
                                                vis::kGetShape,         vis::kGetList,
                                                vis::kShapeReply,       vis::kListReply,
                                                vis::kPeerCompletion,   teams::kFirst,
                                                teams::kPiece,          teams::kReady,
                                                spaces::kAgree,         spaces::kMake,
                                                spaces::kAskToFree,     spaces::kInvalidate,
                                                spaces::kRelease,       spaces::kNoted,
                                                spaces::kGet,           spaces::kGetAnswer,
                                                spaces::kPut,           spaces::kPutAnswer,
                                                spaces::kMeet,          spaces::kMeetAnswer,
                                                spaces::kLock,          spaces::kLockAnswer,
                                                spaces::kUnlock,        spaces::kUnlockAnswer,
                                                spaces::kGrant};
static_assert([] {
  std::size_t before = 0;
  for (const HandlerIndex handler : kLibraryHandlers) {
    if (index(handler) <= before || index(handler) >= kFirstClientHandler) return false;
    before = index(handler);
  }
  return true;
}());

}  // namespace gasmeter::core
