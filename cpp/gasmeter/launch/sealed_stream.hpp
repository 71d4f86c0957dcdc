// What a stream between hosts carries: records of at most kMostInRecord bytes, each with a keyed hash over its number,
// its length and its bytes. A record that was changed, left out, repeated or moved on the way does not fit, and nothing
// of it is handed on. What is inside (frames) is authentic, but not hidden.
//
// Record: u32 length, that many bytes, u64 SipHash-2-4 with the key of this direction; little-endian.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gasmeter/base/keyed_hash.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/launch/frame.hpp"

namespace gasmeter::launch {

inline constexpr Bytes kMostInRecord = FrameReader::kMostAppended;
inline constexpr Bytes kRecordOverhead = sizeof(std::uint32_t) + sizeof(std::uint64_t);

// Of one connection, drawn at its handshake: what one side sends by is what the other one receives by.
struct SessionKeys {
  HashKey send;
  HashKey receive;
};

class Sealer {
 public:
  explicit Sealer(const HashKey& key) : key_(key) {}

  // The records that carry `bytes`.
  [[nodiscard]] std::string seal(std::string_view bytes);

 private:
  HashKey key_;
  std::uint64_t number_ = 0;
};

class Unsealer {
 public:
  explicit Unsealer(const HashKey& key);

  // The bytes of the next whole record, good until the next receive(). Throws BrokenJob if it is not the one that the
  // other side sent next.
  [[nodiscard]] std::optional<std::string_view> next();
  // One receive call. Call next() until it is empty before. What is kept of a stranger's bytes is one record.
  [[nodiscard]] Transfer receive(int fd, Waiting waiting);

 private:
  HashKey key_;
  std::uint64_t number_ = 0;
  std::unique_ptr<char[]> buffer_;
  Bytes begin_ = 0;
  Bytes end_ = 0;
};

}  // namespace gasmeter::launch
