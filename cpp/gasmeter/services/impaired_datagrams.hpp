// A service that loses, doubles, delays, reorders and corrupts datagrams by a seeded plan, for tests and experiments.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <vector>

#include "gasmeter/services/datagram_service.hpp"

namespace gasmeter::services {

// Probabilities per datagram, each 0 <= p < 1.
struct Impairment {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;  // the datagram is held back until up to kDeepestReordering later ones have been sent
  double corrupt = 0;  // one bit is flipped
  SimTime delay;       // added to every datagram
  std::uint64_t seed = 0;

  [[nodiscard]] bool any() const { return loss > 0 || duplicate > 0 || reorder > 0 || corrupt > 0 || delay.ps > 0; }
  // Throw UsageError for values out of range.
  void check() const;
};

// Wraps another service, which must outlive this object. All impairments happen on the sending side. Every datagram is
// sent by a call of its own, so that datagrams of a batch or an offload are impaired one by one.
class ImpairedDatagrams final : public DatagramService {
 public:
  ImpairedDatagrams(DatagramService& inner, const Impairment& plan, std::function<SimTime()> now);

  [[nodiscard]] const DatagramLimits& limits() const override { return inner_.limits(); }
  unsigned send(Rank to, std::span<const iovec> parts, Bytes segment) override;
  bool receive(Inbox& inbox) override;
  [[nodiscard]] Bytes bytes_waiting() override;
  [[nodiscard]] SimTime look_price() const override { return inner_.look_price(); }
  [[nodiscard]] SimTime next_deadline() const override;
  // Datagrams held back here are in transit and count as no memory.
  [[nodiscard]] Bytes reserved_bytes() const override { return inner_.reserved_bytes(); }

  struct Counters {
    std::uint64_t sent = 0;  // datagrams handed to this object
    std::uint64_t lost = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t reordered = 0;
    std::uint64_t corrupted = 0;
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  static constexpr unsigned kDeepestReordering = 8;
  static constexpr SimTime kPatience{1'000'000'000};  // 1 ms
  // A datagram that the inner service refuses is tried again after that long, or at the next call. 10 us is about what
  // gigabit Ethernet takes for one datagram.
  static constexpr SimTime kRetry{10'000'000};
  struct Held {
    Rank to;
    std::vector<std::byte> bytes;
    SimTime due;
    unsigned overtakers;  // datagrams that must be sent first

    // Return when the datagram leaves. kPatience bounds the wait for overtakers, which may never come.
    [[nodiscard]] SimTime leaves() const { return overtakers == 0 ? due : due + kPatience; }
  };

  [[nodiscard]] bool happens(double probability);
  void send_one(Rank to, std::vector<std::byte> datagram);
  void release();

  DatagramService& inner_;
  Impairment plan_;
  std::function<SimTime()> now_;
  std::mt19937_64 random_;
  std::deque<Held> held_;
  bool is_full_ = false;  // the inner service refused the first datagram that was due; nothing more is taken
  SimTime retry_;         // when that datagram is tried again
  Counters counters_;
};

}  // namespace gasmeter::services
