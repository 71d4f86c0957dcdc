// The raw variants of kernels on EXTOLL cards: VELO packets and RMA, without a conduit.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/networks/extoll/extoll_port.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::extoll::raw {

// What messages and puts of a pair of ranks travel by.
enum class Path : std::uint8_t {
  automatic,  // VELO what one packet holds of messages, RMA all else
  velo,       // as many packets as it takes
  rma,
};
// As option `path` says.
[[nodiscard]] Path path_of(const Settings& settings);

// What a program gets.
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

// By kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::extoll::raw
