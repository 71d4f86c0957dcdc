// Time stamps of the work of a real rank, taken by a StampedHost (real_host.hpp), and marks of traced operations.
// Other hosts have no code for stamps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gasmeter/base/platform.hpp"

namespace gasmeter {

// Begin and end of a traced operation, on the rank that measures it, and of a handler.
enum class Mark : std::uint8_t { begin, end, handler_begin, handler_end };

// Codes of stamps besides prices (conduit/host.hpp: stamp_code) and marks. A code names the work that begins at the
// stamp's instant.
inline constexpr std::uint8_t kStampMark = 0x80;
inline constexpr std::uint8_t kStampCopy = 0x90;
inline constexpr std::uint8_t kStampNotify = 0x91;  // data that another rank may see has been stored
inline constexpr std::uint8_t kStampIdle = 0x92;    // two in a row: the first and the last empty poll of a wait

constexpr std::uint8_t stamp_code(Mark mark) {
  return static_cast<std::uint8_t>(kStampMark + static_cast<std::uint8_t>(mark));
}

struct Stamp {
  std::int64_t ps = 0;
  std::uint64_t code = 0;
};

// The stamps of a process, which is one rank. Only its worker starts them.
class Stamps {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16U;

  [[nodiscard]] static Stamps& of_process() {
    static Stamps stamps;
    return stamps;
  }
  // Return stamps that belong to no process, to measure what a stamp costs.
  [[nodiscard]] static Stamps apart() { return {}; }
  void start() {
    if (!stamps_) stamps_ = std::make_unique<std::array<Stamp, kMost>>();
    count_ = 0;
    running_ = true;
  }
  // Take no more stamps. Those already taken are kept until the next start().
  void stop() { running_ = false; }
  template <class Now>
  GASMETER_INLINE void add(std::uint8_t code, Now now) {
    if (!running_ || GASMETER_UNLIKELY(count_ >= kMost)) return;
    if (code == kStampIdle && count_ > 1 && (*stamps_)[count_ - 1].code == code &&
        (*stamps_)[count_ - 2].code == code) {
      --count_;
    }
    (*stamps_)[count_++] = {now(), code};
  }
  // Return the stamps taken between start() and stop().
  [[nodiscard]] std::span<const Stamp> taken() const {
    return stamps_ ? std::span<const Stamp>(stamps_->data(), count_) : std::span<const Stamp>();
  }
  [[nodiscard]] bool full() const { return count_ >= kMost; }

 private:
  Stamps() = default;
  std::unique_ptr<std::array<Stamp, kMost>> stamps_;
  std::size_t count_ = 0;
  bool running_ = false;
};

}  // namespace gasmeter
