// Recorded results of RMA traffic: what every rank saw and when, all bytes, and the load of every link. The numbers
// hold for every build. The numbers change only with the model of the cards, or with this traffic.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstdio>

#include "rma_traffic.hpp"

namespace gasmeter::networks::extoll::recorded_rma_test {
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
    Row{"mesh2d:2x1", {0x59baf9fd058fc0a3U, 0xbbeb8a3404cc17fcU, 0xf1d72cf71d4cccb9U, 0xcae3689bd44824e6U, 0xb57c4417168ab808U, 0xbca8f6a8f30368b8U, 0x22861bb60b0d0cfbU, 0x338f11dc952bf29cU}},
    Row{"mesh2d:4x2", {0x4f499f4de586f820U, 0x6c0672781d222008U, 0x157f7582c80b1c1aU, 0x5d1e48fafd11dcd0U, 0x2d84ea8e2c74cd53U, 0x405bd4f656ae859eU, 0x49fb1736674a13a6U, 0xae9cc4f02410b15dU}},
    Row{"torus3d:3x2x2", {0x92e6e58a00ce2fecU, 0x88af86cc10e57fbfU, 0xc9fb1f68bb4bf24bU, 0x1a39ddd1b9af57daU, 0x7352ffafde86fa94U, 0x7a3d880ff1b963f3U, 0xba65a633a7c64415U, 0x0aed3554d162df69U}},
    Row{"ring:5", {0x6ccc40190c77706eU, 0x9b0b54e5d99a48c3U, 0x8b42f34d5a917eb8U, 0x8ae6d992665ae1c9U, 0x87ed0711daf71da3U, 0x68afa5089c570f28U, 0xdf65bc010f1e55bcU, 0xf65230e408d8f6d0U}},
    Row{"crossbar:4", {0xd4958e1e2a28d4c3U, 0x5d93e48cd791076aU, 0xb25bdc24f6254f5cU, 0x0854992e741de231U, 0x1ffa120dfc2f086cU, 0x819f9d4770d62babU, 0xc79a684a5fdfff03U, 0xa9959eddc1c001d3U}},
    Row{"fat-tree:2x3", {0xc32c719328f7646dU, 0x83c7f75c4a6a7f44U, 0x6044a73e675ac8a7U, 0x50eef5e692acb591U, 0xe651894328c13a09U, 0x63aa59fa378d36faU, 0xd1e849fc1a84bfb7U, 0x9a6afd8dd5db78d1U}},
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
}  // namespace gasmeter::networks::extoll::recorded_rma_test
