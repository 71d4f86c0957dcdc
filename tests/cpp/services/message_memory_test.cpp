// Cost of registering the memory of two-sided messages, anew for each use and with a cache. The test frees memory
// explicitly.
#include "gasmeter/services/message_memory.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gasmeter/sim/engine/engine.hpp"

namespace gasmeter::services::message_memory_test {
namespace {

class Device final : public MessageDevice {
 public:
  bool send(Rank, const MessageHead&, std::span<const std::byte>, std::uint32_t) override { return true; }
  void admit(std::span<std::byte>) override { ++registered; }
  void dismiss(std::span<std::byte>) override { --registered; }
  PutWindow open(Rank, std::span<std::byte>, std::uint32_t) override { return {}; }
  void put(Rank, const PutWindow&, std::span<const std::byte>, std::uint32_t) override {}
  bool progress(Sink&) override { return false; }
  [[nodiscard]] Bytes reserved_bytes() const override { return 0; }
  int registered = 0;
};

sim::EngineOptions one_rank() {
  sim::EngineOptions options;
  options.ranks = 1;
  options.nodes = 1;
  options.prices[conduit::PrivatePrice::poll_miss].fixed = {10'000};
  options.prices[conduit::SharedPrice::registration] = {{1'000'000}, 50'000};  // 204.8 ns a page
  options.prices[conduit::SharedPrice::deregistration] = {{500'000}, 25'000};
  return options;
}

// Return the instants in ps at which each step of a rank has ended.
std::vector<std::int64_t> times_of_uses(bool is_cached) {
  sim::Engine engine(one_rank());
  Device device;
  MessageMemory memory(engine.host(Rank{0}), device, is_cached);
  std::vector<std::byte> buffer(5'000);
  std::vector<std::int64_t> times;
  engine.start(Rank{0}, [&] {
    const auto ended = [&] { times.push_back(engine.host(Rank{0}).now().ps); };
    RegionNumber first = kNoRegion;
    RegionNumber second = kNoRegion;
    memory.pin(buffer, first);
    ended();
    memory.pin({buffer.data() + 1'000, 50}, second);  // a part of the buffer, while it is pinned
    ended();
    CHECK(device.registered == 2);
    memory.unpin({buffer.data() + 1'000, 50}, second);
    memory.unpin(buffer, first);
    ended();
    CHECK(device.registered == 0);
    memory.pin(buffer, first);
    memory.unpin(buffer, first);
    ended();
    memory.forget(buffer);
    ended();
    memory.pin(buffer, first);
    ended();
    memory.unpin(buffer, first);
  });
  engine.run();
  return times;
}

TEST_CASE("memory_of_messages_is_registered_anew_or_kept_so_until_it_is_freed") {
  constexpr std::int64_t kTwoPages = 1'409'600;  // 1000 + 2 x 204.8
  constexpr std::int64_t kUndone = 704'800;
  constexpr std::int64_t kOnePage = 1'204'800;
  constexpr std::int64_t kOneUndone = 602'400;
  const std::int64_t both = kTwoPages + kOnePage;
  const std::int64_t undone = both + kOneUndone + kUndone;
  const std::int64_t again = undone + kTwoPages + kUndone;
  CHECK(times_of_uses(false) == std::vector<std::int64_t>{kTwoPages, both, undone, again, again, again + kTwoPages});
  CHECK(times_of_uses(true) == std::vector<std::int64_t>{kTwoPages, kTwoPages, kTwoPages, kTwoPages,
                                                         kTwoPages + kUndone, 2 * kTwoPages + kUndone});
}

}  // namespace
}  // namespace gasmeter::services::message_memory_test
