// Meeting of all ranks that computes the least and the largest of their numbers.
#pragma once

#include <array>
#include <cstdint>

#include "gasmeter/core/endpoint.hpp"

namespace gasmeter::pgas {

struct Extremes {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

// The meeting is a dissemination: in round k a rank sends its extremes to the rank 2^k further on. An endpoint has one
// agreement.
template <class H>
class Agreement {
 public:
  explicit Agreement(core::Endpoint<H>& endpoint);
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  // Contribute `value`. The call is collective: no rank returns before all have called.
  Extremes meet(std::uint64_t value);

 private:
  static constexpr std::size_t kRounds = 32;
  struct Told {
    Extremes values;
    bool is_there = false;
  };
  static void on_told(core::Token<H>& token);

  core::Endpoint<H>& endpoint_;
  std::uint32_t rounds_ = 0;
  std::uint32_t meeting_ = 0;
  // Two meetings suffice, since no rank is ahead by more than one: a meeting cannot end without this rank.
  std::array<std::array<Told, kRounds>, 2> told_{};
};

}  // namespace gasmeter::pgas
