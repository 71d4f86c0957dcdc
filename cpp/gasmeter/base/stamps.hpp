// Marks in an operation's way, and the time stamps of what a real rank does: taken by a StampedHost (real_host.hpp).
// Other hosts have no code for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gasmeter/base/platform.hpp"

namespace gasmeter {

// Where a traced operation begins and ends, on the rank that measures it, and where a handler does.
enum class Mark : std::uint8_t { begin, end, handler_begin, handler_end };

// What a stamp says besides prices (conduit/host.hpp: stamp_code) and marks: what begins at its instant.
inline constexpr std::uint8_t kStampMark = 0x80;
inline constexpr std::uint8_t kStampCopy = 0x90;
inline constexpr std::uint8_t kStampNotify = 0x91;  // what another rank may see stands there
inline constexpr std::uint8_t kStampIdle = 0x92;    // two in a row: the first and the last empty look of a wait

constexpr std::uint8_t stamp_code(Mark mark) {
  return static_cast<std::uint8_t>(kStampMark + static_cast<std::uint8_t>(mark));
}

struct Stamp {
  std::int64_t ps = 0;
  std::uint64_t code = 0;
};

// Of a process, which is one rank; only its worker switches it on.
class Stamps {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16U;

  [[nodiscard]] static Stamps& of_process() {
    static Stamps stamps;
    return stamps;
  }
  // To try what a stamp costs.
  [[nodiscard]] static Stamps apart() { return {}; }
  void start() {
    if (!stamps_) stamps_ = std::make_unique<std::array<Stamp, kMost>>();
    count_ = 0;
    running_ = true;
  }
  // Nothing is taken any more; what has been is kept until the next start().
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
  // Those taken since start(), before stop().
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
