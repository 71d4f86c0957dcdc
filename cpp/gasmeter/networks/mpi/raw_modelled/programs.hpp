// Raw programs over matched messages, as programs for MPI are written. The same code runs in real and in virtual time.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/bench/dissemination.hpp"
#include "gasmeter/networks/network.hpp"
#include "gasmeter/services/two_sided_service.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::mpi::raw_modelled {

// Context that a raw program runs in, in either kind of time.
template <class H>
struct Context {
  services::TwoSidedService& service;
  H host;
  Rank rank;
  std::uint32_t ranks;
};

template <class H>
[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context<H> context, const Settings& settings);
template <class H>
[[nodiscard]] std::unique_ptr<Program> make_flood(Context<H> context, const Settings& settings);
template <class H>
[[nodiscard]] std::unique_ptr<Program> make_random_access(Context<H> context, const Settings& settings);

using services::SendState;
using services::Tag;

// First tag and slot of a program; a barrier's rounds use those below.
inline constexpr std::uint32_t kFirstTag = bench::kMostDisseminationRounds;
inline constexpr std::uint32_t kFirstSlot = bench::kMostDisseminationRounds;

// Two-sided messages as programs use them. A number identifies each send, and a slot each receive.
template <class H>
class Mail final : private services::TwoSidedService::Sink {
 public:
  struct Message {
    std::uint32_t slot;
    Rank source;
    Bytes bytes;
  };

  explicit Mail(Context<H> context) : context_(context), entered_(kFirstSlot) {}

  [[nodiscard]] H& host() { return context_.host; }

  void post(std::uint32_t slot, std::span<std::byte> buffer, std::optional<Rank> source, Tag tag) {
    context_.service.post(slot, buffer, source, tag);
  }
  void restart(std::uint32_t slot) { context_.service.restart(slot); }

  // Start a send. The bytes must not change until done(number). Arrivals are kept meanwhile.
  void start(std::uint32_t number, Rank to, Tag tag, std::span<const std::byte> bytes) {
    if (number >= under_way_.size()) under_way_.resize(number + std::size_t{1});
    for (;;) {
      const SendState state = context_.service.send(number, to, tag, bytes);
      if (state == SendState::done) return;
      if (state == SendState::under_way) break;
      if (look() == 0) context_.host.idle(kNever);
    }
    under_way_[number] = true;
    ++sends_;
  }
  [[nodiscard]] bool done(std::uint32_t number) const { return number >= under_way_.size() || !under_way_[number]; }
  [[nodiscard]] bool all_done() const { return sends_ == 0; }

  // Take arrivals and completed sends without waiting; return their number.
  unsigned look() { return context_.service.test_some(*this, kMostFound); }
  // Return the next message that has arrived for the program.
  [[nodiscard]] std::optional<Message> next() {
    if (first_ == arrived_.size()) {
      arrived_.clear();
      first_ = 0;
      return std::nullopt;
    }
    return arrived_[first_++];
  }
  template <class Done>
  void wait_until(Done done) {
    wait_until(done, [] {});
  }
  // Wait until done(). `serve()` runs before each look and handles urgent arrivals; it may send.
  template <class Done, class Serve>
  void wait_until(Done done, Serve serve) {
    while (!done()) {
      serve();
      if (look() == 0 && !done()) context_.host.idle(kNever);
    }
  }
  [[nodiscard]] Message receive() {
    std::optional<Message> message;
    wait_until([&] { return (message = next()).has_value(); });
    return *message;
  }

  // Barrier by empty messages, whose receives are posted when each round begins. Finally it waits until its sends
  // have left. `serve()` handles arrivals from ranks that have not entered.
  void barrier() {
    barrier([] {});
  }
  template <class Serve>
  void barrier(Serve serve) {
    bench::disseminate(context_.rank, context_.ranks, [&](std::uint32_t round, Rank ahead, Rank behind) {
      post(round, {}, behind, Tag{round});
      start(round, ahead, Tag{round}, {});
      wait_until([&] { return entered_[round]; }, serve);
      entered_[round] = false;
    });
    wait_until([&] { return all_done(); }, serve);
  }

 private:
  static constexpr unsigned kMostFound = 16;

  void sent(std::uint32_t number) override {
    under_way_[number] = false;
    --sends_;
  }
  void received(std::uint32_t slot, Rank source, Tag /*tag*/, Bytes bytes) override {
    if (slot < kFirstSlot) {
      entered_[slot] = true;
    } else {
      arrived_.push_back({slot, source, bytes});
    }
  }

  Context<H> context_;
  std::vector<bool> under_way_;   // by number
  std::uint32_t sends_ = 0;       // sends under way
  std::vector<bool> entered_;     // by round
  std::vector<Message> arrived_;  // from first_ on
  std::size_t first_ = 0;
};

// Raw programs in virtual time, one for each kernel.
[[nodiscard]] const RawPrograms<Context<sim::ModelHost>>& programs();

}  // namespace gasmeter::networks::mpi::raw_modelled
