// NH, the universal hash of UMAC (Black, Halevi, Krawczyk, Krovetz, Rogaway: "UMAC: Fast and Secure Message
// Authentication", 1999), over words of 64 bits: one multiplication for 16 bytes.
//
// Two different blocks of the same length have the same digest under at most one key of 2^64. A digest reveals its key
// and must not be shown. Authentication therefore passes it through a keyed hash.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "gasmeter/base/keyed_hash.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter {

class UniversalHash {
 public:
  static constexpr Bytes kBlock = 2048;  // most bytes of one digest, and size of the key in bytes

  struct Digest {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
  };

  // Make the key: its i-th word is a keyed hash of i.
  explicit UniversalHash(const HashKey& key) {
    for (std::size_t i = 0; i < key_.size(); ++i) {
      KeyedHash word(key);
      word.word(i);
      key_[i] = word.finish();
    }
  }

  // Return the digest of at most kBlock bytes, padded with zeros to a multiple of 16. The caller must tell lengths
  // apart.
  [[nodiscard]] Digest of(const std::byte* data, Bytes size) const {
    Wide sum = 0;
    std::size_t at = 0;
    for (; size >= kStep; data += kStep, size -= kStep, at += 2) sum += product(data, at);
    if (size != 0) {
      std::array<std::byte, kStep> rest{};
      std::memcpy(rest.data(), data, size);
      sum += product(rest.data(), at);
    }
    return {static_cast<std::uint64_t>(sum), static_cast<std::uint64_t>(sum >> 64)};
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr Bytes kStep = 16;

  [[nodiscard]] GASMETER_INLINE Wide product(const std::byte* data, std::size_t at) const {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::memcpy(&first, data, 8);
    std::memcpy(&second, data + 8, 8);
    return Wide{first + key_[at]} * (second + key_[at + 1]);
  }

  std::array<std::uint64_t, kBlock / 8> key_{};
};

}  // namespace gasmeter
