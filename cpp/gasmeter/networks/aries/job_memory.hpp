// Data that the ranks of a job tell each other at startup, and the memory of their messages.
//
// Each rank has a request area for each peer, and most peers never write to it. The reply slots of a sender limit its
// requests in flight. In this computer's memory a request therefore lies in a block of its sender, one for each reply
// slot. Every rank has registered these blocks as its areas. The sender knows which slots of an area a block stands
// for. Each reply slot has two blocks: the short one is for messages that fit it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/networks/aries/am_wire.hpp"
#include "gasmeter/networks/aries/aries_options.hpp"
#include "gasmeter/networks/aries/event.hpp"

namespace gasmeter::networks::aries {

// Sizes that follow from options.
struct MessageRoom {
  Bytes message = 4096;  // the largest message, without its flag
  Bytes area = 12288;    // for the requests of one peer
  unsigned slots = 48;   // of an area
};
// Throws UsageError for options that leave no room for a message, with the arithmetic.
[[nodiscard]] MessageRoom message_room(const AriesOptions& options);

class JobMemory {
 public:
  struct Known {
    MemoryHandle segment{};
    MemoryHandle requests{};  // areas of the rank
    MemoryHandle replies{};   // reply slots of the rank
    std::byte* reply_slots = nullptr;
  };

  JobMemory(unsigned ranks, const AriesOptions& options);

  [[nodiscard]] unsigned ranks() const { return static_cast<unsigned>(known_.size()); }
  [[nodiscard]] const MessageRoom& room() const { return room_; }
  // Bytes of all reply slots of a rank.
  [[nodiscard]] Bytes blocks() const { return reply_slots_ * (kShortBlock + block_of(room_.message)); }
  [[nodiscard]] Known& of(Rank rank) { return known_[index(rank)]; }

  // Blocks of all ranks.
  [[nodiscard]] std::span<std::byte> requests() const { return requests_.memory(); }
  // Memory of a message at its target, by the reply slot of its request.
  [[nodiscard]] std::byte* request(Rank sender, unsigned reply_slot, bool is_short) const {
    return block(requests_.at(index(sender)), reply_slot, is_short);
  }
  [[nodiscard]] std::byte* reply(Rank target, unsigned reply_slot, bool is_short) const {
    return block(known_[index(target)].reply_slots, reply_slot, is_short);
  }

 private:
  [[nodiscard]] std::byte* block(std::byte* blocks, unsigned reply_slot, bool is_short) const {
    if (is_short) return blocks + reply_slot * kShortBlock;
    return blocks + reply_slots_ * kShortBlock + reply_slot * block_of(room_.message);
  }

  MessageRoom room_;
  Bytes reply_slots_;
  std::vector<Known> known_;
  BufferPool requests_;  // one buffer for each sender
};

}  // namespace gasmeter::networks::aries
