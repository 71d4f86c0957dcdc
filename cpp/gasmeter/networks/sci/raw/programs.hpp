// The raw variants of kernels on SCI cards, without a conduit.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/networks/network.hpp"
#include "gasmeter/networks/sci/sisci.hpp"

namespace gasmeter::networks::sci::raw {

// How a program moves bytes.
enum class Path : std::uint8_t { pio, dma };

// What a program gets.
struct Context {
  Sisci& sisci;
  sim::ModelHost host;
  Rank rank;
  std::uint32_t ranks;
  Path path = Path::pio;
  bool confirms = false;  // puts end when their transactions have: else whoever waits for them watches memory
};

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_barrier(Context context, const Settings& settings);

// By kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::sci::raw
