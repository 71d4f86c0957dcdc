// Raw variants of the kernels on EXTOLL cards: VELO packets and RMA, without a conduit.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/networks/extoll/extoll_port.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::extoll::raw {

// Units that carry the messages and puts of a pair of ranks.
enum class Path : std::uint8_t {
  automatic,  // VELO for messages that fit one packet, RMA for everything else
  velo,       // VELO, in as many packets as needed
  rma,
};

// Context that a raw program runs in: its port, its clock, its rank and its options.
struct Context {
  ExtollPort& port;
  sim::ModelHost host;
  Rank rank;
  std::uint32_t ranks;
  Path path = Path::automatic;
};

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_random_access(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_barrier(Context context, const Settings& settings);

// The raw programs by kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::extoll::raw
