// The conduit alone: credits, limits, and the places of payloads. tests/golden/ibv.md derives the times. The
// conformance suite (family ibv) checks the rules that hold for every conduit.
#include "gasmeter/networks/ibv/ibv_conduit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/ibv/conduit_job.hpp"
#include "support/conduit_calls.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::ibv::ibv_conduit_test {
namespace {

using namespace testing;
using conduit::AmBuffer;
using conduit::AmHeader;
using conduit::AmView;
using conduit::Category;
using conduit::OperationId;
using conduit::PollFilter;
using gasmeter::testing::has_pattern;
using gasmeter::testing::header_to;
using gasmeter::testing::patterned;
using gasmeter::testing::Sink;
using gasmeter::testing::try_send;
using gasmeter::testing::wait;
using gasmeter::testing::write_pattern;

TEST_CASE("ibv_conduit_short_and_its_reply") {
  Job job;
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.host(0);
    const SimTime start = host.now();
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    CHECK((host.now() - start).ps == 128'000);
    Sink sink([&](const AmView& reply) {
      CHECK((host.now() - start).ps == 1'868'000);
      CHECK_FALSE(reply.is_request);
      CHECK(reply.handler == HandlerIndex{7});
    });
    wait(*job.conduits[0], host, sink, [&] { return sink.messages == 1; });
    CHECK(job.conduits[0]->credits(Rank{1}) == 12);
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.host(1);
    const SimTime start = host.now();
    Sink sink([&](const AmView& request) {
      CHECK((host.now() - start).ps == 940'000);
      CHECK(request.is_request);
      CHECK(try_send(*job.conduits[1], header_to(0, Category::short_message, 0, true)) == Status::ok);
    });
    wait(*job.conduits[1], host, sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
}

TEST_CASE("ibv_conduit_layout_holds_what_the_constants_say") {
  CHECK(message_bytes(Category::short_message, 0, 0) == 4);
  CHECK(message_bytes(Category::medium, 16, 4024) == 4096);
  CHECK(message_bytes(Category::long_message, 16, 4016) == 4096);
  for (const Category category : {Category::medium, Category::long_message}) {
    for (unsigned arguments = 0; arguments <= conduit::kMaxArguments; ++arguments) {
      CAPTURE(arguments);
      CHECK(payload_at(category, arguments) >= header_bytes(category, arguments));
      CHECK(payload_at(category, arguments) < header_bytes(category, arguments) + kAlignment);
      CHECK((message_at(category) + payload_at(category, arguments)) % kAlignment == 0);
    }
  }
}

TEST_CASE("ibv_conduit_messages_arrive_as_they_were_sent") {
  Job job;
  const std::array<Bytes, 8> sizes{0, 1, 100, 128, 1000, 4016, 4017, 65536};
  std::vector<std::int32_t> words(16);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::int32_t>(i) - 5;
  struct Sent {
    Category category;
    Bytes size;
    unsigned arguments;
  };
  std::vector<Sent> all;
  for (unsigned arguments = 0; arguments <= 16; arguments += 4) {
    all.push_back({Category::short_message, 0, arguments});
    for (const Bytes size : sizes) {
      if (size <= kMostMedium) all.push_back({Category::medium, size, arguments});
      all.push_back({Category::long_message, size, arguments});
    }
    all.push_back({Category::medium, kMostMedium, arguments});
  }
  job.engine.start(Rank{0}, [&] {
    Sink sink;
    std::uint64_t seed = 0;
    for (const Sent& each : all) {
      const std::vector<std::byte> payload = patterned(each.size, ++seed);
      void* const destination = each.category == Category::long_message ? job.segments[1].data() + 64 : nullptr;
      wait(*job.conduits[0], job.host(0), sink, [&] {
        return try_send(*job.conduits[0], header_to(1, each.category, each.arguments),
                        std::span(words).first(each.arguments), payload, destination) == Status::ok;
      });
    }
    // All credits but the banked one come back.
    wait(*job.conduits[0], job.host(0), sink, [&] { return job.conduits[0]->credits(Rank{1}) >= 11; });
  });
  job.engine.start(Rank{1}, [&] {
    std::size_t next = 0;
    Sink sink([&](const AmView& message) {
      const Sent& sent = all[next++];
      CAPTURE(next);
      CHECK(message.source == Rank{0});
      CHECK(message.category == sent.category);
      CHECK(message.size == sent.size);
      CHECK(message.arguments.size() == sent.arguments);
      CHECK(std::equal(message.arguments.begin(), message.arguments.end(), words.begin()));
      if (sent.category == Category::short_message) CHECK(message.payload == nullptr);
      if (sent.category == Category::medium) {
        CHECK(reinterpret_cast<std::uintptr_t>(message.payload) % alignof(std::max_align_t) == 0);
      }
      if (sent.category == Category::long_message) CHECK(message.payload == job.segments[1].data() + 64);
      if (sent.size != 0) CHECK(has_pattern(message.payload, sent.size, next));
    });
    wait(*job.conduits[1], job.host(1), sink, [&] { return next == all.size(); });
  });
  job.engine.run();
  CHECK(job.context(1).counters().not_ready == 0);
}

// The handlers send no reply. One credit waits for the next message back, and two return in a hidden reply.
TEST_CASE("ibv_conduit_credits_come_back_by_themselves") {
  Job job;
  job.engine.start(Rank{0}, [&] {
    Sink sink;
    for (int i = 0; i < 12; ++i) {
      CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    }
    CHECK(job.conduits[0]->credits(Rank{1}) == 0);
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::no_resource);
    wait(*job.conduits[0], job.host(0), sink, [&] { return job.conduits[0]->credits(Rank{1}) == 12; });
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    // This request's credit stays banked until rank 1 sends a message of its own.
    wait(*job.conduits[0], job.host(0), sink, [&] { return sink.messages == 1; });
    CHECK(job.conduits[0]->credits(Rank{1}) == 12);
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink;
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 13; });
    CHECK(job.conduits[1]->hidden_replies() == 6);
    sleep_until(job.host(1), job.host(1).now() + SimTime{50'000'000});
    CHECK(try_send(*job.conduits[1], header_to(0, Category::short_message)) == Status::ok);
  });
  job.engine.run();
}

// Each of five peers would keep one of four credits.
TEST_CASE("ibv_conduit_keeps_no_credits_that_others_would_wait_for") {
  Job job({.ranks = 6, .topology = "crossbar:6"}, {.all_requests = 4});
  job.engine.start(Rank{0}, [&] {
    Sink sink;
    for (unsigned peer = 1; peer < 6; ++peer) {
      wait(*job.conduits[0], job.host(0), sink,
           [&] { return try_send(*job.conduits[0], header_to(peer, Category::short_message)) == Status::ok; });
    }
  });
  for (unsigned rank = 1; rank < 6; ++rank) {
    job.engine.start(Rank{rank}, [&job, rank] {
      Sink sink;
      wait(*job.conduits[rank], job.host(rank), sink, [&] { return sink.messages == 1; });
    });
  }
  job.engine.run();
}

TEST_CASE("ibv_conduit_puts_and_gets_from_any_memory") {
  for (const Bytes size : {Bytes{0}, Bytes{1}, Bytes{128}, Bytes{129}, Bytes{4096}, Bytes{4097}, Bytes{65536}}) {
    for (const bool registered : {false, true}) {
      CAPTURE(size);
      CAPTURE(registered);
      Job job;
      std::vector<std::byte> outside = patterned(size, 3);
      std::byte* const source = registered ? job.segments[0].data() : outside.data();
      std::byte* const remote = job.segments[1].data() + 128;
      job.engine.start(Rank{0}, [&] {
        Sink sink;
        if (size != 0) std::memcpy(source, outside.data(), size);
        CHECK(job.conduits[0]->put(Rank{1}, remote, source, size, OperationId{1}, OperationId{2}) == Status::ok);
        const auto has = [&](std::uint32_t id) {
          return std::find(sink.done.begin(), sink.done.end(), OperationId{id}) != sink.done.end();
        };
        if (!registered || size <= 128) {
          CHECK(job.conduits[0]->poll(sink, 1, PollFilter::everything) == 1);  // copied: at once
          CHECK(has(2));
          if (size != 0) std::memset(source, 0, size);
        }
        wait(*job.conduits[0], job.host(0), sink, [&] { return sink.done.size() == 2; });
        CHECK(has(1));
        if (size != 0) CHECK(has_pattern(remote, size, 3));
        if (size != 0) std::memset(source, 0, size);
        CHECK(job.conduits[0]->get(Rank{1}, source, remote, size, OperationId{3}) == Status::ok);
        wait(*job.conduits[0], job.host(0), sink, [&] { return sink.done.size() == 3; });
        CHECK(has(3));
        if (size != 0) CHECK(has_pattern(source, size, 3));
      });
      job.engine.start(Rank{1}, [] {});
      job.engine.run();
    }
  }
}

// tests/golden/ibv.md derives the time.
TEST_CASE("ibv_put_is_complete_at_either_side_in_its_golden_time") {
  constexpr Bytes kBytes = 600;
  for (const OperationId local : {OperationId{2}, conduit::kAtReturn}) {
    const bool at_return = local == conduit::kAtReturn;
    Job job;
    const std::vector<std::byte> data = patterned(kBytes, 3);
    std::byte* const source = job.segments[0].data();
    std::byte* const target = job.segments[1].data();
    std::memcpy(source, data.data(), kBytes);
    job.engine.start(Rank{0}, [&] {
      Sink sink;
      const SimTime begin = job.host(0).now();
      CHECK(job.conduits[0]->put(Rank{1}, target, source, kBytes, OperationId{1}, local) == Status::ok);
      CHECK((job.host(0).now() - begin).ps == (at_return ? 174'000 : 104'000));
      if (at_return) std::memset(source, 0, kBytes);
      wait(*job.conduits[0], job.host(0), sink, [&] { return !sink.done.empty(); });
      CHECK((job.host(0).now() - begin).ps == (at_return ? 2'564'000 : 2'494'000));
      CHECK(sink.done.size() == (at_return ? 1U : 2U));
      CHECK(has_pattern(target, kBytes, 3));
    });
    job.engine.start(Rank{1}, [] {});
    job.engine.run();
  }
}

// Atomics go through two nodes, through one node, and through the rank's own adapter. Results lie in the segment and in
// memory that is not registered.
TEST_CASE("ibv_conduit_atomics_of_the_card") {
  using conduit::AtomicOp;
  using conduit::AtomicType;
  struct Step {
    AtomicOp op;
    std::int64_t a;
    std::int64_t b;
    std::int64_t after;
  };
  const std::vector<Step> steps = {{AtomicOp::add, 5, 0, 5},    {AtomicOp::fadd, -7, 0, -2}, {AtomicOp::sub, 4, 0, -6},
                                   {AtomicOp::fsub, -10, 0, 4}, {AtomicOp::inc, 99, 0, 5},   {AtomicOp::finc, 99, 0, 6},
                                   {AtomicOp::dec, 99, 0, 5},   {AtomicOp::fdec, 99, 0, 4},  {AtomicOp::get, 99, 0, 4},
                                   {AtomicOp::cas, 3, 9, 4},    {AtomicOp::cas, 4, 8, 8},    {AtomicOp::fcas, 4, 9, 8},
                                   {AtomicOp::fcas, 8, -1, -1}};
  for (const unsigned peer : {2U, 1U, 0U}) {
    for (const bool registered : {false, true}) {
      CAPTURE(peer);
      CAPTURE(registered);
      Job job({.ranks = 3, .node_of = {0, 0, 1}});
      std::int64_t own = 0;
      std::byte* const result = registered ? job.segments[0].data() + 64 : reinterpret_cast<std::byte*>(&own);
      std::byte* const word = job.segments[peer].data() + 128;
      job.engine.start(Rank{0}, [&] {
        Sink sink;
        std::int64_t before = 0;
        for (std::uint32_t i = 0; i < steps.size(); ++i) {
          CAPTURE(i);
          const Step& step = steps[i];
          set_word(result, 12345);
          const bool is_fetching = conduit::fetches(step.op);
          CHECK(job.conduits[0]->atomic(
                    Rank{peer},
                    {i % 2 == 0 ? AtomicType::i64 : AtomicType::u64, step.op, static_cast<std::uint64_t>(step.a),
                     static_cast<std::uint64_t>(step.b), word, is_fetching ? result : nullptr},
                    OperationId{i}) == Status::ok);
          wait(*job.conduits[0], job.host(0), sink, [&] { return sink.done.size() == i + 1; });
          CHECK(sink.done.back() == OperationId{i});
          CHECK(static_cast<std::int64_t>(word_at(word)) == step.after);
          CHECK(static_cast<std::int64_t>(word_at(result)) == (is_fetching ? before : 12345));
          before = step.after;
        }
      });
      job.engine.start(Rank{1}, [] {});
      job.engine.start(Rank{2}, [] {});
      job.engine.run();
      CHECK(job.context(peer).counters().atomics == steps.size());
    }
  }
}

TEST_CASE("ibv_conduit_offloads_what_the_card_has_instructions_for") {
  using conduit::AtomicOp;
  using conduit::AtomicOps;
  using conduit::AtomicType;
  const AtomicOps card{AtomicOp::get,  AtomicOp::cas, AtomicOp::fcas, AtomicOp::add, AtomicOp::fadd, AtomicOp::sub,
                       AtomicOp::fsub, AtomicOp::inc, AtomicOp::finc, AtomicOp::dec, AtomicOp::fdec};
  Job job;
  const conduit::Conduit& conduit = *job.conduits[0];
  CHECK(conduit.offloads(AtomicType::i64, card));
  CHECK(conduit.offloads(AtomicType::u64, {AtomicOp::fadd}));
  for (const AtomicType other : {AtomicType::i32, AtomicType::u32, AtomicType::f32, AtomicType::f64}) {
    CHECK_FALSE(conduit.offloads(other, {AtomicOp::fadd}));
  }
  CHECK_FALSE(conduit.offloads(AtomicType::u64, AtomicOps::all_of_integers()));
  unsigned held = 0;
  for (unsigned op = 0; op < static_cast<unsigned>(AtomicOp::count_); ++op) {
    const auto each = static_cast<AtomicOp>(op);
    CHECK(conduit.offloads(AtomicType::u64, {AtomicOp::get, each}) == card.holds(each));
    if (card.holds(each)) ++held;
  }
  CHECK(held == 11);
}

// get() and atomic() have the same limit of operations in flight. A refused one is posted when another one has ended.
TEST_CASE("ibv_conduit_atomics_of_many_ranks_wait_for_room") {
  using conduit::AtomicOp;
  using conduit::AtomicType;
  constexpr std::uint32_t kEach = 60;
  Job job({.ranks = 4, .topology = "crossbar:2", .node_of = {0, 0, 1, 1}});
  std::vector<std::uint64_t> handled(4 * kEach);
  for (unsigned rank = 0; rank < 4; ++rank) {
    job.engine.start(Rank{rank}, [&, rank] {
      Sink sink;
      unsigned refused = 0;
      for (std::uint32_t i = 0; i < kEach; ++i) {
        wait(*job.conduits[rank], job.host(rank), sink, [&] {
          const Status status = job.conduits[rank]->atomic(
              Rank{3}, {AtomicType::u64, AtomicOp::finc, 0, 0, job.segments[3].data() + 8, &handled[rank * kEach + i]},
              OperationId{i});
          if (status != Status::ok) {
            ++refused;
            CHECK(status == Status::no_resource);
            CHECK(i >= 22);  // 24 work requests to a rank, two reserved for replies
          }
          return status == Status::ok;
        });
      }
      CHECK(refused != 0);
      wait(*job.conduits[rank], job.host(rank), sink, [&] { return sink.done.size() == kEach; });
    });
  }
  job.engine.run();
  CHECK(word_at(job.segments[3].data() + 8) == 4 * kEach);
  std::sort(handled.begin(), handled.end());
  for (std::uint64_t i = 0; i < handled.size(); ++i) CHECK(handled[i] == i);
}

TEST_CASE("ibv_conduit_refuses_at_each_limit_and_gives_back_what_is_cancelled") {
  const AmHeader to_one = header_to(1, Category::long_message);
  const auto prepared = [&](const IbvLimits& limits, Bytes size) {
    Job job({}, limits);
    unsigned count = 0;
    job.engine.start(Rank{0}, [&] {
      std::vector<AmBuffer> buffers;
      for (int round = 0; round < 2; ++round) {
        for (;;) {
          AmBuffer buffer;
          if (job.conduits[0]->prepare(to_one, nullptr, size, size, buffer) != Status::ok) break;
          buffers.push_back(buffer);
        }
        if (round == 0) count = static_cast<unsigned>(buffers.size());
        CHECK(buffers.size() == count);
        for (const AmBuffer& each : buffers) job.conduits[0]->cancel(each);
        buffers.clear();
      }
    });
    job.engine.start(Rank{1}, [] {});
    job.engine.run();
    return count;
  };
  CHECK(prepared({}, 8) == 12);                  // credits of a peer
  CHECK(prepared({.all_requests = 5}, 8) == 5);  // of all ranks
  // Resources that are not reserved for replies:
  CHECK(prepared({.peer_sends = 7}, 8) == 5);     // work requests to a peer
  CHECK(prepared({.peer_sends = 7}, 5000) == 2);  // two each
  CHECK(prepared({.all_sends = 9}, 8) == 7);      // to all ranks
  CHECK(prepared({.large_buffers = 3}, 5000) == 2);
}

TEST_CASE("ibv_conduit_misuse_is_named") {
  Job job;
  AmBuffer buffer;
  CHECK_THROWS_AS((void)job.conduits[0]->prepare(header_to(1, Category::medium), nullptr, 4025, 4025, buffer),
                  UsageError);
  CHECK_THROWS_AS((void)job.conduits[0]->prepare(header_to(1, Category::long_message), nullptr, 65537, 65537, buffer),
                  UsageError);
  CHECK_THROWS_AS((void)job.conduits[0]->prepare(header_to(2, Category::short_message), nullptr, 0, 0, buffer),
                  UsageError);
  std::uint64_t result = 0;
  for (const conduit::RemoteAtomic& wrong :
       {conduit::RemoteAtomic{conduit::AtomicType::u64, conduit::AtomicOp::swap, 0, 0, job.segments[1].data(), &result},
        conduit::RemoteAtomic{conduit::AtomicType::f64, conduit::AtomicOp::fadd, 0, 0, job.segments[1].data(),
                              &result}}) {
    CHECK_THROWS_AS((void)job.conduits[0]->atomic(Rank{1}, wrong, OperationId{1}), UsageError);
  }
  CHECK_THROWS_AS(Job({}, {.peer_sends = 3}), UsageError);
  CHECK_THROWS_AS(Job({}, {.peer_requests = 1, .banked = 1}), UsageError);
}

// ---- ranks of a node

TEST_CASE("ibv_short_by_node_memory_has_its_golden_time_and_meets_no_adapter") {
  constexpr std::int64_t kBegin = 48 * 20'000;  // receives were posted
  for (const bool strict : {false, true}) {
    CAPTURE(strict);
    Job job({.node_of = {0, 0}, .strict = strict}, {}, {}, 64, true);
    job.engine.start(Rank{0}, [&] {
      IbvConduit& conduit = *job.conduits[0];
      AmBuffer buffer;
      REQUIRE(conduit.prepare({Rank{1}, Category::short_message, false, 0, 0}, nullptr, 0, 0, buffer) == Status::ok);
      REQUIRE(conduit.commit(buffer, {HandlerIndex{7}, 0, nullptr, {}}, OperationId{3}) == Status::ok);
      CHECK(job.host(0).now().ps == kBegin + 40'000);
      CHECK(conduit.credits(Rank{1}) == 12);
      Sink sink([&](const AmView& message) {
        CHECK_FALSE(message.is_request);
        CHECK(job.host(0).now().ps == kBegin + 280'000);
      });
      while (sink.messages == 0) {
        if (conduit.poll(sink, 16, PollFilter::everything) == 0) job.host(0).idle(kNever);
      }
      CHECK(sink.done == std::vector<OperationId>{OperationId{3}});
      CHECK(job.context(0).counters().posted == 0);
      // Puts go through the adapter, since they are not messages.
      CHECK(conduit.put(Rank{1}, job.segments[1].data(), job.segments[0].data(), 8, OperationId{4},
                        conduit::kNoOperation) == Status::ok);
      CHECK(job.context(0).counters().posted == 1);
    });
    job.engine.start(Rank{1}, [&] {
      IbvConduit& conduit = *job.conduits[1];
      Sink sink([&](const AmView& message) {
        CHECK(message.source == Rank{0});
        CHECK(job.host(1).now().ps == kBegin + 140'000);
        AmBuffer buffer;
        REQUIRE(conduit.prepare({Rank{0}, Category::short_message, true, 0, 0}, nullptr, 0, 0, buffer) == Status::ok);
        REQUIRE(conduit.commit(buffer, {HandlerIndex{8}, 0, nullptr, {}}, conduit::kNoOperation) == Status::ok);
      });
      while (sink.messages == 0) {
        if (conduit.poll(sink, 16, PollFilter::everything) == 0) job.host(1).idle(kNever);
      }
    });
    job.engine.run();
    CHECK(job.conduits[1]->hidden_replies() == 0);
  }
}

// ---- reserved memory: docs/notes/reserved-memory.md derives the sums

TEST_CASE("ibv_reserves_buffers_and_queues_that_grow_with_ranks_until_the_limits_stop_them") {
  const auto reserved = [](unsigned ranks) {
    Job job({.ranks = ranks}, {}, {}, 64);
    return job.conduits[0]->reserved_bytes();
  };
  constexpr Bytes kSends = 255 * Bytes{4128} + 48 * Bytes{65536} + 255 * Bytes{32};
  constexpr Bytes kRing = 16 * Bytes{4096};
  CHECK(reserved(2) == kSends + 49 * (4112 + 32) + 50 * 16 + kRing);
  CHECK(reserved(4) == kSends + 97 * (4112 + 32) + 98 * 16 + 3 * kRing);
  CHECK(reserved(100) == kSends + 1281 * (4112 + 32) + 1282 * 16 + 32 * kRing);
  CHECK(reserved(120) == reserved(100));
}

TEST_CASE("ibv_reserves_send_queues_for_peers_that_it_has_and_a_box_for_node_mates") {
  Job job({.node_of = {0, 0}}, {}, {}, 64, true);
  const Bytes before = job.conduits[0]->reserved_bytes();
  CHECK(before == Job({.node_of = {0, 0}}, {}, {}, 64).conduits[0]->reserved_bytes() + 64 * Bytes{64});
  job.engine.start(Rank{0}, [&] {
    CHECK(job.conduits[0]->put(Rank{1}, job.segments[1].data(), job.segments[0].data(), 8, OperationId{4},
                               conduit::kNoOperation) == Status::ok);
    AmBuffer buffer;
    CHECK(job.conduits[0]->prepare({Rank{1}, Category::medium, false, 2, 0}, nullptr, 1, 100, buffer) == Status::ok);
    CHECK(job.conduits[0]->reserved_bytes() == before + 24 * 64 + 100 + 8);
    job.conduits[0]->cancel(buffer);
    CHECK(job.conduits[0]->reserved_bytes() == before + 24 * 64);
  });
  job.engine.run();
}

}  // namespace
}  // namespace gasmeter::networks::ibv::ibv_conduit_test
