#include "gasmeter/networks/aries/request_slots.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace gasmeter::networks::aries {

namespace {

constexpr unsigned kBits = RequestSlots::kBits;
constexpr std::size_t kFewestPlaces = 8;

std::uint64_t bits(unsigned first, unsigned many) {
  return (many == kBits ? ~std::uint64_t{0} : (std::uint64_t{1} << many) - 1) << first;
}

// Return the lowest of `many` consecutive bits in `free`, or 64 if there are none.
unsigned lowest_run(std::uint64_t free, unsigned many) {
  if (many > kBits) return kBits;
  for (unsigned have = 1; have < many;) {
    const unsigned more = std::min(have, many - have);
    free &= free >> more;
    have += more;
  }
  return static_cast<unsigned>(std::countr_zero(free));
}

bool is_used(std::span<const std::uint64_t> map, unsigned slot) {
  return (map[slot / kBits] >> (slot % kBits) & 1U) != 0;
}

// Search an area whose map has several words.
std::optional<unsigned> first_of(std::span<const std::uint64_t> map, unsigned slots, unsigned many) {
  unsigned free = 0;
  for (unsigned slot = 0; slot < slots; ++slot) {
    free = is_used(map, slot) ? 0 : free + 1;
    if (free == many) return slot + 1 - many;
  }
  return std::nullopt;
}

// Act on the bits of some slots, word by word.
template <class Do>
void for_bits(std::span<std::uint64_t> map, unsigned first, unsigned many, Do&& act) {
  while (many != 0) {
    const unsigned count = std::min(many, kBits - first % kBits);
    act(map[first / kBits], bits(first % kBits, count));
    first += count;
    many -= count;
  }
}

}  // namespace

std::optional<unsigned> RequestSlots::take(Rank peer, unsigned many) {
  const std::span<std::uint64_t> map = map_of(peer);
  if (words_ == 1) {
    const unsigned first = lowest_run(~map[0] & bits(0, slots_), many);
    if (first == kBits) return std::nullopt;
    map[0] |= bits(first, many);
    return first;
  }
  const std::optional<unsigned> first = first_of(map, slots_, many);
  if (first) for_bits(map, *first, many, [](std::uint64_t& word, std::uint64_t mask) { word |= mask; });
  return first;
}

void RequestSlots::give(Rank peer, unsigned first, unsigned many) {
  const std::span<std::uint64_t> map = map_of(peer);
  if (words_ == 1) {
    map[0] &= ~bits(first, many);
    return;
  }
  for_bits(map, first, many, [](std::uint64_t& word, std::uint64_t mask) { word &= ~mask; });
}

unsigned RequestSlots::used(Rank peer) const {
  if (table_.empty() || table_[place_of(peer)].peer == kNobody) return 0;
  const std::uint64_t* const map = maps_.data() + table_[place_of(peer)].map * words_;
  unsigned sum = 0;
  for (std::size_t word = 0; word < words_; ++word) sum += static_cast<unsigned>(std::popcount(map[word]));
  return sum;
}

// Return the peer's place in the table, or the free place for it.
std::size_t RequestSlots::place_of(Rank peer) const {
  const std::size_t mask = table_.size() - 1;
  std::size_t place = (index(peer) * std::size_t{0x9e3779b97f4a7c15U} >> 32U) & mask;
  while (table_[place].peer != kNobody && table_[place].peer != index(peer)) place = (place + 1) & mask;
  return place;
}

std::span<std::uint64_t> RequestSlots::map_of(Rank peer) {
  if (2 * (peers_ + 1) > table_.size()) grow();
  Known& entry = table_[place_of(peer)];
  if (entry.peer == kNobody) {
    entry = {index(peer), static_cast<std::uint32_t>(peers_++)};
    maps_.resize(peers_ * words_);
  }
  return words(entry.map);
}

void RequestSlots::grow() {
  const std::vector<Known> before = std::exchange(table_, {});
  table_.resize(std::max(kFewestPlaces, 2 * before.size()));
  for (const Known& entry : before) {
    if (entry.peer != kNobody) table_[place_of(Rank{entry.peer})] = entry;
  }
}

}  // namespace gasmeter::networks::aries
