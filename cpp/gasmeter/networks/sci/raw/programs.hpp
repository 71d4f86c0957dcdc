// Raw variants of the kernels on SCI cards, without a conduit.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/networks/network.hpp"
#include "gasmeter/networks/sci/sisci.hpp"

namespace gasmeter::networks::sci::raw {

// How a program moves bytes.
enum class Path : std::uint8_t { pio, dma };

// Context that a raw program runs in: its card, its clock, its rank and its options.
struct Context {
  Sisci& sisci;
  sim::ModelHost host;
  Rank rank;
  std::uint32_t ranks;
  Path path = Path::pio;
  // A put ends when its transactions have ended. Otherwise a program that waits for it watches memory.
  bool confirms = false;
};

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_barrier(Context context, const Settings& settings);

// The raw programs by kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::sci::raw
