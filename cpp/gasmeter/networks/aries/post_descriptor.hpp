// Requests of software to a card.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/aries/amo.hpp"
#include "gasmeter/networks/aries/event.hpp"

namespace gasmeter::networks::aries {

enum class PostType : std::uint8_t {
  fma_put,            // by Domain::post_fma: a core stores the bytes into its window
  fma_put_with_flag,  // the same; a word of 8 B at the target follows
  fma_get,
  amo,
  cq_write,  // by Domain::post_cq_write
  rdma_put,  // by Domain::post_rdma: the card reads and writes memory by itself
  rdma_get,
};

[[nodiscard]] const char* name_of(PostType type);
[[nodiscard]] constexpr bool is_put(PostType type) {
  return type == PostType::fma_put || type == PostType::fma_put_with_flag || type == PostType::rdma_put;
}
[[nodiscard]] constexpr bool is_get(PostType type) {
  return type == PostType::fma_get || type == PostType::rdma_get;
}

// Gets reach memory in words of this size: remote address and length are multiples.
inline constexpr Bytes kGetAlignment = 4;
inline constexpr Bytes kFlagBytes = 8;
inline constexpr Bytes kControlBytes = 8;

// Packets of posts with a promised order take the shortest paths. Packets of other posts take the paths that their
// routers choose (AriesParameters::flow).
enum class DeliveryMode : std::uint8_t { performance, in_order };

// A post. The card has all of it when the call returns.
struct PostDescriptor {
  std::uint64_t post_id = 0;  // software's own number, in local and global events
  PostType type = PostType::fma_put;
  CqMode cq_mode = kGlobalEvent;
  DeliveryMode dlvr_mode = DeliveryMode::performance;

  // Source of a put, or destination of a get or of a fetched value. The memory has to be registered, except for an FMA
  // put.
  const void* local = nullptr;
  MemoryHandle local_memory{};
  void* remote = nullptr;        // an atomic's word is aligned to its size
  MemoryHandle remote_memory{};  // of a CQ write: its queue gets the event
  Bytes length = 0;              // of puts and gets

  std::uint64_t* flag = nullptr;  // of a put with a flag: in remote_memory, aligned to its 8 B
  std::uint64_t flag_value = 0;

  AmoCommand command = AmoCommand::add;
  AmoType amo_type = AmoType::i64;
  bool fetches = false;
  AmoOperands operands{};

  std::uint64_t control = 0;  // value of a CQ write
};

// A rank's side of its communication with a peer. A card keeps no state of it.
struct Endpoint {
  Rank peer{};
  CqHandle events{};               // queue for local and global events of its posts
  std::uint32_t remote_event = 0;  // number in remote events of its posts, at the peer
};

}  // namespace gasmeter::networks::aries
