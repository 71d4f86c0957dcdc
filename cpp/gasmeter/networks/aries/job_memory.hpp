// What the ranks of a job tell each other at startup, and where their messages lie.
//
// At each rank there is a request area for each peer, which most peers never write to. What requests are under way of
// one rank is limited by its reply slots: in this computer's memory a request lies in a block of its sender's, one for
// each reply slot, which every rank has registered as its areas. Which slots of an area that stands for, its sender
// knows.
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
  [[nodiscard]] Bytes block() const { return block_of(room_.message); }
  [[nodiscard]] Known& of(Rank rank) { return known_[index(rank)]; }

  // Of all ranks.
  [[nodiscard]] std::span<std::byte> requests() const { return requests_.memory(); }
  // Where a message lies at its target, of a request's reply slot.
  [[nodiscard]] std::byte* request(Rank sender, unsigned reply_slot) const {
    return requests_.at(index(sender)) + reply_slot * block();
  }
  [[nodiscard]] std::byte* reply(Rank target, unsigned reply_slot) const {
    return known_[index(target)].reply_slots + reply_slot * block();
  }

 private:
  MessageRoom room_;
  std::vector<Known> known_;
  BufferPool requests_;  // of each sender one
};

}  // namespace gasmeter::networks::aries
