// A large message as one object: equal packets that follow one another on the same way.
#pragma once

#include <cstdint>

namespace gasmeter::sim {

// A network derives its messages from this and keeps their contents there. A train belongs to the network until
// inject() and again when its last packet has arrived; in between nobody changes it.
struct Train {
  std::uint32_t from = 0;        // terminals
  std::uint32_t to = 0;          //
  std::uint32_t count = 0;       // packets, known by their numbers 0 .. count - 1
  std::uint16_t bytes = 0;       // of each on the wire, all headers included
  std::uint16_t last_bytes = 0;  // of the last one, no more than of the others
  bool watched = false;          // FabricSink::train_departed() is called

  [[nodiscard]] std::uint16_t bytes_of(std::uint32_t number) const { return number + 1 == count ? last_bytes : bytes; }
};

}  // namespace gasmeter::sim
