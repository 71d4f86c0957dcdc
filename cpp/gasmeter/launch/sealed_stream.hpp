// A stream between hosts. It carries records of at most kMostInRecord bytes, each with a keyed hash over its number,
// its length and its bytes. A record that was changed, left out, repeated or moved on the way does not match, and none
// of its bytes are passed on. The frames inside are authentic, but not hidden.
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

// Keys of one connection, derived at its handshake: one side's send key is the other side's receive key.
struct SessionKeys {
  HashKey send;
  HashKey receive;
};

class Sealer {
 public:
  explicit Sealer(const HashKey& key) : key_(key) {}

  // Return the records that carry `bytes`.
  [[nodiscard]] std::string seal(std::string_view bytes);

 private:
  HashKey key_;
  std::uint64_t number_ = 0;
};

class Unsealer {
 public:
  explicit Unsealer(const HashKey& key);

  // Return the bytes of the next whole record, valid until the next receive(). Throws BrokenJob if it is not the record
  // that the other side sent next.
  [[nodiscard]] std::optional<std::string_view> next();
  // Make one receive call. Before it, call next() until that is empty. At most one record of a stranger's bytes is
  // kept.
  [[nodiscard]] Transfer receive(int fd, Waiting waiting);

 private:
  HashKey key_;
  std::uint64_t number_ = 0;
  std::unique_ptr<char[]> buffer_;
  Bytes begin_ = 0;
  Bytes end_ = 0;
};

}  // namespace gasmeter::launch
