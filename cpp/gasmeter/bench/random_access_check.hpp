// The effect of all ranks' updates on one rank's share of the table, computed from their streams alone. A rank thus
// verifies its share without a message, and independently of the path that is verified.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "gasmeter/bench/of_job.hpp"
#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/random_access_stream.hpp"
#include "gasmeter/bench/random_access_table.hpp"

namespace gasmeter::bench::random_access {

// Jumps from R_k to R_(k + n) for a fixed n. Modulo the polynomial the stream's values are powers of x, so that a jump
// is a product by R_n. The product is linear in the bits of R_k and looked up byte by byte.
class Jump {
 public:
  explicit Jump(std::uint64_t n) {
    std::uint64_t value = starts(n);  // for bit 0
    for (auto& table : of_byte_) {
      for (unsigned bit = 0; bit < 8; ++bit, value = step(value)) {
        const std::size_t first = std::size_t{1} << bit;
        for (std::size_t i = 0; i < first; ++i) table[first + i] = table[i] ^ value;
      }
    }
  }
  [[nodiscard]] std::uint64_t operator()(std::uint64_t value) const {
    std::uint64_t result = 0;
    for (const auto& table : of_byte_) {
      result ^= table[value & 0xffU];
      value >>= 8U;
    }
    return result;
  }

 private:
  std::array<std::array<std::uint64_t, 256>, 8> of_byte_{};
};

// Call take(value) for the updates `begin`..`end` - 1 of every rank's stream, rank after rank. Calls `look`, unless
// null, before each rank; an exception from it ends the walk.
template <class Take>
void for_every_update(const Distribution& table, std::uint32_t ranks, std::uint64_t begin, std::uint64_t end, Take take,
                      const std::function<void()>& look = nullptr) {
  // The first ranks may own one word more than the others: there are two lengths of streams.
  const std::array<std::uint64_t, 2> lengths{kUpdatesPerWord * table.count_of(0),
                                             kUpdatesPerWord * table.count_of(ranks - 1)};
  const std::array<Jump, 2> over{Jump(lengths[0]), Jump(lengths[1])};
  const std::array<Jump, 2> into{Jump(begin % lengths[0]), Jump(begin % lengths[1])};
  std::uint64_t first = starts(table.stream_offset());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (look != nullptr) look();
    const std::size_t kind = kUpdatesPerWord * table.count_of(rank) == lengths[0] ? 0 : 1;
    std::uint64_t value = into[kind](first);
    std::uint64_t rest = lengths[kind] - begin % lengths[kind];
    for (std::uint64_t left = end - begin; left != 0;) {
      const std::uint64_t count = std::min(left, rest);
      for (std::uint64_t i = 0; i < count; ++i) {
        value = step(value);
        take(value);
      }
      left -= count;
      value = first;  // a stream that has ended begins again
      rest = lengths[kind];
    }
    first = over[kind](first);
  }
}

// Take the updates `begin`..`end` - 1 of all ranks out of a rank's words again.
inline void take_back(std::uint64_t* words, const Distribution& table, std::uint32_t owner, std::uint32_t ranks,
                      std::uint64_t begin, std::uint64_t end) {
  if (begin == end) return;
  const std::uint64_t first = table.first_of(owner);
  const std::uint64_t count = table.count_of(owner);
  for_every_update(table, ranks, begin, end, [=, mask = table.mask()](std::uint64_t value) {
    const std::uint64_t word = (value & mask) - first;
    if (word < count) words[word] ^= value;
  });
}

// The shares of a job whose ranks all live in this process, as in virtual time. The first rank that comes takes updates
// back for all, so that the streams are walked once and not by every rank.
class Shares {
 public:
  explicit Shares(std::uint32_t ranks) : words_(ranks) {}

  // Set `look`, which is called now and then while the streams are walked; an exception from it ends the walk.
  void look_at(std::function<void()> look) { look_ = std::move(look); }
  // Add a rank's share, once for each rank, before any rank verifies.
  void add(std::uint32_t rank, std::uint64_t* words) {
    const std::lock_guard guard(lock_);
    words_[rank] = words;
  }
  // Take back the updates in the shares of all ranks, unless another rank has done so. All ranks' updates have been
  // applied.
  void take_back(const Distribution& table, std::uint64_t begin, std::uint64_t end) {
    const std::lock_guard guard(lock_);
    if (end <= taken_back_) return;
    taken_back_ = end;
    for_every_update(
        table, static_cast<std::uint32_t>(words_.size()), begin, end,
        [&](std::uint64_t value) {
          const std::uint64_t word = value & table.mask();
          const std::uint32_t owner = table.owner(word);
          words_[owner][table.offset(word, owner)] ^= value;
        },
        look_);
  }

 private:
  std::mutex lock_;
  std::function<void()> look_;
  std::vector<std::uint64_t*> words_;  // by rank
  std::uint64_t taken_back_ = 0;       // updates taken back, of every stream
};

// Verification of a rank's share of the table; remembers its place in the stream.
class Verifier {
 public:
  // For a rank on its own.
  Verifier() = default;
  // For a rank of a job whose ranks all live in this process.
  Verifier(std::shared_ptr<Shares> shares, std::uint32_t rank, std::uint64_t* words) : shares_(std::move(shares)) {
    shares_->add(rank, words);
  }

  // Verify. `update(count)` runs the program's loop, on a few updates, if none have run since the last call. `meet()`
  // is a barrier of all ranks. Leaves the table in its initial state.
  template <class Update, class Meet>
  [[nodiscard]] Verification verify(std::uint64_t* words, const Distribution& table, std::uint32_t rank,
                                    std::uint32_t ranks, const Stream& stream, Update update, Meet meet) {
    if (stream.position() == verified_) {
      const std::uint64_t shortest = kUpdatesPerWord * table.count_of(ranks - 1);  // as many at every rank
      update(std::min(probe_updates(ranks), shortest));
    }
    meet();
    if (shares_ != nullptr) {
      shares_->take_back(table, verified_, stream.position());
    } else {
      take_back(words, table, rank, ranks, verified_, stream.position());
    }
    verified_ = stream.position();
    const Verification verification = check_and_reset(words, table.first_of(rank), table.count_of(rank));
    meet();
    return verification;
  }

 private:
  std::shared_ptr<Shares> shares_;  // null: the rank is alone
  std::uint64_t verified_ = 0;      // verified updates of the stream
};

// Make the verifier of a rank on a host: if the host is modelled, all ranks live in this process.
template <class Host>
[[nodiscard]] Verifier verifier_on(const Host& host, std::uint32_t rank, std::uint32_t ranks, std::uint64_t* words) {
  if constexpr (Host::kModelled) {
    auto shares = of_job<Shares>(&host.engine(), ranks);
    shares->look_at([&engine = host.engine()] { engine.check_stop(); });
    return {std::move(shares), rank, words};
  } else {
    return {};
  }
}

}  // namespace gasmeter::bench::random_access
