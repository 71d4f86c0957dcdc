// Active messages as core and conduits exchange them.
#pragma once

#include <cstdint>
#include <span>

#include "gasmeter/base/units.hpp"

namespace gasmeter::conduit {

enum class Category : std::uint8_t { short_message, medium, long_message };

// Part of a message that is known before its payload. prepare() takes every resource that commit() will use by it.
struct AmHeader {
  Rank peer{};  // destination
  Category category{};
  bool is_reply = false;
  std::uint8_t arguments = 0;  // number of 32-bit arguments, 0..16
  std::uint64_t cookie = 0;    // of a reply: AmView::cookie of the request that it answers
};

// A prepared message: room for `size` payload bytes at `data`. The conduit owns the room until commit or cancel.
struct AmBuffer {
  AmHeader header;
  void* data = nullptr;  // aligned for any type; the client's own memory where the conduit can send from it
  Bytes size = 0;
  std::uint64_t slot = 0;  // for the conduit's use
};

// Part of a message that is known at commit only.
struct AmCommit {
  HandlerIndex handler{};
  Bytes size = 0;                           // payload bytes used, <= AmBuffer::size
  void* destination = nullptr;              // Long: address in the peer's segment
  std::span<const std::int32_t> arguments;  // as many as AmHeader::arguments
};

// An arrived message, valid until Delivery::arrived() returns.
struct AmView {
  Rank source{};
  Category category{};
  bool is_request = true;
  HandlerIndex handler{};
  std::span<const std::int32_t> arguments;
  void* payload = nullptr;  // Medium: library buffer, aligned for any type; Long: destination as given; Short: null
  Bytes size = 0;
  std::uint64_t cookie = 0;  // copied into AmHeader::cookie of the reply
};

}  // namespace gasmeter::conduit
