// Recorded results of traffic over a fabric: arrivals, ends of ranks, use of links. The numbers hold for all builds:
// with and without optimisation, with either compiler, with sanitizers. They change only with the fabric's model, or
// with this traffic.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include "random_traffic.hpp"
#include "support/effort.hpp"

namespace gasmeter::sim::recorded_traffic_test {
namespace {

using testing::RandomTraffic;
using testing::TrafficOptions;
using testing::TrafficOutcome;

struct Kind {
  const char* name;
  void (*set)(TrafficOptions& options);
};
constexpr std::array kKinds{
    Kind{"random", [](TrafficOptions&) {}},
    Kind{"all to rank 0", [](TrafficOptions& options) { options.hot_spot = true; }},
    Kind{"in step",
         [](TrafficOptions& options) {
           options.in_step = true;
           options.latency = {320'000};
         }},
    Kind{"three ranks a node", [](TrafficOptions& options) { options.ranks_per_node = 3; }},
    Kind{"in four blocks, packets under way between them", [](TrafficOptions& options) { options.parks = 3; }},
    Kind{"over links that take no time for bytes", [](TrafficOptions& options) { options.per_byte_fs = 0; }},
};

// Return a digest over buffers of 0, 1, 2, 15 and 1000 packets.
std::uint64_t digest_of(TrafficOptions options) {
  std::uint64_t hash = 0;
  for (const unsigned buffer : {0U, 1U, 2U, 15U, 1000U}) {
    options.buffer = buffer;
    hash = TrafficOutcome::mixed(hash, RandomTraffic(options).run().digest());
  }
  return hash;
}

TEST_CASE("every_build_gives_the_same_bytes_on_every_topology") {
  struct Row {
    const char* topology;
    std::uint64_t messages;
    std::array<std::uint64_t, kKinds.size()> digests;
  };
  // clang-format off
  for (const Row& row : {
           Row{"ring:2", 60, {0xa1f89b50edb8f9aaU, 0x4d30a1e7677c73b9U, 0x88d4d0402803b66cU, 0xe6a65ce23883cc75U, 0xeca02009b7db501aU, 0x4e96c6b59f756ec2U}},
           Row{"ring:7", 40, {0x2edeeb57331276ceU, 0x5d3727b90f3dbf58U, 0x148cc4af51ba9cfdU, 0x3c5c88caa46ad96fU, 0x20f839798b93cdf5U, 0xc6261cabadb774a7U}},
           Row{"ring:8", 40, {0xe5571f251661dee6U, 0x8fc3eed24df7b600U, 0xab8a9bc6b874900eU, 0x23c6890a420b1573U, 0x855d1d787e6b3147U, 0x4c715ea4d2476aacU}},
           Row{"mesh2d:2x1", 60, {0xa1f89b50edb8f9aaU, 0x4d30a1e7677c73b9U, 0x88d4d0402803b66cU, 0xe6a65ce23883cc75U, 0xeca02009b7db501aU, 0x4e96c6b59f756ec2U}},
           Row{"mesh2d:5x3", 30, {0xd91e37a53a530f40U, 0xaf34ca04e0b4521bU, 0x9fd0cb0c6709afacU, 0x1f94154304318e69U, 0x8b9cc94849380e3bU, 0x75c2600d1d256855U}},
           Row{"mesh3d:3x3x3", 30, {0x0d182798ad6a9edeU, 0x7f3f79337a2e2fa1U, 0x8f2da97d1c3db398U, 0xa24de19098dd3062U, 0x8484ce832864ccd2U, 0x93c22345015f0e36U}},
           Row{"mesh3d:70x2x1", 12, {0xa106a0259e4b62d0U, 0xa34d1b903a4dae7fU, 0x4ee7b9347478dccdU, 0x46addc63070caa00U, 0x8870cf9b3f75e40eU, 0xa8995e4633b42ef2U}},
           Row{"torus2d:4x4", 30, {0xa11f80f8e40ee697U, 0xc6139c7418bd6d1aU, 0x62cec76506b85eb6U, 0x023313dd02b3f032U, 0x8e00572996e68072U, 0x75743f61813d2d74U}},
           Row{"torus3d:5x7x3", 12, {0x9229e09fd9f36aeeU, 0x9cce1e3db83a0a6eU, 0xe71dc3f32a6b0a92U, 0xc6325f138e0d5320U, 0xbaaf4a6cccac1e0dU, 0x2244a4a0ff923b8fU}},
           Row{"torus3d:4x4x4", 20, {0x446c291368a8243aU, 0xabecb0429e180b35U, 0x895334a62553d05cU, 0x1a27500216c46678U, 0xa5f8426bb0e9df1cU, 0x98a21b9e2a0c08d2U}},
           Row{"torus3d:2x130x1", 12, {0xf7cd09a7f7e6a17eU, 0x65da910005246f8cU, 0xa1bcb8f1b7edd33cU, 0xbb4bed230583d9fbU, 0x057ab58e33679004U, 0x2b98a3c6d2b08405U}},
           Row{"torus3d:9x2x1", 30, {0x111c4889532edadbU, 0xb77807cd126a7bafU, 0xfe4a778dfa5fbafbU, 0xd6545cb5b1d791f1U, 0xae7b4f07e6ae2787U, 0x867eac63f8c6b3a9U}},
           Row{"oneway-ring:6", 40, {0xc3c3d0e2abd0361cU, 0xf2e72ec984d90761U, 0xf1cb1bbb22e0bdadU, 0x13da4fe18339cb95U, 0x9c17efad0863b62fU, 0x476586acbdf0a68aU}},
           Row{"oneway-torus2d:4x3", 30, {0xdcc2db00d184539eU, 0x087dc64b2522e0beU, 0xea4624e14d96d056U, 0xd09faad8b6f0b993U, 0x59841de4a7469b53U, 0x3f71bba0bab1aef6U}},
           Row{"oneway-torus3d:3x2x4", 20, {0xc5ea53c8bfc6a07dU, 0x408bd3255f337c9eU, 0xff666c33b6cf35c5U, 0x8e6626e29145cc35U, 0xadddcac4576fe406U, 0xeed655fb87289bbeU}},
           Row{"crossbar:9", 30, {0xd025450a50a73ffbU, 0xd456d154c1de5d95U, 0xea6b87cdbfdb008cU, 0xe731d59450938355U, 0x56e04d02e568ac67U, 0xeef39c965e3e32c0U}},
           Row{"fat-tree:3x3", 30, {0x5d886ea10f59e650U, 0x019e966ab39cb40eU, 0x7bd468f41b7545d9U, 0x4fe12f273fda1e2fU, 0xc5a1d7373ffba2d3U, 0x1da7c518b7d2e684U}},
           Row{"dragonfly:5x4x2", 30, {0xe74a8a78cc8a3a6dU, 0x170a57139390c4efU, 0x49031d07edea26c8U, 0xde53f2b49999554dU, 0xf5cb39f4b59a7801U, 0xfa5d898f403adc34U}},
           Row{"dragonfly:9x4x2", 15, {0x32c12249c93803edU, 0xac47cede74518485U, 0x012245e5bebdd7cfU, 0xd9866403fe9322a8U, 0x4a074eb2bb28c90aU, 0xd3dcc16d4a3a4c20U}},
           Row{"xc:1x2x3", 30, {0x9850d99d26dd6d83U, 0x975eaed7bb186c9aU, 0x1173d6ca8c92737bU, 0xebf505fd1e4d94c5U, 0xf51bfa7c98fb0bddU, 0x635d38d873571bbaU}},
           Row{"xc:5x2x2", 12, {0xbd8080b7eb10896bU, 0xc321311b7c2c2ddcU, 0x15eeffa3aa460ec7U, 0x84d52f1010e3c693U, 0x231d38d356b49f08U, 0xc91c0188636a6022U}},
           Row{"xc:14x2x1", 12, {0x095792b0098107bbU, 0x52d56a3f8d246d66U, 0x52d1a25ea170a718U, 0x500a73f57c813097U, 0xc14487d81a198e2fU, 0xf894a62bd94eb3e7U}},
       }) {
    // clang-format on
    CAPTURE(row.topology);
    // A race detector finds nothing with one thread: one kind suffices to show that its build gives the same.
    const std::size_t kinds = gasmeter::testing::kSanitizer == "thread" ? 1 : kKinds.size();
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      CAPTURE(kKinds[kind].name);
      TrafficOptions options;
      options.topology = row.topology;
      options.messages = row.messages;
      kKinds[kind].set(options);
      const std::uint64_t digest = digest_of(options);
      CHECK(digest == row.digests[kind]);
    }
  }
}

TEST_CASE("unordered_packets_take_the_same_ways_in_every_build") {
  struct Row {
    const char* topology;
    std::uint64_t messages;
    std::uint64_t digest;
  };
  for (const Row& row : {
           Row{"xc:1x2x3", 60, 0xf18f6deed403b116U},
           Row{"xc:5x2x2", 30, 0x28b2037d3d1083a7U},
           Row{"xc:14x2x1", 30, 0xa153ad7029424e2dU},
       }) {
    CAPTURE(row.topology);
    TrafficOptions options;
    options.topology = row.topology;
    options.messages = row.messages;
    options.unordered = true;
    CHECK(digest_of(options) == row.digest);
  }
}

TEST_CASE("every_build_gives_the_same_bytes") {
  struct Row {
    const char* topology;
    unsigned buffer;
    std::uint64_t messages;
    std::uint64_t digest;
  };
  for (const Row& row : {
           Row{"mesh2d:2x1", 2, 200, 0x3b83a4e683ef361bU},
           Row{"mesh2d:2x1", 8, 200, 0xe80071cb06d394bcU},
           Row{"mesh2d:2x1", 1000, 200, 0x976b2ad90e4ecc55U},
           Row{"torus2d:4x4", 2, 100, 0xc09db6a11500136aU},
           Row{"torus2d:4x4", 8, 100, 0x59d71cc83f783d44U},
           Row{"torus2d:4x4", 1000, 100, 0xd6c5b48356630845U},
           Row{"torus3d:8x8x8", 2, 8, 0x3ebac57a4675f097U},
           Row{"torus3d:8x8x8", 8, 8, 0xfc89e1cb1c12f888U},
           Row{"torus3d:8x8x8", 1000, 8, 0x1877c93551e417e7U},
       }) {
    CAPTURE(row.topology);
    CAPTURE(row.buffer);
    TrafficOptions options;
    options.topology = row.topology;
    options.buffer = row.buffer;
    options.messages = row.messages;
    CHECK(RandomTraffic(options).run().digest() == row.digest);
  }
}

}  // namespace
}  // namespace gasmeter::sim::recorded_traffic_test
