// The handshake between a rank on another host and rank 0's launcher: each proves that it knows the job's secret, and
// both derive the connection's keys from it. The listener speaks first (its nonce), the joining rank answers with a
// claim, the listener ends with its own proof or with kRefused.
#pragma once

#include <array>
#include <cstdint>

#include "gasmeter/base/keyed_hash.hpp"
#include "gasmeter/launch/sealed_stream.hpp"

namespace gasmeter::launch {

using Nonce = std::array<std::uint64_t, 2>;

struct Claim {
  Nonce nonce{};
  std::uint64_t rank = 0;
  std::uint64_t proof = 0;
};

inline constexpr std::uint64_t kRefused = 0;

// Nonces and rank are fresh or fixed by the other side, so that no word of another connection fits this one.
class Handshake {
 public:
  Handshake(const HashKey& secret, const Nonce& listener, const Nonce& joiner, std::uint64_t rank)
      : secret_(secret), listener_(listener), joiner_(joiner), rank_(rank) {}

  [[nodiscard]] std::uint64_t claim_proof() const { return draw(Purpose::asks_to_join); }
  [[nodiscard]] std::uint64_t welcome_proof() const { return draw(Purpose::welcomes); }
  [[nodiscard]] SessionKeys listener_keys() const { return {.send = to_joiner(), .receive = to_listener()}; }
  [[nodiscard]] SessionKeys joiner_keys() const { return {.send = to_listener(), .receive = to_joiner()}; }

 private:
  // Purposes of words, so that none can stand for another.
  enum class Purpose : std::uint64_t {
    asks_to_join = 1,
    welcomes = 2,
    to_listener_low = 3,
    to_listener_high = 4,
    to_joiner_low = 5,
    to_joiner_high = 6,
  };
  [[nodiscard]] std::uint64_t draw(Purpose purpose) const;
  [[nodiscard]] HashKey to_listener() const {
    return {draw(Purpose::to_listener_low), draw(Purpose::to_listener_high)};
  }
  [[nodiscard]] HashKey to_joiner() const { return {draw(Purpose::to_joiner_low), draw(Purpose::to_joiner_high)}; }

  HashKey secret_;
  Nonce listener_;
  Nonce joiner_;
  std::uint64_t rank_;
};

// Draw a nonce from the kernel.
[[nodiscard]] Nonce fresh_nonce();

}  // namespace gasmeter::launch
