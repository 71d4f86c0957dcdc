// Rank 0's side of joining: handshakes with whoever connects, all at the same time, until every rank is there.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gasmeter/launch/handshake.hpp"
#include "gasmeter/launch/remote_ranks.hpp"
#include "gasmeter/launch/unique_fd.hpp"

namespace gasmeter::launch {

// Who says nothing is not waited for longer, on either side.
inline constexpr auto kHandshake = std::chrono::seconds(5);
// More than these may not be silent at a time: the oldest one goes when a new one comes. A rank that was among them
// tries again.
inline constexpr std::size_t kMostSilent = 32;

class Reception {
 public:
  Reception(const RemoteJob& job, int listener_fd);

  // See accept_ranks().
  [[nodiscard]] std::vector<Connection> wait();

 private:
  using Clock = std::chrono::steady_clock;
  // Somebody who has not yet shown who they are.
  struct Guest {
    UniqueFd fd;
    Clock::time_point until;
    Nonce nonce{};
    std::array<char, sizeof(Claim)> claim{};
    Bytes have = 0;
  };
  enum class Heard : std::uint8_t { part, all, nothing };

  void turn(Clock::time_point deadline);
  void let_in();
  void turn_away_oldest();
  [[nodiscard]] Heard hear(Guest& guest);
  void judge(Guest& guest);
  [[nodiscard]] std::string missing() const;

  const RemoteJob& job_;
  int listener_;
  std::vector<Guest> guests_;  // oldest first
  std::vector<Connection> ranks_;
  std::size_t awaited_;
  std::size_t strangers_ = 0;
};

// For a connection that becomes a link: it waits, small frames leave at once, and a host that vanishes is noticed.
void make_link(int fd);

}  // namespace gasmeter::launch
