// A small EXTOLL installation with round numbers.
#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "gasmeter/networks/extoll/extoll_network.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "support/card_world.hpp"

namespace gasmeter::networks::extoll::testing {

// The prices of tests/golden/extoll.md.
inline conduit::HostPrices round_prices() {
  using conduit::PrivatePrice;
  conduit::HostPrices prices = gasmeter::testing::round_card_prices();
  prices[PrivatePrice::own_lock].fixed = {30'000};
  prices[PrivatePrice::two_sided].fixed = {50'000};
  prices[PrivatePrice::match].per_byte_fs = 2'000'000;
  return prices;
}

using gasmeter::testing::sleep_until;

struct Shape {
  unsigned ranks = 2;
  std::string topology = "mesh2d:2x1";
  bool strict = false;
  unsigned threads = 1;
  bool fast_forward = true;
  unsigned ranks_per_node = 0;  // 0: as many as the topology needs
};

struct World {
  explicit World(const Shape& shape = {}, const ExtollParameters& parameters = {})
      : engine(options(shape)), network(engine, sim::Topology::parse(shape.topology), parameters) {}

  static sim::EngineOptions options(const Shape& shape) {
    sim::EngineOptions result;
    result.ranks = shape.ranks;
    result.nodes = sim::Topology::parse(shape.topology).vertices();
    result.prices = round_prices();
    result.strict = shape.strict;
    result.threads = shape.threads;
    result.fast_forward = shape.fast_forward;
    for (unsigned rank = 0; shape.ranks_per_node != 0 && rank < shape.ranks; ++rank) {
      result.node_of.push_back(rank / shape.ranks_per_node);
    }
    return result;
  }
  ExtollPort& port(unsigned rank) { return network.port(Rank{rank}); }
  sim::ModelHost host(unsigned rank) { return engine.host(Rank{rank}); }

  sim::Engine engine;
  ExtollNetwork network;
};

inline const VeloPacket& wait_for_packet(ExtollPort& port, sim::ModelHost host) {
  for (;;) {
    if (const VeloPacket* const packet = port.mailbox_next()) return *packet;
    host.idle(kNever);
  }
}

inline Notification wait_for_notification(ExtollPort& port, sim::ModelHost host) {
  for (;;) {
    if (const std::optional<Notification> notification = port.notification_next()) return *notification;
    host.idle(kNever, {.at_polls_alone = true});
  }
}

inline void send(ExtollPort& port, sim::ModelHost host, unsigned to, std::span<const std::byte> payload,
                 std::uint8_t tag = 0) {
  while (port.velo_send(Rank{to}, payload, tag) != Status::ok) host.idle(kNever);
}

}  // namespace gasmeter::networks::extoll::testing
