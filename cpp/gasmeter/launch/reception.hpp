// Rank 0's side of joining: handshakes with all who connect, at the same time, until every rank has joined.
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

// Longest wait for a silent partner, on either side.
inline constexpr auto kHandshake = std::chrono::seconds(5);
// Most guests that may be silent at a time: the oldest goes when a new one comes. A rank among them tries again.
inline constexpr std::size_t kMostSilent = 32;

class Reception {
 public:
  Reception(const RemoteJob& job, int listener_fd);

  // Wait for all ranks; see accept_ranks().
  [[nodiscard]] std::vector<Connection> wait();

 private:
  using Clock = std::chrono::steady_clock;
  // A connection whose other side has not yet proved what it is.
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

// Prepare a connection that becomes a link: calls wait, small frames leave at once, and a host that vanishes is
// noticed.
void make_link(int fd);

}  // namespace gasmeter::launch
