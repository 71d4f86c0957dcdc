// A rank's control segment: a flag for each of its slots, which others set, and one that says that some is set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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
  // The first flag from slot `from` on that is set; of replies alone, if so wanted.
  [[nodiscard]] std::optional<Flag> next(std::uint32_t from, bool replies_only) const;
  void clear(std::uint32_t slot);

 private:
  [[nodiscard]] std::vector<Flag>::const_iterator place_of(std::uint32_t slot) const;

  Layout layout_;
  bool exists_ = false;
  std::vector<Flag> set_;  // by slot; all others are 0
};

}  // namespace gasmeter::networks::sci
