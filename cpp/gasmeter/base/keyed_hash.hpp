// SipHash-2-4 (Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012), over data in several pieces.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter {

struct HashKey {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

// Every piece but the last has to be a multiple of 8 bytes long.
class KeyedHash {
 public:
  GASMETER_INLINE explicit KeyedHash(const HashKey& key)
      : v0_(key.low ^ 0x736f6d6570736575ULL),
        v1_(key.high ^ 0x646f72616e646f6dULL),
        v2_(key.low ^ 0x6c7967656e657261ULL),
        v3_(key.high ^ 0x7465646279746573ULL) {}

  GASMETER_INLINE void word(std::uint64_t value) {
    v3_ ^= value;
    round();
    round();
    v0_ ^= value;
    length_ += 8;
  }
  GASMETER_INLINE void bytes(const void* data, Bytes size) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (; size >= 8; at += 8, size -= 8) {
      std::uint64_t value = 0;
      std::memcpy(&value, at, 8);  // little-endian hosts only, like every format of the library
      word(value);
    }
    for (Bytes i = 0; i < size; ++i) rest_ |= std::uint64_t{at[i]} << (8 * i);
    rest_length_ = size;
  }
  [[nodiscard]] GASMETER_INLINE std::uint64_t finish() {
    const std::uint64_t last = rest_ | ((length_ + rest_length_) << 56);
    v3_ ^= last;
    round();
    round();
    v0_ ^= last;
    v2_ ^= 0xff;
    for (int i = 0; i < 4; ++i) round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  GASMETER_INLINE void round() {
    v0_ += v1_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v3_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ += v3_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ += v1_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v2_ = std::rotl(v2_, 32);
  }

  std::uint64_t v0_, v1_, v2_, v3_;
  std::uint64_t length_ = 0;
  std::uint64_t rest_ = 0;
  Bytes rest_length_ = 0;
};
static_assert(std::endian::native == std::endian::little);

}  // namespace gasmeter
