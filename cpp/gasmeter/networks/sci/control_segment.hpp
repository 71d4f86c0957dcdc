// A rank's control segment: a flag for each of its slots, which peers set, and the exist flag, which says that some
// flag is set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gasmeter/networks/sci/am_wire.hpp"
#include "gasmeter/networks/sci/segment.hpp"

namespace gasmeter::networks::sci {

class ControlSegment final : public Segment {
 public:
  struct Flag {
    std::uint32_t slot = 0;
    std::byte says{};
  };

  explicit ControlSegment(const Layout& layout) : Segment(layout.control_bytes()), layout_(layout) {}

  void store(Bytes at, std::span<const std::byte> bytes) override;
  void load(Bytes at, std::span<std::byte> into) const override;

  [[nodiscard]] bool exists() const { return exists_; }
  void clear_exists() { exists_ = false; }
  [[nodiscard]] bool any() const { return !set_.empty(); }
  // Return the first set flag from slot `from` on.
  [[nodiscard]] std::optional<Flag> next(std::uint32_t from) const;
  void clear(std::uint32_t slot);
  // Return how many of this rank's messages a peer has taken, modulo 256.
  [[nodiscard]] std::uint8_t taken(Rank peer) const { return taken_.empty() ? 0 : taken_[index(peer)]; }
  // Tell whether the count of any peer has changed since the last call.
  [[nodiscard]] bool take_news() { return std::exchange(news_, false); }

 private:
  [[nodiscard]] std::vector<Flag>::const_iterator place_of(std::uint32_t slot) const;

  Layout layout_;
  bool exists_ = false;
  bool news_ = false;
  std::vector<Flag> set_;            // by slot; all other flags are 0
  std::vector<std::uint8_t> taken_;  // by peer; empty: no peer has stored a count
};

}  // namespace gasmeter::networks::sci
