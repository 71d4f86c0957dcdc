// Updates of RandomAccess in the memory that all ranks share.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/random_access_stream.hpp"
#include "gasmeter/bench/random_access_table.hpp"

namespace gasmeter::bench::random_access {

GASMETER_INLINE void atomic_xor(std::uint64_t* word, std::uint64_t value) {
  std::atomic_ref<std::uint64_t>(*word).fetch_xor(value, std::memory_order_relaxed);
}

// Apply updates by atomic exclusive-or to the words of all ranks, each at address(index).
template <class Address>
GASMETER_INLINE void update_words(Stream& stream, std::uint64_t updates, std::uint64_t mask, Address address) {
  const auto apply = [](std::uint64_t* word, std::uint64_t value) { atomic_xor(word, mutants::operand(value)); };
  InFlight in_flight;
  std::uint64_t turn = 0;
  stream.each(updates, [&](std::uint64_t value) { in_flight.add(turn, address(value & mask), value, apply); });
  in_flight.finish(apply);
}

// The same with shares anywhere; shares one behind the other form a single table.
inline void update_in_place(Stream& stream, std::uint64_t updates, const Distribution& table,
                            const std::vector<std::uint64_t*>& shares) {
  bool in_one_piece = true;
  for (std::uint32_t rank = 0; rank < shares.size(); ++rank) {
    in_one_piece &= shares[rank] == shares[0] + table.first_of(rank);
  }
  if (in_one_piece) {
    update_words(stream, updates, table.mask(), [all = shares[0]](std::uint64_t index) { return all + index; });
    return;
  }
  update_words(stream, updates, table.mask(), [&](std::uint64_t index) {
    const std::uint32_t owner = table.owner(index);
    return shares[owner] + table.offset(index, owner);
  });
}

}  // namespace gasmeter::bench::random_access
