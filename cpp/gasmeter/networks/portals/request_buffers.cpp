#include "gasmeter/networks/portals/request_buffers.hpp"

#include "gasmeter/networks/portals/am_wire.hpp"

namespace gasmeter::networks::portals {

namespace {
constexpr MatchEntry kRequests{.match = bits_of(Md::request, Kind::system), .ignore = kIgnored};
}

RequestBuffers::RequestBuffers(Portals& portals, std::uint32_t buffers, Bytes bytes_each, EqHandle requests,
                               EqHandle caught)
    : portals_(portals), bytes_each_(bytes_each), requests_(requests), memory_("portals", buffers, bytes_each) {
  catcher_ = portals_.me_attach(kAmPortal, kRequests, Position::before);
  caught_ = portals_.md_attach(
      catcher_, {.put = true, .truncate = true, .no_start_events = true, .events = caught, .name = "CB"});
  for (std::uint32_t which = 0; which < buffers; ++which) link(which);
}

void RequestBuffers::link(std::uint32_t which) {
  const MeHandle entry = portals_.me_insert(catcher_, kRequests, Position::before);
  portals_.md_attach(entry,
                     {.start = memory_.at(which),
                      .length = bytes_each_,
                      .put = true,
                      .no_ack = true,
                      .no_start_events = true,
                      .most = kChunk,
                      .events = requests_,
                      .user = reinterpret_cast<void*>(std::uintptr_t{which}),
                      .name = "ReqRB"},
                     Unlink::unlink);
}

}  // namespace gasmeter::networks::portals
