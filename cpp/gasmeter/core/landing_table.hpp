// Table of destinations of replies that carry data. A request names a place of this table, never an address of the
// rank that gets the reply. The reply is written once, to the destination in the table, and only if it is the expected
// one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/conduit.hpp"

namespace gasmeter::core {

// The reply that a request expects.
struct Landing {
  void* at = nullptr;  // destination, or an object that knows it
  Bytes bytes = 0;     // exact number of bytes
  conduit::OperationId operation{};
  Rank peer{};           // sender of the reply
  HandlerIndex reply{};  // handler of the reply
  bool operator==(const Landing&) const = default;
};

// Identifies a place; sent as two arguments. A place is reused with another generation. The same pair returns only
// when the generations have wrapped around.
struct LandingId {
  std::uint32_t place = 0;
  std::uint32_t generation = 0;
};

class LandingTable {
 public:
  LandingId open(const Landing& landing);
  // Return the destination of a reply and close its place. Return nothing if no such reply is expected. `reply.at` is
  // ignored.
  [[nodiscard]] std::optional<void*> claim(LandingId id, const Landing& reply);
  // Close the place of a request that was not sent.
  void close(LandingId id);

  [[nodiscard]] std::uint32_t outstanding() const { return outstanding_; }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffffU;
  struct Place {
    Landing landing;
    std::uint32_t generation = 0;
    std::uint32_t next_free = kEnd;
    bool is_open = false;
  };

  std::vector<Place> places_;
  std::uint32_t first_free_ = kEnd;
  std::uint32_t outstanding_ = 0;
};

}  // namespace gasmeter::core
