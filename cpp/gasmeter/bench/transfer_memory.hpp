// Where the memory of transfers lies: options `local` and `offset`, said once for the kernels and raw programs that
// have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/info.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/settings.hpp"

namespace gasmeter::bench {

[[nodiscard]] inline OptionInfo local_option() {
  return {"local",
          "choice",
          "outside",
          "",
          {"outside", "segment"},
          "where the buffer lies: in memory of its own, or in the segment, which a card may read by itself"};
}
[[nodiscard]] inline OptionInfo offset_option() {
  return {"offset", "int", "0", "B", {}, "how far behind a page's start both sides of a transfer begin"};
}

[[nodiscard]] inline bool is_in_segment(const Settings& settings) {
  return settings.text("local") == "segment";
}
[[nodiscard]] inline Bytes offset_of(const Settings& settings) {
  return static_cast<Bytes>(settings.integer("offset"));
}

inline void check_offset(const Settings& settings) {
  constexpr auto kMost = static_cast<std::int64_t>(AlignedBuffer::kAlignment) - 1;
  const std::int64_t offset = settings.integer("offset");
  if (offset < 0 || offset > kMost) {
    throw UsageError("kernel " + settings.kernel + ": option 'offset=" + settings.text("offset") +
                     "': allowed are 0 to " + std::to_string(kMost) + " bytes");
  }
}

// The segment of a rank: what the other one reaches, and on pages behind that the buffer, if it lies there.
[[nodiscard]] inline Bytes remote_at(const Settings& settings) {
  return offset_of(settings);
}
[[nodiscard]] inline Bytes local_at(const Settings& settings) {
  constexpr Bytes kPage = AlignedBuffer::kAlignment;
  return (remote_at(settings) + settings.size + kPage - 1) / kPage * kPage + offset_of(settings);
}
[[nodiscard]] inline Bytes share_of_transfers(const Settings& settings) {
  return (is_in_segment(settings) ? local_at(settings) : remote_at(settings)) + settings.size;
}

// The side of a transfer that is its own rank's: `size` bytes at `in_segment`, or in memory of its own, `offset` bytes
// behind a page's start.
class LocalMemory {
 public:
  LocalMemory(const Settings& settings, std::byte* in_segment, Bytes size, Bytes offset)
      : own_(is_in_segment(settings) ? 0 : offset + size),
        bytes_(is_in_segment(settings) ? in_segment : own_.data() + offset, size) {}

  [[nodiscard]] std::byte* data() const { return bytes_.data(); }
  [[nodiscard]] Bytes size() const { return bytes_.size(); }
  operator std::span<std::byte>() const { return bytes_; }

 private:
  AlignedBuffer own_;
  std::span<std::byte> bytes_;
};

}  // namespace gasmeter::bench
