// Raw variants of the kernels on uGNI, without a conduit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gasmeter/networks/aries/domain.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::aries::raw {

// Units that move the payload of puts and gets.
enum class Engine : std::uint8_t {
  fma,
  bte,
  automatic,  // a window up to the cut-over, an engine beyond
};

// hw.aries.fma-to-bte-cutover, of 2018.3.0.
inline constexpr Bytes kCutover = 4096;

// Data that a rank tells all others before the program begins, by the process manager.
struct Box {
  std::byte* words = nullptr;
  std::byte* messages = nullptr;
  MemoryHandle own;  // of words and messages
  std::byte* base = nullptr;
  MemoryHandle memory;  // of the program's own memory, from `base` on
};
using Boxes = std::vector<Box>;  // by rank

// Context that a raw program runs in: its domain, its clock, its rank and its options.
struct Context {
  Domain& domain;
  sim::ModelHost host;
  Rank rank;
  std::uint32_t ranks;
  Boxes& boxes;
  Engine engine = Engine::automatic;
};

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_barrier(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_fetch_add(Context context, const Settings& settings);

// The raw programs by kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::aries::raw
