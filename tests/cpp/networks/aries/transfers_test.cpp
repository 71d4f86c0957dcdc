// Puts, gets and atomics of the conduit: the path that they take, and the time of their end.
#include "gasmeter/networks/aries/transfers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "gasmeter/networks/aries/offered_atomics.hpp"
#include "networks/aries/conduit_job.hpp"
#include "support/conduit_calls.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::aries::transfers_test {
namespace {

using namespace testing;
using conduit::AtomicOp;
using conduit::AtomicOps;
using conduit::AtomicType;
using conduit::kAtReturn;
using conduit::kNoOperation;
using conduit::OperationId;
using conduit::RemoteAtomic;
using gasmeter::testing::has_pattern;
using gasmeter::testing::patterned;
using gasmeter::testing::Sink;
using gasmeter::testing::wait;

constexpr OperationId kRoot{1};
constexpr OperationId kLocal{2};

// Times of rank 0, which begins at 0: the call has returned, and the operation is over.
struct Times {
  std::int64_t begun = 0;
  std::int64_t over = 0;
  bool operator==(const Times&) const = default;
};

template <class Call>
Times times_of(Job& job, Call call) {
  Times times;
  job.engine.start(Rank{0}, [&] {
    Sink sink;
    CHECK(call(*job.conduits[0]) == Status::ok);
    times.begun = job.host(0).now().ps;
    wait(*job.conduits[0], job.host(0), sink, [&] { return !sink.done.empty() && sink.done.back() == kRoot; });
    times.over = job.host(0).now().ps;
    CHECK(job.conduits[0]->is_quiet());
  });
  job.engine.run();
  return times;
}

// tests/golden/aries.md derives the times.
TEST_CASE("aries_conduit_put_of_eight_bytes") {
  Job inside;
  CHECK(times_of(inside, [&](AriesConduit& conduit) {
          return conduit.put(Rank{1}, inside.segment(1), inside.segment(0), 8, kRoot, kNoOperation);
        }) == Times{48'000, 1'148'000});
  Job outside;
  const std::vector<std::byte> source(8);
  CHECK(times_of(outside, [&](AriesConduit& conduit) {
          return conduit.put(Rank{1}, outside.segment(1), source.data(), 8, kRoot, kNoOperation);
        }) == Times{58'800, 1'158'800});
}

TEST_CASE("aries_conduit_get_of_eight_bytes") {
  Job inside;
  CHECK(times_of(inside, [&](AriesConduit& conduit) {
          return conduit.get(Rank{1}, inside.segment(0), inside.segment(1), 8, kRoot);
        }) == Times{40'000, 1'640'000});
  Job outside;
  std::vector<std::byte> local(8);
  CHECK(times_of(outside, [&](AriesConduit& conduit) {
          return conduit.get(Rank{1}, local.data(), outside.segment(1), 8, kRoot);
        }) == Times{40'000, 1'650'800});
}

TEST_CASE("aries_conduit_fetch_add") {
  Job job;
  std::uint64_t result = 0;
  const std::uint64_t start = 5;
  std::memcpy(job.segment(1), &start, sizeof start);
  CHECK(times_of(job, [&](AriesConduit& conduit) {
          return conduit.atomic(Rank{1}, {AtomicType::u64, AtomicOp::fadd, 3, 0, job.segment(1), &result}, kRoot);
        }) == Times{48'000, 1'658'800});
  CHECK(result == 5);
  CHECK(job.segment(1)[0] == std::byte{8});
}

// A registration costs 2000 and 1 a byte of whole pages here, a copy 10 and 0.1 a byte. Outside the segment, up to 4096
// B are copied, and more is registered once.
TEST_CASE("aries_conduit_copies_or_registers_what_lies_outside_the_segment") {
  Job job({.registration = {{2'000'000}, 1'000'000}});
  const std::vector<std::byte> source(20'000);
  job.engine.start(Rank{0}, [&] {
    AriesConduit& conduit = *job.conduits[0];
    sim::ModelHost host = job.host(0);
    Sink sink;
    const auto posted = [&](Bytes bytes) {
      const SimTime begin = host.now();
      CHECK(conduit.put(Rank{1}, job.segment(1), source.data(), bytes, kRoot, kNoOperation) == Status::ok);
      const SimTime taken = host.now() - begin;
      CHECK(conduit.descriptors().free_bounces() == 64U - (bytes > 128 && bytes <= 4096 ? 1U : 0U));
      sink.done.clear();
      wait(conduit, host, sink, [&] { return !sink.done.empty(); });
      return taken.ps;
    };
    CHECK(posted(128) == 10'000 + 12'800 + 40'000 + 128'000);
    CHECK(posted(4096) == 10'000 + 409'600 + 40'000 + 4'096'000);
    CHECK(posted(4097) == 2'000'000 + 2 * 4'096'000 + 40'000);
    CHECK(posted(4097) == 40'000);
    CHECK(posted(8192) == 40'000);  // within the same pages
    conduit.forget(std::span(source));
    CHECK(posted(4097) == 2'000'000 + 2 * 4'096'000 + 40'000);
  });
  job.engine.run();
}

TEST_CASE("aries_conduit_goes_by_the_window_up_to_the_cutover") {
  for (const Bytes cutover : {Bytes{0}, Bytes{1023}, Bytes{4096}, Bytes{16384}}) {
    CAPTURE(cutover);
    Job job({}, {.fma_cutover = cutover});
    job.engine.start(Rank{0}, [&] {
      AriesConduit& conduit = *job.conduits[0];
      for (const Bytes bytes :
           {Bytes{8}, Bytes{1023}, Bytes{1024}, Bytes{4096}, Bytes{4100}, Bytes{16384}, Bytes{16388}}) {
        CAPTURE(bytes);
        Sink sink;
        const NicCounters before = job.domain(0).counters();
        CHECK(conduit.put(Rank{1}, job.segment(1), job.segment(0), bytes, kRoot, kNoOperation) == Status::ok);
        CHECK(conduit.get(Rank{1}, job.segment(0), job.segment(1), bytes & ~Bytes{3}, kRoot) == Status::ok);
        const NicCounters after = job.domain(0).counters();
        const std::uint64_t by_window = (bytes <= cutover ? 1U : 0U) + ((bytes & ~Bytes{3}) <= cutover ? 1U : 0U);
        CHECK(after.fma - before.fma == by_window);
        CHECK(after.rdma - before.rdma == 2 - by_window);
        wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 2; });
      }
    });
    job.engine.run();
  }
}

// On either path, a put's local completion comes once, and not after its root.
TEST_CASE("aries_conduit_puts_are_locally_complete_before_they_are_complete") {
  for (const Bytes cutover : {Bytes{0}, Bytes{4096}}) {
    CAPTURE(cutover);
    Job job({}, {.fma_cutover = cutover});
    const std::vector<std::byte> outside = patterned(100'000, 3);
    std::memcpy(job.segment(0), outside.data(), outside.size());
    job.engine.start(Rank{0}, [&] {
      AriesConduit& conduit = *job.conduits[0];
      bool came_apart = false;
      for (const Bytes bytes : {0U, 1U, 100U, 128U, 129U, 4000U, 4096U, 4097U, 8192U, 60'000U, 100'000U}) {
        for (const std::byte* const from : {outside.data(), static_cast<const std::byte*>(job.segment(0))}) {
          CAPTURE(bytes);
          Sink sink;
          CHECK(conduit.put(Rank{1}, job.segment(1), from, bytes, kRoot, kLocal) == Status::ok);
          std::size_t local_alone = 0;
          wait(conduit, job.host(0), sink, [&] {
            if (sink.done.size() == 1) ++local_alone;
            return sink.done.size() == 2;
          });
          CHECK((sink.done == std::vector<OperationId>{kLocal, kRoot}));
          CHECK(has_pattern(job.segment(1), bytes, 3));
          if (bytes > 4096) came_apart = came_apart || local_alone != 0;
        }
      }
      CHECK(came_apart);  // an engine's put has left before it arrives
      CHECK(conduit.is_quiet());
    });
    job.engine.run();
  }
}

TEST_CASE("aries_conduit_puts_have_read_their_source_at_return_if_asked_to") {
  for (const Bytes cutover : {Bytes{0}, Bytes{1023}, Bytes{4096}, Bytes{16384}}) {
    Job job({}, {.fma_cutover = cutover});
    std::vector<std::byte> outside = patterned(16384, 3);
    std::memcpy(job.segment(0), outside.data(), outside.size());
    job.engine.start(Rank{0}, [&] {
      AriesConduit& conduit = *job.conduits[0];
      const Bytes most = conduit.capabilities().copied_puts;
      CHECK(most == std::max(cutover, Bytes{4096}));
      for (const Bytes bytes : {Bytes{1}, Bytes{128}, Bytes{1024}, Bytes{4096}, most}) {
        for (std::byte* const from : {outside.data(), job.segment(0)}) {
          CAPTURE(bytes);
          const std::vector<std::byte> kept(from, from + bytes);
          Sink sink;
          CHECK(conduit.put(Rank{1}, job.segment(1), from, bytes, kRoot, kAtReturn) == Status::ok);
          std::fill(from, from + bytes, std::byte{0});
          wait(conduit, job.host(0), sink, [&] { return !sink.done.empty(); });
          CHECK((sink.done == std::vector<OperationId>{kRoot}));
          CHECK(std::equal(kept.begin(), kept.end(), job.segment(1)));
          std::memcpy(from, kept.data(), bytes);
        }
      }
    });
    job.engine.run();
  }
}

// Cards fetch whole words. Bytes at any alignment arrive unchanged, and their neighbours are not written.
TEST_CASE("aries_conduit_gets_any_bytes") {
  for (const Bytes cutover : {Bytes{0}, Bytes{4096}}) {
    Job job({}, {.fma_cutover = cutover});
    const std::vector<std::byte> all = patterned(1U << 18U, 9);
    std::memcpy(job.segment(1), all.data(), all.size());
    std::vector<std::byte> outside(20'000);
    job.engine.start(Rank{0}, [&] {
      std::mt19937 random(7);
      AriesConduit& conduit = *job.conduits[0];
      for (int i = 0; i < 300; ++i) {
        const Bytes most = i % 3 == 0 ? 16 : i % 3 == 1 ? 200 : 10'000;
        const Bytes bytes = random() % most;
        const Bytes at = random() % 5000;
        const Bytes to = 16 + random() % 8;
        std::byte* const local = i % 2 == 0 ? outside.data() : job.segment(0);
        CAPTURE(bytes);
        CAPTURE(at);
        std::fill(local, local + 16'000, std::byte{0x5a});
        Sink sink;
        CHECK(conduit.get(Rank{1}, local + to, job.segment(1, at), bytes, kRoot) == Status::ok);
        wait(conduit, job.host(0), sink, [&] { return !sink.done.empty(); });
        CHECK((sink.done == std::vector<OperationId>{kRoot}));
        CHECK(std::equal(local + to, local + to + bytes, all.data() + at));
        CHECK(std::count(local, local + to, std::byte{0x5a}) == static_cast<std::ptrdiff_t>(to));
        CHECK(std::count(local + to + bytes, local + 16'000, std::byte{0x5a}) ==
              static_cast<std::ptrdiff_t>(16'000 - to - bytes));
        CHECK(conduit.is_quiet());
      }
    });
    job.engine.run();
  }
}

// Both ranks of a node share one engine. The gets or puts of one rank are in flight while those of the other begin.
TEST_CASE("aries_conduit_puts_and_gets_of_node_mates_share_an_engine") {
  AriesParameters parameters;
  parameters.bte_engines = 1;
  parameters.nic_per_byte_fs = 100'000;  // an engine is ahead of the link
  parameters.host_read = {3'000'000};    // data that an engine has asked for arrive late
  for (const bool puts_first : {false, true}) {
    CAPTURE(puts_first);
    Job job({.ranks = 3, .topology = "crossbar:2", .node_of = {0, 0, 1}}, {.fma_cutover = 0}, parameters);
    const std::vector<std::byte> sent = patterned(50'000, 1);
    const std::vector<std::byte> fetched = patterned(50'000, 2);
    std::memcpy(job.segment(2), fetched.data(), fetched.size());
    for (unsigned rank = 0; rank < 2; ++rank) {
      const bool puts = (rank == 0) == puts_first;
      std::memcpy(job.segment(rank), sent.data(), sent.size());
      job.engine.start(Rank{rank}, [&, rank, puts] {
        AriesConduit& conduit = *job.conduits[rank];
        for (int i = 0; i < 20; ++i) {
          Sink sink;
          const Bytes bytes = Bytes{3000} << (i % 5);
          const Status status =
              puts ? conduit.put(Rank{2}, job.segment(2, 100'000), job.segment(rank), bytes, kRoot, kNoOperation)
                   : conduit.get(Rank{2}, job.segment(rank, 100'000), job.segment(2), bytes, kRoot);
          CHECK(status == Status::ok);
          wait(conduit, job.host(rank), sink, [&] { return !sink.done.empty(); });
          CHECK(std::equal(sent.begin(), sent.end(), job.segment(rank)));
          if (!puts)
            CHECK(std::equal(fetched.begin(), fetched.begin() + static_cast<std::ptrdiff_t>(bytes),
                             job.segment(rank, 100'000)));
        }
      });
    }
    job.engine.run();
    CHECK(std::equal(sent.begin(), sent.begin() + 48'000, job.segment(2, 100'000)));
  }
}

// ---- atomics

TEST_CASE("aries_conduit_offers_the_atomics_that_aries_does") {
  constexpr AtomicOps kOfAll{AtomicOp::set, AtomicOp::get, AtomicOp::swap, AtomicOp::cas, AtomicOp::fcas};
  constexpr AtomicOps kSums{AtomicOp::add, AtomicOp::fadd, AtomicOp::sub, AtomicOp::fsub,
                            AtomicOp::inc, AtomicOp::finc, AtomicOp::dec, AtomicOp::fdec};
  constexpr AtomicOps kOrders{AtomicOp::min, AtomicOp::fmin, AtomicOp::max, AtomicOp::fmax};
  constexpr AtomicOps kBits{AtomicOp::bit_and, AtomicOp::fbit_and, AtomicOp::bit_or,
                            AtomicOp::fbit_or, AtomicOp::bit_xor,  AtomicOp::fbit_xor};
  constexpr AtomicOps kProducts{AtomicOp::mult, AtomicOp::fmult};
  struct Offered {
    AtomicType type;
    bool sums;
    bool orders;
    bool bits;
  };
  for (const Offered& each :
       {Offered{AtomicType::i32, true, true, true}, Offered{AtomicType::u32, true, false, true},
        Offered{AtomicType::i64, true, true, true}, Offered{AtomicType::u64, true, false, true},
        Offered{AtomicType::f32, true, true, false}, Offered{AtomicType::f64, false, true, false}}) {
    CAPTURE(static_cast<int>(each.type));
    for (unsigned op = 0; op < static_cast<unsigned>(AtomicOp::count_); ++op) {
      const auto asked = static_cast<AtomicOp>(op);
      CAPTURE(name_of(asked));
      const bool expected = kOfAll.holds(asked) || (each.sums && kSums.holds(asked)) ||
                            (each.orders && kOrders.holds(asked)) || (each.bits && kBits.holds(asked));
      CHECK(is_offered(each.type, AtomicOps{asked}) == expected);
      CHECK_FALSE(is_offered(each.type, AtomicOps{asked, AtomicOp::mult}));  // one missing operation is enough
      if (!expected || kProducts.holds(asked)) continue;
      // The card supports every command that the conduit asks for.
      const AmoRequest request = amo_for({each.type, asked, 1, 1, nullptr, nullptr});
      CHECK(is_supported(request.command, request.type));
      CHECK(size_of(request.type) == RemoteAtomic{each.type}.bytes());
    }
  }
}

template <class Value>
Value value_of(std::uint64_t bits) {
  Value value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class Value>
std::uint64_t bits_of(Value value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

TEST_CASE("aries_conduit_makes_atomics_of_others") {
  const auto after = [](AtomicType type, AtomicOp op, std::uint64_t old, std::uint64_t a, std::uint64_t b = 0) {
    const AmoRequest request = amo_for({type, op, a, b, nullptr, nullptr});
    std::uint64_t result = apply(request.command, request.type, old, request.operands);
    if (size_of(request.type) == 4) result &= 0xffffffffU;
    return result;
  };
  CHECK(after(AtomicType::u64, AtomicOp::inc, ~std::uint64_t{0}, 0) == 0);
  CHECK(after(AtomicType::u64, AtomicOp::fdec, 0, 0) == ~std::uint64_t{0});
  CHECK(after(AtomicType::u64, AtomicOp::sub, 5, 7) == ~std::uint64_t{1});
  CHECK(after(AtomicType::u32, AtomicOp::fsub, 5, 7) == 0xfffffffeU);
  CHECK(after(AtomicType::i32, AtomicOp::dec, 0, 0) == 0xffffffffU);
  CHECK(after(AtomicType::i64, AtomicOp::set, 5, 7) == 7);
  CHECK(after(AtomicType::f64, AtomicOp::get, bits_of(1.5), 0) == bits_of(1.5));
  CHECK(after(AtomicType::f32, AtomicOp::get, bits_of(1.5F), 0) == bits_of(1.5F));
  CHECK(value_of<float>(after(AtomicType::f32, AtomicOp::inc, bits_of(1.5F), 0)) == 2.5F);
  CHECK(value_of<float>(after(AtomicType::f32, AtomicOp::fdec, bits_of(1.5F), 0)) == 0.5F);
  CHECK(value_of<float>(after(AtomicType::f32, AtomicOp::sub, bits_of(1.5F), bits_of(0.25F))) == 1.25F);
  // The comparison is of a word's own bits.
  CHECK(after(AtomicType::i32, AtomicOp::cas, 0xffffffffU, ~std::uint64_t{0}, 3) == 3);
  CHECK(amo_for({AtomicType::u64, AtomicOp::cas, 0, 0, nullptr, nullptr}).fetches);
  CHECK_FALSE(amo_for({AtomicType::u64, AtomicOp::set, 0, 0, nullptr, nullptr}).fetches);
}

}  // namespace
}  // namespace gasmeter::networks::aries::transfers_test
