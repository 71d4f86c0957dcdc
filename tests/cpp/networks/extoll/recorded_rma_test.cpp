// What traffic of the RMA units comes to, written down: when every rank saw what, all bytes, what every link carried.
// Numbers of one build hold for all. They change only with what the cards model, or with this traffic.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstdio>

#include "rma_traffic.hpp"

namespace gasmeter::networks::extoll {
namespace {

using testing::RmaTraffic;
using testing::RmaTrafficOptions;

struct Kind {
  const char* name;
  void (*set)(RmaTrafficOptions& options);
};
constexpr std::array kKinds{
    Kind{"few at a time", [](RmaTrafficOptions& options) { options.pauses = 6; }},
    Kind{"one rank alone", [](RmaTrafficOptions& options) { options.active = 1; }},
    Kind{"two ranks", [](RmaTrafficOptions& options) { options.active = 2; }},
    Kind{"all at once", [](RmaTrafficOptions& options) { options.largest = 64 * 1024; }},
    Kind{"three ranks a node",
         [](RmaTrafficOptions& options) {
           options.ranks_per_node = 3;
           options.active = 4;
           options.largest = 256 * 1024;
         }},
    Kind{"units slower than links",
         [](RmaTrafficOptions& options) {
           options.active = 3;
           options.parameters.completer = {700'000};
           options.parameters.requester = {650'000};
           options.parameters.link.buffer = 16;
         }},
    Kind{"two buffers, a latency that no packet's time divides",
         [](RmaTrafficOptions& options) {
           options.active = 2;
           options.parameters.link.buffer = 2;
           options.parameters.link.latency = {270'001};
         }},
    Kind{"no limit of buffers, packets of 512 bytes, odd prices",
         [](RmaTrafficOptions& options) {
           options.active = 2;
           options.parameters.link.buffer = 0;
           options.parameters.link.per_byte_fs = 1'600'003;
           options.parameters.packet = 512;
           options.parameters.host_link_per_byte_fs = 625'001;
         }},
};

struct Row {
  const char* topology;
  std::array<std::uint64_t, kKinds.size()> digests;
};
// clang-format off
constexpr std::array kRows{
    Row{"mesh2d:2x1", {0xe791293abe7b0009U, 0xae39e7482602e6e1U, 0x0ca911872cc49c32U, 0x6182228cce10669cU, 0x8466a36c9ab0dde9U, 0xfef441982609176aU, 0x99e940acc9a8ee4cU, 0xa8e356dfd5bef164U}},
    Row{"mesh2d:4x2", {0x7fb2175a8ff0ca3aU, 0x1a7ed219d2180adfU, 0x304630900ce56190U, 0x4e778a2886d3f492U, 0x707c68767a7a9744U, 0x44df32529f6b5747U, 0x1d9acdc8935d9a5fU, 0x09bdd2c5817f5994U}},
    Row{"torus3d:3x2x2", {0x12e615201ba830c2U, 0xe77aaf1a4daf5600U, 0x564ba41e3a7969efU, 0x800db307883ecec7U, 0x71f87c21abe344b5U, 0x586f28c04afaa018U, 0x38072be2dd936bb6U, 0x3429ce1f9b26e5fbU}},
    Row{"ring:5", {0xb81f9a2acb5e6027U, 0x1f167199bc4be683U, 0x838ec954147056a5U, 0x4b1cc3fdfc3165bdU, 0x9e1c997c4d9d766cU, 0x50651a09128ca274U, 0xfc88f8d4c3dd7881U, 0xf45b8b1c1ffcacc7U}},
    Row{"crossbar:4", {0x5355f02129c758a4U, 0x64b55de61c280aafU, 0x435e7f77fe8076e7U, 0x4fcf0ee1e6f37e73U, 0x4c1f8c80dcb17aecU, 0x406bc16d3e0a8909U, 0x1070148c8d9105d8U, 0x77f0f0a19ce63ffbU}},
    Row{"fat-tree:2x3", {0x35ef131056917d8aU, 0xce433bb1c3f8afbdU, 0x7fa50a7a6e7b1476U, 0x548fd4c9a1264e68U, 0x38cacc11af162cf3U, 0x15d64eeea4e88546U, 0xc3e4a0f1216b8962U, 0x3d5ac68c9af50b7bU}},
};
// clang-format on

RmaTrafficOptions options_of(const Row& row, std::size_t kind) {
  RmaTrafficOptions options;
  options.topology = row.topology;
  options.seed = kind + 1;
  kKinds[kind].set(options);
  return options;
}

TEST_CASE("rma_traffic_comes_to_the_same_as_ever") {
  for (const Row& row : kRows) {
    CAPTURE(row.topology);
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
      CAPTURE(kKinds[kind].name);
      const std::uint64_t digest = RmaTraffic(options_of(row, kind)).run().digest();
      CHECK(digest == row.digests[kind]);
    }
  }
}

TEST_CASE("rma_traffic_is_the_same_lazily_strictly_and_on_any_number_of_threads") {
  for (const Row& row : kRows) {
    CAPTURE(row.topology);
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
      CAPTURE(kKinds[kind].name);
      RmaTrafficOptions options = options_of(row, kind);
      options.threads = static_cast<unsigned>(2 + kind % 3);
      CHECK(RmaTraffic(options).run().digest() == row.digests[kind]);
      options.threads = 1;
      options.strict = true;
      CHECK(RmaTraffic(options).run().digest() == row.digests[kind]);
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::extoll
