// Where replies that carry data land. A request names a place of this table, never an address of the rank that will get
// the reply: what comes back is written where the table says, once, and only if it is the reply that was asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/conduit.hpp"

namespace gasmeter::core {

// What a request asks for.
struct Landing {
  void* at = nullptr;  // the destination, or what knows it
  Bytes bytes = 0;     // exactly so many
  conduit::OperationId operation{};
  Rank peer{};           // who replies,
  HandlerIndex reply{};  // and to which handler
  bool operator==(const Landing&) const = default;
};

// Travels as two arguments. A place is used again, its number is not until the generations have come round.
struct LandingId {
  std::uint32_t place = 0;
  std::uint32_t generation = 0;
};

class LandingTable {
 public:
  LandingId open(const Landing& landing);
  // Where the reply goes, which uses the place up; nothing: nobody waits for this one. Whatever stands in `reply.at`.
  [[nodiscard]] std::optional<void*> claim(LandingId id, const Landing& reply);
  // Of a request that was not sent.
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
