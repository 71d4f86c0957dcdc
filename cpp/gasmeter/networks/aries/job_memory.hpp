// What the ranks of a job tell each other at startup, and where their messages lie.
//
// At each rank there is a request area for each peer, which most peers never write to. What requests are under way of
// one rank is limited by its reply slots: in this computer's memory a request lies in a block of its sender's, one for
// each reply slot, which every rank has registered as its areas. Which slots of an area that stands for, its sender
// knows. Each reply slot has two blocks, of which the short one is for messages that it has room for.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/networks/aries/am_wire.hpp"
#include "gasmeter/networks/aries/aries_options.hpp"
#include "gasmeter/networks/aries/event.hpp"

namespace gasmeter::networks::aries {

// How large everything is that options say the size of.
struct MessageRoom {
  Bytes message = 4096;  // the largest one, but for its flag
  Bytes area = 12288;    // for the requests of one peer
  unsigned slots = 48;   // of an area
};
// Throws UsageError for options that no message fits, with the arithmetic.
[[nodiscard]] MessageRoom message_room(const AriesOptions& options);

class JobMemory {
 public:
  struct Known {
    MemoryHandle segment{};
    MemoryHandle requests{};  // its areas
    MemoryHandle replies{};   // its reply slots
    std::byte* reply_slots = nullptr;
  };

  JobMemory(unsigned ranks, const AriesOptions& options);

  [[nodiscard]] unsigned ranks() const { return static_cast<unsigned>(known_.size()); }
  [[nodiscard]] const MessageRoom& room() const { return room_; }
  // Of all reply slots of a rank.
  [[nodiscard]] Bytes blocks() const { return reply_slots_ * (kShortBlock + block_of(room_.message)); }
  [[nodiscard]] Known& of(Rank rank) { return known_[index(rank)]; }

  // Of all ranks.
  [[nodiscard]] std::span<std::byte> requests() const { return requests_.memory(); }
  // Where a message lies at its target, of a request's reply slot.
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
  BufferPool requests_;  // of each sender one
};

}  // namespace gasmeter::networks::aries
