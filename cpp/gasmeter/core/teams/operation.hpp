// A collective in progress at one member: its position in the plan, and the messages that it waits for.
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

// A send or receive of the current round. The rest of a message beyond its first part waits until the receiver has
// said where it goes.
struct Transfer {
  Step step;
  Bytes done = 0;          // bytes sent or received
  bool has_first = false;  // the first part has been sent or received
  bool is_open = true;
  bool owes_ready = false;           // of a receive: the sender must be told that this rank is ready
  bool is_cleared = false;           // of a send: the receiver is ready; of a receive: this rank has said so
  std::byte* destination = nullptr;  // of a send: destination of Longs; null: only Mediums are allowed
};

// Clearance of a message that this rank has not yet come to send.
struct Clearance {
  std::uint32_t tag = 0;
  std::uint32_t peer = 0;
  std::byte* destination = nullptr;
};

struct Operation {
  Call call;
  const Rules* rules = nullptr;
  std::uint32_t number = 0;     // position among the team's collectives
  std::uint32_t signature = 0;  // hash of the arguments that all members must agree on
  Buffers buffers;
  Reduction reduction;
  conduit::OperationId id{};
  std::unique_ptr<std::byte[]> memory;  // temporary memory, unless the team's scratch is used
  bool has_scratch = false;

  std::uint32_t next_round = 0;
  std::vector<Transfer> transfers;  // transfers of the current round
  std::uint32_t open = 0;           // transfers not finished
  std::uint32_t owing = 0;          // open transfers that have something to send
  std::vector<Clearance> clearances;
};

// A message that arrived before this rank entered its collective.
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
