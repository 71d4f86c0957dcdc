// Measures how fast this computer simulates the fabric alone:
//   random-put   64-byte puts with acknowledgement to random ranks, at most 16 outstanding per rank
//   ping-pong    two ranks put to each other in turn
//   fetch-add    every rank adds to one word of rank 0, at most 16 outstanding per rank
#include "gasmeter/bench/simulator.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/networks/fabric/bare_network.hpp"
#include "gasmeter/networks/fabric/raw/programs.hpp"

namespace gasmeter::networks::fabric::raw {

using namespace bench;

namespace {

constexpr Bytes kSlots = 4;  // cache lines of each rank that puts write to

// Cache line that puts write. Its words follow from its first word and from its place in the memory of all ranks.
using Line = std::array<std::uint64_t, kPayload / sizeof(std::uint64_t)>;

Line line_of(std::uint64_t first, std::uint32_t rank, Bytes slot) {
  const std::uint64_t step = kGoldenGamma * (2 * (rank * kSlots + slot) + 1);
  Line line{};
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = first + i * step;
  return line;
}

class Simulator final : public Program {
 public:
  Simulator(Context context, const Settings& settings)
      : port_(context.port),
        self_(index(context.rank)),
        ranks_(context.ranks),
        is_ping_pong_(settings.op == "ping-pong"),
        is_fetch_add_(settings.op == "fetch-add"),
        choice_(settings, self_) {
    if (settings.op == "am") throw UsageError("kernel simulator: op am runs on conduits, not on raw@fabric");
  }

  [[nodiscard]] bool compares() const override { return !is_fetch_add_ || posted_ != 0 || self_ == 0; }

  BlockResult run(std::uint64_t iterations) override {
    const SimTime start = port_.host().now();
    if (is_ping_pong_) {
      play(iterations);
    } else {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        finish_all_but(simulator::kOutstanding - 1);
        post();
      }
      finish_all_but(0);
    }
    return {port_.host().now() - start, iterations * (is_ping_pong_ ? std::min(2U, ranks_) : ranks_), {}};
  }

  Verification verify() override {
    const bool alone = posted_ == 0;  // other ranks may still have puts under way then
    if (alone) (void)run(simulator::kProbe);
    return is_fetch_add_ ? verify_word(alone) : verify_lines();
  }

 private:
  // Check that every line is whole and at its place, in ping-pong the last line sent. If the card counted arrivals,
  // lines must have arrived. Every put must be acknowledged.
  Verification verify_lines() {
    Verification verification;
    const std::byte* const memory = port_.memory().data();
    bool empty = true;
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      Line line{};
      std::memcpy(line.data(), memory + slot * kPayload, kPayload);
      if (line == Line{}) continue;
      empty = false;
      ++verification.checked;
      verification.errors +=
          line != line_of(is_ping_pong_ ? number_of(1 - self_, expected_) : line[0], self_, slot) ? 1U : 0U;
    }
    verification.checked += 2;
    verification.errors += (port_.arrived() == 0) != empty ? 1U : 0U;
    verification.errors += port_.completed() != posted_ ? 1U : 0U;
    return verification;
  }

  // Check that rank 0's word counts each rank's additions of 1, and that a rank's fetched values only grew.
  Verification verify_word(bool others_may_add) {
    Verification verification;
    verification.checked = posted_;  // each fetched value was compared with the one before
    if (self_ == 0) {
      ++verification.checked;
      std::uint64_t word = 0;
      std::memcpy(&word, port_.memory().data(), sizeof word);
      const std::uint64_t all = posted_ * ranks_;
      verification.errors += (others_may_add ? word < posted_ || word > all : word != all) ? 1U : 0U;
    }
    verification.errors += disorder_;
    return verification;
  }

  void post() {
    ++posted_;
    if (is_fetch_add_) {
      port_.fetch_add(Rank{0}, 0, mutants::operand(std::uint64_t{1}));
      return;
    }
    const std::uint32_t to = choice_.below(ranks_);
    const std::uint64_t first = choice_.next();
    const Bytes slot = choice_.below(kSlots);
    put(Rank{to}, slot, line_of(first, to, slot));
  }

  void finish_all_but(std::uint64_t left) {
    while (posted_ - port_.completed() > left) {
      port_.wait_completion();
      // Fetched values only grow, since a rank's own requests arrive in order.
      if (is_fetch_add_ && port_.completed() != 0) {
        disorder_ += port_.last_fetched() < fetched_ ? 1U : 0U;
        fetched_ = port_.last_fetched();
      }
    }
  }

  void play(std::uint64_t iterations) {
    if (self_ > 1 || ranks_ < 2) return;
    const Rank other{1 - self_};
    for (std::uint64_t i = 0; i < iterations; ++i) {
      if (self_ == 0) put_to(other);
      ++expected_;
      while (port_.arrived() < expected_) port_.wait_arrival();
      if (self_ == 1) put_to(other);
    }
    finish_all_but(0);
  }

  void put(Rank to, Bytes slot, const Line& line) {
    mutants::message(line.data(), sizeof line,
                     [&](const void* data) { port_.put(to, slot * kPayload, static_cast<const std::byte*>(data)); });
  }
  // Return the first word of a player's n-th line, with n from 1.
  [[nodiscard]] static std::uint64_t number_of(std::uint32_t player, std::uint64_t n) { return 2 * n + player; }
  void put_to(Rank other) {
    ++posted_;
    put(other, 0, line_of(number_of(self_, posted_), index(other), 0));
  }

  BarePort& port_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  bool is_ping_pong_;
  bool is_fetch_add_;
  simulator::Choice choice_;
  std::uint64_t posted_ = 0;
  std::uint64_t expected_ = 0;  // puts of the other player
  std::uint64_t fetched_ = 0;
  std::uint64_t disorder_ = 0;
};

}  // namespace

Bytes share_of_simulator(const Settings& /*settings*/) {
  return kSlots * kPayload;
}
std::unique_ptr<Program> make_simulator(Context context, const Settings& settings) {
  return std::make_unique<Simulator>(context, settings);
}

}  // namespace gasmeter::networks::fabric::raw
