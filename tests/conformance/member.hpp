// A conformance case's view of a job: one rank's endpoint, and means to communicate beside the conduit.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "support/effort.hpp"
#include "support/pattern.hpp"

namespace gasmeter::conformance {

using testing::rounds;

// Failures of all ranks.
class Findings {
 public:
  void add(std::string text) {
    const std::lock_guard guard(mutex_);
    if (texts_.size() < kMost) texts_.push_back(std::move(text));
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(texts_); }

 private:
  static constexpr std::size_t kMost = 20;  // the first failures are enough
  std::mutex mutex_;
  std::vector<std::string> texts_;
};

// Words that all ranks share without any conduit. Cases use the first 32.
using Board = std::array<std::atomic<std::uint64_t>, 64>;

template <class H>
class Member {
 public:
  Member(core::Endpoint<H>& ep, Findings& findings, Board& board)
      : endpoint(ep), random(testing::seed_of(index(ep.rank()), ep.ranks())), findings_(findings), board_(board) {}

  core::Endpoint<H>& endpoint;
  std::mt19937_64 random;
  // The conduit, if a case may call it directly; else null.
  conduit::Conduit* conduit = nullptr;
  // Sizes of the machine at which a network's protocols change.
  std::vector<Bytes> limits;
  // Work for peers while the rank waits without polling; on most networks none.
  std::function<void()> meanwhile;

  [[nodiscard]] std::uint32_t self() const { return index(endpoint.rank()); }
  [[nodiscard]] std::uint32_t ranks() const { return endpoint.ranks(); }
  [[nodiscard]] Rank next() const { return Rank{(self() + 1) % ranks()}; }

  void expect(bool holds, const char* what, const char* file, int line) {
    if (holds) [[likely]] {
      return;
    }
    findings_.add(std::string(file) + ":" + std::to_string(line) + ": rank " + std::to_string(self()) + ": " + what);
  }

  // Note an observation, which must be the same with lazy and strict synchronisation.
  void saw(std::uint64_t value) { trace_ = testing::seed_of(trace_, value); }
  [[nodiscard]] std::uint64_t trace() const { return trace_; }

  void post(std::size_t word, std::uint64_t value) {
    endpoint.host().synchronise();
    board_[word].store(value, std::memory_order_release);
  }
  [[nodiscard]] std::uint64_t posted(std::size_t word) {
    endpoint.host().synchronise();
    return board_[word].load(std::memory_order_acquire);
  }
  // Wait for the word without polling.
  void await_posted(std::size_t word, std::uint64_t value) {
    while (posted(word) < value) {
      if (meanwhile) meanwhile();
      endpoint.host().idle(endpoint.host().now() + SimTime::from_ns(1000));
    }
  }
  // Meet all ranks without polling, unlike a barrier.
  void meet() {
    post(kMeetings + self(), ++meetings_);
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) await_posted(kMeetings + rank, meetings_);
  }
  // Let other ranks run, or virtual time pass, without polling.
  void linger(std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps; ++i) {
      endpoint.host().charge(conduit::PrivatePrice::update);
      endpoint.host().synchronise();
      if constexpr (!H::kModelled) endpoint.host().idle(kNever);
    }
  }

 private:
  static constexpr std::size_t kMeetings = 32;  // board: from here on a word per rank

  Findings& findings_;
  Board& board_;
  std::uint64_t meetings_ = 0;
  std::uint64_t trace_ = 0;
};

// Record a failure and continue: a rank that left its body would leave the others waiting.
#define EXPECT(member, ...) (member).expect(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

// Tell whether the call throws an Exception. No waiting code runs inside the catch block.
template <class Exception, class Call>
[[nodiscard]] bool throws(Call&& call) {
  try {
    call();
  } catch (const Exception&) {
    return true;
  }
  return false;
}

}  // namespace gasmeter::conformance
