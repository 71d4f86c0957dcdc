// One collective under way at one member: where it stands in its plan, and which messages it waits for.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/core/teams/algorithms.hpp"
#include "gasmeter/core/teams/reduction.hpp"

namespace gasmeter::core::teams {

struct Buffers {
  const std::byte* source = nullptr;
  std::byte* result = nullptr;
  std::byte* temporary = nullptr;
};

// A send or receive of the round that is under way. What a message holds beyond its first part waits until the receiver
// has said where it goes.
struct Transfer {
  Step step;
  Bytes done = 0;          // bytes that are sent, or have come
  bool has_first = false;  // the first part is sent, or has come
  bool is_open = true;
  bool owes_ready = false;     // of a receive: the sender is to be told
  bool is_cleared = false;     // of a send: the receiver is ready. Of a receive: it has said so
  std::byte* there = nullptr;  // of a send: where Longs may go; null: only Mediums
};

// The receiver of a message has said that it is ready before this rank came to send it.
struct Clearance {
  std::uint32_t tag = 0;
  std::uint32_t peer = 0;
  std::byte* there = nullptr;
};

struct Operation {
  Call call;
  const Rules* rules = nullptr;
  std::uint32_t number = 0;     // of the team's collectives
  std::uint32_t signature = 0;  // what all members must agree on
  Buffers buffers;
  Reduction reduction;
  conduit::OperationId id{};
  std::unique_ptr<std::byte[]> memory;  // temporary memory, if it is not the team's scratch
  bool has_scratch = false;

  std::uint32_t next_round = 0;
  std::vector<Transfer> transfers;  // of the round that is under way
  std::uint32_t open = 0;           // of them
  std::uint32_t owing = 0;          // of them those with something to send
  std::vector<Clearance> clearances;
};

// A message that came before this rank was there.
struct Early {
  std::uint32_t number = 0;
  std::uint32_t tag = 0;
  std::uint32_t signature = 0;
  std::uint32_t source = 0;  // job rank
  Bytes total = 0;
  std::vector<std::byte> data;
};
struct EarlyClearance {
  std::uint32_t number = 0;
  std::uint32_t source = 0;  // job rank
  Clearance clearance;
};

}  // namespace gasmeter::core::teams
