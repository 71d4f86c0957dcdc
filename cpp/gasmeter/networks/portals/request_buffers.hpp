// Where requests come to: buffers that Portals fills one message behind the other (ReqRB), and an entry behind them
// that catches what finds no room (CB), which credits have to prevent.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/portals/portals.hpp"

namespace gasmeter::networks::portals {

class RequestBuffers {
 public:
  // `requests`: events of what comes, and of buffers that are full; `caught`: of what finds none.
  RequestBuffers(Portals& portals, std::uint32_t buffers, Bytes bytes_each, EqHandle requests, EqHandle caught);

  // All that it held has been handled: it is the last in line again.
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
