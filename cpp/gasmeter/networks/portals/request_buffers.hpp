// Buffers for requests, which Portals fills one message behind the other (ReqRB). An entry behind them catches messages
// that find no room (CB). Credits have to prevent such messages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/portals/portals.hpp"

namespace gasmeter::networks::portals {

class RequestBuffers {
 public:
  // `requests`: queue for events of requests and of full buffers. `caught`: queue for events of messages without a
  // buffer.
  RequestBuffers(Portals& portals, std::uint32_t buffers, Bytes bytes_each, EqHandle requests, EqHandle caught);

  // Link a buffer again at the end of the list. All its requests have been handled.
  void relink(const Event& unlinked) {
    link(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(unlinked.user)));
  }
  [[nodiscard]] std::byte* message(const Event& event) const {
    return memory_.at(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(event.user))) + event.offset;
  }
  [[nodiscard]] bool has_caught(const Event& event) const { return event.md == caught_; }
  [[nodiscard]] Bytes reserved_bytes() const { return memory_.memory().size(); }

 private:
  void link(std::uint32_t which);

  Portals& portals_;
  Bytes bytes_each_;
  EqHandle requests_;
  BufferPool memory_;
  MeHandle catcher_;
  MdHandle caught_;
};

}  // namespace gasmeter::networks::portals
