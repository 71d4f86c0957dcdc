#include "gasmeter/networks/mpi/mpi_conduit.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "matched_end.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::mpi::mpi_conduit_test {
namespace {

using conduit::AmBuffer;
using conduit::AmView;
using conduit::Category;
using conduit::kNoOperation;
using conduit::OperationId;
using conduit::PollFilter;
using gasmeter::testing::has_pattern;
using gasmeter::testing::MatchingOptions;
using gasmeter::testing::MemoryMatching;
using gasmeter::testing::write_pattern;
using testing::count_up;
using testing::try_send;

struct End final : testing::MatchedEnd<MpiConduit<RealHost>> {
  End(MemoryMatching& network, std::uint32_t self, std::uint32_t ranks, const MpiSettings& settings,
      RemoteWindow* window = nullptr)
      : MatchedEnd(network, self, Rank{self}, ranks, settings, window) {}
};

// Window on one buffer. Transfers happen at the flush.
struct MemoryWindow final : RemoteWindow {
  explicit MemoryWindow(Bytes bytes) : part(bytes) {}
  [[nodiscard]] std::byte* memory() const override { return nullptr; }
  [[nodiscard]] bool holds(Rank owner, const void* address, Bytes bytes) const override {
    const auto* const at = static_cast<const std::byte*>(address);
    return owner == Rank{1} && at >= part.data() && at + bytes <= part.data() + part.size();
  }
  void put(Rank, void* to, const void* from, Bytes bytes) override { started.push_back({to, from, bytes, true}); }
  void get(Rank, void* to, const void* from, Bytes bytes) override { started.push_back({to, from, bytes, false}); }
  void free_sources() override {
    std::erase_if(started, [](const Copy& copy) {
      if (copy.is_put) std::memcpy(copy.to, copy.from, copy.bytes);
      return copy.is_put;
    });
  }
  [[nodiscard]] bool does(conduit::AtomicType type, conduit::AtomicOps ops) const override {
    return type == conduit::AtomicType::u64 && ops.is_within({conduit::AtomicOp::fadd});
  }
  void atomic(Rank, const conduit::RemoteAtomic& atomic) override { added.push_back(atomic); }
  void flush() override {
    for (const conduit::RemoteAtomic& each : added) {
      std::memcpy(each.result, each.target, sizeof each.a);
      const std::uint64_t after = *static_cast<std::uint64_t*>(each.result) + each.a;
      std::memcpy(each.target, &after, sizeof after);
    }
    added.clear();
    for (const Copy& copy : started) std::memcpy(copy.to, copy.from, copy.bytes);
    started.clear();
    ++flushes;
  }
  void close() override {}

  struct Copy {
    void* to;
    const void* from;
    Bytes bytes;
    bool is_put;
  };
  std::vector<std::byte> part;
  std::vector<Copy> started;
  std::vector<conduit::RemoteAtomic> added;
  unsigned flushes = 0;
};

struct World : testing::MatchedWorld<End> {
  explicit World(const MatchingOptions& options = {}, const MpiSettings& settings = {})
      : MatchedWorld(options, 2U, settings) {}
};

TEST_CASE("a_lone_message_leaves_at_once_and_those_behind_it_share_one") {
  World world;
  for (std::int32_t i = 0; i < 20; ++i) REQUIRE(try_send(world.a, 1, Category::short_message, i) == Status::ok);
  CHECK(world.a.port.sends == 1);
  (void)world.a.poll();
  CHECK(world.a.port.sends == 2);
  (void)world.b.poll();
  CHECK(world.b.numbers == count_up(20));
  // Credit comes back with the next message the other way. Then no message is known to be on its way.
  REQUIRE(try_send(world.b, 0, Category::short_message, 0) == Status::ok);
  (void)world.a.poll();
  REQUIRE(try_send(world.a, 1, Category::short_message, 20) == Status::ok);
  CHECK(world.a.port.sends == 3);
}

TEST_CASE("credits_bound_what_waits_at_a_rank_that_does_not_poll") {
  MpiSettings settings;
  settings.window = 4;
  World world({}, settings);
  std::int32_t accepted = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (try_send(world.a, 1, Category::short_message, accepted) == Status::ok) {
      ++accepted;
    } else {
      (void)world.a.poll();
    }
  }
  CHECK(world.a.port.sends == 4);
  CHECK(accepted < 100'000);
  world.settle();
  CHECK(world.b.numbers == count_up(accepted));
  CHECK(world.a.conduit.is_quiet());
  CHECK(world.b.conduit.is_quiet());
  // Credits were returned without other messages in that direction.
  CHECK(world.b.conduit.counters().credit_messages != 0);
  conduit::Counts counts;
  world.a.conduit.add_to(counts);
  CHECK(counts.of(conduit::Count::messages) == static_cast<std::uint64_t>(accepted));
  CHECK(counts.of(conduit::Count::stalls) == 100'000U - static_cast<std::uint64_t>(accepted));
  CHECK(counts.of(conduit::Count::two_sided_messages) == world.a.port.sends);
  CHECK(counts.of(conduit::Count::direct) == 0U);
  REQUIRE(try_send(world.a, 1, Category::short_message, accepted) == Status::ok);
  world.settle();
  CHECK(world.b.numbers == count_up(accepted + 1));
}

TEST_CASE("every_size_of_message_put_and_get_arrives_whole") {
  for (const Bytes eager : {Bytes{0}, Bytes{1000}, Bytes{1'000'000}}) {
    for (const bool eager_is_done : {true, false}) {
      World world({.eager = eager, .eager_is_done = eager_is_done});
      std::uint32_t operation = 0;
      for (const Bytes size : {1U, 7U, 64U, 1000U, 8191U, 8192U, 8193U, 65536U, 300'000U}) {
        CAPTURE(size);
        std::vector<std::byte> source(size);
        std::vector<std::byte> target(size + 1);
        write_pattern(source.data(), size, size);
        unsigned messages = 0;
        world.b.on_message = [&](const AmView& message) {
          ++messages;
          CHECK(message.size == size);
          CHECK(has_pattern(static_cast<const std::byte*>(message.payload), size, size));
          if (message.category == Category::medium) {
            CHECK(reinterpret_cast<std::uintptr_t>(message.payload) % alignof(std::max_align_t) == 0);
          }
        };
        if (size <= 65536) REQUIRE(try_send(world.a, 1, Category::medium, 0, source) == Status::ok);
        REQUIRE(try_send(world.a, 1, Category::long_message, 0, source, target.data()) == Status::ok);
        world.settle();
        CHECK(messages == (size <= 65536 ? 2 : 1));
        std::fill(target.begin(), target.end(), std::byte{});
        world.a.done.clear();
        REQUIRE(world.a.conduit.put(Rank{1}, target.data(), source.data(), size, OperationId{++operation},
                                    OperationId{1000}) == Status::ok);
        world.settle();
        CHECK(has_pattern(target.data(), size, size));
        CHECK(target.back() == std::byte{});
        std::sort(world.a.done.begin(), world.a.done.end());
        CHECK(world.a.done == std::vector<std::uint32_t>{operation, 1000});
        std::fill(target.begin(), target.end(), std::byte{});
        world.a.done.clear();
        REQUIRE(world.a.conduit.get(Rank{1}, target.data(), source.data(), size, OperationId{++operation}) ==
                Status::ok);
        world.settle();
        CHECK(has_pattern(target.data(), size, size));
        CHECK(world.a.done == std::vector<std::uint32_t>{operation});
      }
      CHECK(world.a.conduit.is_quiet());
      CHECK(world.b.conduit.is_quiet());
    }
  }
}

// A rank in virtual time sleeps when a poll returns 0. No event wakes it for a payload that had come before.
TEST_CASE("no_poll_returns_0_beside_a_payload_that_came_before_it_was_asked_for") {
  for (const bool eager : {true, false}) {
    CAPTURE(eager);
    World world({.eager = eager ? Bytes{65'536} : Bytes{4096}});
    std::vector<std::byte> source(20'000);
    std::vector<std::byte> target(20'000);
    write_pattern(source.data(), source.size(), 7);
    for (std::uint32_t put = 0; put < 40; ++put) {
      std::fill(target.begin(), target.end(), std::byte{});
      world.a.done.clear();
      REQUIRE(world.a.conduit.put(Rank{1}, target.data(), source.data(), source.size(), OperationId{put},
                                  kNoOperation) == Status::ok);
      while (world.b.poll() != 0) {
      }
      CHECK_FALSE(world.b.port.has_news());
      while (world.a.poll() != 0) {
      }
      CHECK(world.a.done == std::vector<std::uint32_t>{put});
      CHECK(has_pattern(target.data(), target.size(), 7));
    }
    while (world.b.poll() != 0) {
    }
    CHECK(world.a.conduit.is_quiet());
    CHECK(world.b.conduit.is_quiet());
  }
}

TEST_CASE("what_is_behind_a_prepared_message_does_not_wait_for_it") {
  World world;
  REQUIRE(try_send(world.a, 1, Category::short_message, 0) == Status::ok);
  REQUIRE(try_send(world.a, 1, Category::short_message, 1) == Status::ok);  // gathered
  AmBuffer prepared;
  REQUIRE(world.a.conduit.prepare({Rank{1}, Category::medium, false, 1, 0}, nullptr, 0, 100, prepared) == Status::ok);
  write_pattern(static_cast<std::byte*>(prepared.data), 100, 5);
  REQUIRE(try_send(world.a, 1, Category::short_message, 2) == Status::ok);
  std::byte word{};
  REQUIRE(world.a.conduit.put(Rank{1}, &word, &word, 1, OperationId{9}, kNoOperation) == Status::ok);
  world.settle();
  CHECK(world.b.numbers == count_up(3));
  CHECK(world.a.done == std::vector<std::uint32_t>{9});
  const std::int32_t number = 3;
  unsigned seen = 0;
  world.b.on_message = [&](const AmView& message) {
    ++seen;
    CHECK(has_pattern(static_cast<const std::byte*>(message.payload), 60, 5));
  };
  REQUIRE(world.a.conduit.commit(prepared, {HandlerIndex{200}, 60, nullptr, std::span(&number, 1)}, OperationId{10}) ==
          Status::ok);
  world.settle();
  CHECK(seen == 1);
  CHECK(world.b.numbers == count_up(4));
  CHECK(world.a.done == std::vector<std::uint32_t>{9, 10});
}

TEST_CASE("prepared_and_cancelled_messages_leave_nothing_behind") {
  MpiSettings settings;
  settings.receives = 2;
  settings.most_apart = 1;
  World world({}, settings);
  for (int i = 0; i < 1000; ++i) {
    for (const Category category : {Category::short_message, Category::medium, Category::long_message}) {
      AmBuffer buffer;
      const Bytes bytes = category == Category::short_message ? 0 : category == Category::medium ? 100 : 100'000;
      REQUIRE(world.a.conduit.prepare({Rank{1}, category, false, 1, 0}, nullptr, bytes, bytes, buffer) == Status::ok);
      AmBuffer second;
      if (world.a.conduit.prepare({Rank{1}, category, false, 1, 0}, nullptr, bytes, bytes, second) == Status::ok) {
        world.a.conduit.cancel(second);
      }
      world.a.conduit.cancel(buffer);
    }
  }
  CHECK(world.a.port.sends == 0);
  REQUIRE(try_send(world.a, 1, Category::short_message, 0) == Status::ok);
  world.settle();
  CHECK(world.b.numbers == count_up(1));
}

TEST_CASE("while_replies_alone_are_wanted_requests_wait_and_replies_pass") {
  World world;
  REQUIRE(try_send(world.a, 1, Category::short_message, 0) == Status::ok);
  REQUIRE(try_send(world.a, 1, Category::short_message, 1, {}, nullptr, true) == Status::ok);
  (void)world.a.poll();
  (void)world.b.poll(PollFilter::replies_only);
  CHECK(world.b.numbers == std::vector<std::int32_t>{1});
  CHECK(world.b.poll(PollFilter::replies_only) == 0);
  (void)world.b.poll();
  CHECK(world.b.numbers == std::vector<std::int32_t>{1, 0});
}

TEST_CASE("replies_pass_where_requests_have_taken_all_receives") {
  MpiSettings settings;
  settings.receives = 4;  // two requests from each of three peers may be on their way
  MemoryMatching network(4, {});
  End target(network, 0, 4, settings);
  End one(network, 1, 4, settings);
  End two(network, 2, 4, settings);
  End three(network, 3, 4, settings);
  for (End* peer : {&one, &two}) {
    for (std::int32_t i = 0; i < 2; ++i) {
      REQUIRE(try_send(*peer, 0, Category::short_message, i) == Status::ok);
      (void)peer->poll();
    }
    CHECK(peer->port.sends == 2);
  }
  (void)target.poll(PollFilter::replies_only);
  CHECK(target.numbers.empty());
  REQUIRE(try_send(three, 0, Category::short_message, 7, {}, nullptr, true) == Status::ok);
  (void)target.poll(PollFilter::replies_only);
  CHECK(target.numbers == std::vector<std::int32_t>{7});
  (void)target.poll();
  CHECK(target.numbers == std::vector<std::int32_t>{7, 0, 1, 0, 1});
}

TEST_CASE("a_ping_pong_needs_no_messages_for_credits") {
  World world;
  world.b.on_message = [&](const AmView& message) {
    if (message.is_request) {
      CHECK(try_send(world.b, 0, Category::short_message, message.arguments[0], {}, nullptr, true) == Status::ok);
    }
  };
  for (std::int32_t i = 0; i < 200; ++i) {
    REQUIRE(try_send(world.a, 1, Category::short_message, i) == Status::ok);
    (void)world.b.poll();
    (void)world.a.poll();
  }
  CHECK(world.a.numbers == count_up(200));
  CHECK(world.a.port.sends == 200);
  CHECK(world.b.port.sends == 200);
}

TEST_CASE("a_handler_that_throws_has_had_its_message_and_the_rest_follows") {
  World world;
  for (std::int32_t i = 0; i < 5; ++i) REQUIRE(try_send(world.a, 1, Category::short_message, i) == Status::ok);
  (void)world.a.poll();
  world.b.on_message = [](const AmView& message) {
    if (message.arguments[0] == 2) throw UsageError("enough");
  };
  CHECK_THROWS_AS((void)world.b.poll(), UsageError);
  world.settle();
  CHECK(world.b.numbers == count_up(5));
}

TEST_CASE("a_refusing_network_loses_nothing_and_takes_nothing") {
  World world;
  world.a.port.refuses = true;
  std::vector<std::byte> source(20'000);
  std::vector<std::byte> target(20'000);
  write_pattern(source.data(), source.size(), 3);
  for (int i = 0; i < 100; ++i) {
    CHECK(world.a.conduit.put(Rank{1}, target.data(), source.data(), source.size(), OperationId{1}, OperationId{2}) ==
          Status::no_resource);
    CHECK(try_send(world.a, 1, Category::long_message, 0, source, target.data()) == Status::no_resource);
  }
  REQUIRE(try_send(world.a, 1, Category::short_message, 0) == Status::ok);
  world.settle();
  CHECK(world.b.numbers.empty());
  CHECK(world.a.done.empty());
  world.a.port.refuses = false;
  REQUIRE(world.a.conduit.put(Rank{1}, target.data(), source.data(), source.size(), OperationId{1}, kNoOperation) ==
          Status::ok);
  world.settle();
  CHECK(world.b.numbers == count_up(1));
  CHECK(world.a.done == std::vector<std::uint32_t>{1});
  CHECK(has_pattern(target.data(), target.size(), 3));
}

TEST_CASE("receives_that_are_posted_late_hold_nothing_up") {
  for (const std::uint32_t late : {1U, 3U, 100U}) {
    MpiSettings settings;
    settings.window = 4;
    settings.posted_late = late;
    World world({}, settings);
    std::int32_t sent = 0;
    while (sent < 3000) {
      if (try_send(world.a, 1, Category::short_message, sent) == Status::ok) {
        ++sent;
        if (sent % 7 != 0) continue;
      }
      (void)world.a.poll();
      (void)world.b.poll();
    }
    world.settle();
    CHECK(world.b.numbers == count_up(sent));
    REQUIRE(try_send(world.b, 0, Category::short_message, 5) == Status::ok);
    world.settle();
    CHECK(world.a.numbers == std::vector<std::int32_t>{5});
  }
}

TEST_CASE("a_header_that_names_memory_outside_the_segment_is_refused") {
  using Forge = Status (*)(World&, std::byte*, std::span<std::byte>);
  const std::array<Forge, 3> forged{[](World& world, std::byte* at, std::span<std::byte> data) {
                                      return try_send(world.a, 1, Category::long_message, 0, data, at);
                                    },
                                    [](World& world, std::byte* at, std::span<std::byte> data) {
                                      return world.a.conduit.put(Rank{1}, at, data.data(), data.size(), OperationId{1},
                                                                 kNoOperation);
                                    },
                                    [](World& world, std::byte* at, std::span<std::byte> data) {
                                      return world.a.conduit.get(Rank{1}, data.data(), at, data.size(), OperationId{1});
                                    }};
  for (const Bytes size : {Bytes{8}, Bytes{40'000}}) {  // in a record, and apart
    std::vector<std::byte> data(size);
    for (std::size_t kind = 0; kind < forged.size(); ++kind) {
      CAPTURE(size);
      CAPTURE(kind);
      testing::FencedMemory memory;
      for (std::byte* const at : memory.outside(size)) {
        World world;
        world.b.conduit.attach(memory.segment());
        REQUIRE(forged[kind](world, at, data) == Status::ok);
        const std::string text = testing::refusal(world.a, world.b);
        CHECK(text.starts_with("mpi: message from rank 0 names " + std::to_string(size) + " bytes at offset "));
        CHECK(world.b.numbers.empty());
        CHECK(world.a.done.empty());
        CHECK(memory.is_untouched());
      }
      World world;
      world.b.conduit.attach(memory.segment());
      REQUIRE(forged[kind](world, memory.segment().data(), data) == Status::ok);
      CHECK(testing::refusal(world.a, world.b).empty());
    }
  }
}

TEST_CASE("a_network_with_too_few_sends_is_refused") {
  MemoryMatching network(2, {.most_sends = 7});
  CHECK_THROWS_AS(MpiConduit<RealHost>(RealHost{}, network.port(0), Rank{0}, 2), UsageError);
}

TEST_CASE("what_a_window_holds_needs_no_message_and_is_complete_once_flushed") {
  MemoryMatching network(2, {});
  MemoryWindow window(100'000);
  End a(network, 0, 2, {}, &window);
  End b(network, 1, 2, {});
  std::vector<std::byte> source(50'000);
  write_pattern(source.data(), source.size(), 3);
  for (const Bytes size : {Bytes{8}, Bytes{50'000}}) {
    a.done.clear();
    std::byte* const to = window.part.data() + window.part.size() - size;
    REQUIRE(a.conduit.put(Rank{1}, to, source.data(), size, OperationId{1}, OperationId{2}) == Status::ok);
    CHECK_FALSE(a.conduit.is_quiet());
    CHECK(a.done.empty());
    CHECK(a.poll() == 2);
    CHECK(a.done == std::vector<std::uint32_t>{1, 2});
    CHECK(has_pattern(to, size, 3));
    CHECK(a.conduit.is_quiet());
    std::vector<std::byte> back(size);
    REQUIRE(a.conduit.get(Rank{1}, back.data(), to, size, OperationId{3}) == Status::ok);
    CHECK(a.poll() == 1);
    CHECK(a.done.back() == 3);
    CHECK(has_pattern(back.data(), size, 3));
  }
  CHECK(window.flushes == 4);
  CHECK(a.conduit.counters().direct == 4);
  CHECK(a.port.sends == 0);
  CHECK(a.poll() == 0);
  CHECK(window.flushes == 4);  // no transfer to flush
}

TEST_CASE("a put into a window, or of a record, leaves its source free at return") {
  MemoryMatching network(2, {});
  MemoryWindow window(64);
  End a(network, 0, 2, {}, &window);
  End b(network, 1, 2, {});
  std::vector<std::byte> elsewhere(64);
  for (std::byte* const target : {window.part.data(), elsewhere.data()}) {
    a.done.clear();
    std::vector<std::byte> source(64);
    write_pattern(source.data(), source.size(), 3);
    REQUIRE(a.conduit.put(Rank{1}, target, source.data(), source.size(), OperationId{1}, conduit::kAtReturn) ==
            Status::ok);
    std::memset(source.data(), 0xff, source.size());
    for (int i = 0; i < 20; ++i) {
      (void)a.poll();
      (void)b.poll();
    }
    CHECK(a.done == std::vector<std::uint32_t>{1});
    CHECK(has_pattern(target, source.size(), 3));
  }
}

TEST_CASE("what_is_faster_as_messages_goes_by_no_window") {
  MpiSettings settings;
  settings.largest_direct = 4096;
  MemoryMatching network(2, {});
  MemoryWindow window(100'000);
  End a(network, 0, 2, settings, &window);
  End b(network, 1, 2, {});
  std::vector<std::byte> source(50'000);
  write_pattern(source.data(), source.size(), 5);
  REQUIRE(a.conduit.put(Rank{1}, window.part.data(), source.data(), 4096, OperationId{1}, kNoOperation) == Status::ok);
  CHECK(a.conduit.counters().direct == 1);
  REQUIRE(a.conduit.put(Rank{1}, window.part.data(), source.data(), 50'000, OperationId{2}, kNoOperation) ==
          Status::ok);
  for (int i = 0; i < 20; ++i) {
    (void)a.poll();
    (void)b.poll();
  }
  CHECK(a.conduit.counters().direct == 1);
  CHECK(a.done == std::vector<std::uint32_t>{1, 2});
  CHECK(has_pattern(window.part.data(), source.size(), 5));
}

TEST_CASE("a_stream_into_a_window_is_refused_until_it_is_flushed") {
  MpiSettings settings;
  settings.most_direct = 5;
  MemoryMatching network(2, {});
  MemoryWindow window(8);
  End a(network, 0, 2, settings, &window);
  const std::uint64_t value = 7;
  for (unsigned i = 0; i < 5; ++i) {
    REQUIRE(a.conduit.put(Rank{1}, window.part.data(), &value, 8, OperationId{i}, kNoOperation) == Status::ok);
  }
  CHECK(a.conduit.put(Rank{1}, window.part.data(), &value, 8, OperationId{5}, kNoOperation) == Status::no_resource);
  std::uint64_t word = 0;
  CHECK(a.conduit.get(Rank{1}, &word, window.part.data(), 8, OperationId{5}) == Status::no_resource);
  CHECK(a.poll() == 5);
  REQUIRE(a.conduit.get(Rank{1}, &word, window.part.data(), 8, OperationId{5}) == Status::ok);
  CHECK(a.poll() == 1);
  CHECK(word == 7);
  CHECK(window.flushes == 2);
}

TEST_CASE("atomics_that_a_window_does_are_complete_with_its_flush") {
  using conduit::AtomicOp;
  using conduit::AtomicType;
  MpiSettings settings;
  settings.most_direct = 3;
  MemoryMatching network(2, {});
  MemoryWindow window(64);
  End a(network, 0, 2, settings, &window);
  CHECK(a.conduit.offloads(AtomicType::u64, {AtomicOp::fadd}));
  CHECK_FALSE(a.conduit.offloads(AtomicType::u64, {AtomicOp::fadd, AtomicOp::set}));
  std::array<std::uint64_t, 3> results{7, 7, 7};
  const auto add = [&](unsigned which) {
    return a.conduit.atomic(Rank{1},
                            {.type = AtomicType::u64,
                             .op = AtomicOp::fadd,
                             .a = 10,
                             .target = window.part.data(),
                             .result = &results[which % 3]},
                            OperationId{which});
  };
  for (unsigned i = 0; i < 3; ++i) REQUIRE(add(i) == Status::ok);
  CHECK(add(3) == Status::no_resource);
  CHECK(a.done.empty());
  CHECK(results[0] == 7);
  CHECK(a.poll() == 3);
  CHECK(a.done == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(results == std::array<std::uint64_t, 3>{0, 10, 20});
  CHECK(a.conduit.counters().direct == 3);
  CHECK(a.port.sends == 0);
  std::uint64_t elsewhere = 0;
  CHECK_THROWS_AS((void)a.conduit.atomic(Rank{1}, {.type = AtomicType::u64, .target = &elsewhere}, OperationId{5}),
                  UsageError);
  settings.direct_atomics = false;  // messages are faster
  End b(network, 1, 2, settings, &window);
  CHECK_FALSE(b.conduit.offloads(AtomicType::u64, {AtomicOp::fadd}));
}

// A service may keep registrations of memory, so the conduit must report memory that it gives up.
TEST_CASE("a_copy_that_is_given_up_for_a_larger_one_is_forgotten") {
  MemoryMatching network(2, {});
  End a(network, 0, 2, {});
  const std::byte* first = nullptr;
  for (const Bytes bytes : {Bytes{10'000}, Bytes{9'000}, Bytes{20'000}}) {
    AmBuffer buffer;
    REQUIRE(a.conduit.prepare({Rank{1}, Category::long_message, false, 0, 0}, nullptr, bytes, bytes, buffer) ==
            Status::ok);
    REQUIRE(a.port.forgotten.size() == (bytes == 20'000 ? 1U : 0U));
    if (first == nullptr) first = static_cast<const std::byte*>(buffer.data);
    a.conduit.cancel(buffer);
  }
  CHECK(a.port.forgotten.front().data() == first);
  CHECK(a.port.forgotten.front().size() == 10'000);
  std::byte word{};
  a.conduit.forget({&word, 1});
  CHECK(a.port.forgotten.back().data() == &word);
}

TEST_CASE("a_job_without_a_window_offloads_no_atomics") {
  MemoryMatching network(2, {});
  const End a(network, 0, 2, {});
  CHECK_FALSE(a.conduit.offloads(conduit::AtomicType::u64, {conduit::AtomicOp::fadd}));
}

TEST_CASE("what_a_window_does_not_hold_travels_as_before") {
  MemoryMatching network(2, {});
  MemoryWindow window(64);
  End a(network, 0, 2, {}, &window);
  End b(network, 1, 2, {});
  std::array<std::byte, 64> elsewhere{};
  std::array<std::byte, 64> source{};
  write_pattern(source.data(), source.size(), 9);
  REQUIRE(a.conduit.put(Rank{1}, elsewhere.data(), source.data(), 64, OperationId{1}, kNoOperation) == Status::ok);
  for (int i = 0; i < 10; ++i) {
    (void)a.poll();
    (void)b.poll();
  }
  CHECK(has_pattern(elsewhere.data(), 64, 9));
  CHECK(a.done == std::vector<std::uint32_t>{1});
  CHECK(window.flushes == 0);
  CHECK(a.port.sends != 0);
}

}  // namespace
}  // namespace gasmeter::networks::mpi::mpi_conduit_test
