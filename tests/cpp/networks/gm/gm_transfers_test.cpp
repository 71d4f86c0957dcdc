// Put and get of the conduit by the cards, memory outside the segment, and interrupts. tests/golden/gm.md derives the
// times. The conformance suite (families gm and gm-reference) checks the rules that hold for every conduit.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/gm/conduit_job.hpp"
#include "support/conduit_calls.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::gm::gm_transfers_test {
namespace {

using namespace testing;
using conduit::Category;
using conduit::kAtReturn;
using conduit::kNoOperation;
using conduit::OperationId;
using conduit::Pin;
using gasmeter::testing::has_pattern;
using gasmeter::testing::header_to;
using gasmeter::testing::message_of;
using gasmeter::testing::patterned;
using gasmeter::testing::Sink;
using gasmeter::testing::try_send;
using gasmeter::testing::wait;
using gasmeter::testing::write_pattern;

constexpr OperationId kRoot{1};
constexpr OperationId kLocal{2};
const GmLimits kByCards{.directed_puts = true, .gets = true, .pins = true};
const GmParameters kGm2{.gets = true};
// 1000 and 204.8 a page to register, 2000 and 204.8 a page to undo it.
const Shape kPriced{.registration = {{1'000'000}, 50'000}, .deregistration = conduit::Price{{2'000'000}, 50'000}};

using Operations = std::vector<OperationId>;

// Run `act` at rank 0, while rank 1 does nothing. `elapsed` is in ps from rank 0's clock at the begin.
template <class Act>
void alone(Job& job, Act act) {
  job.engine.start(Rank{0}, [&] {
    const SimTime start = job.host(0).now();
    Sink sink;
    act(*job.conduits[0], sink, [&] { return (job.host(0).now() - start).ps; });
  });
  job.engine.start(Rank{1}, [] {});
  job.engine.run();
}

TEST_CASE("gm_conduit_get_of_eight_bytes") {
  Job job({}, kByCards, kGm2);
  write_pattern(job.segments[1].data(), 8, 1);
  alone(job, [&](GmConduit& conduit, Sink& sink, auto elapsed) {
    CHECK(conduit.get(Rank{1}, job.segments[0].data() + 64, job.segments[1].data(), 8, kRoot) == Status::ok);
    CHECK(elapsed() == 102'000);
    wait(conduit, job.host(0), sink, [&] { return !sink.done.empty(); });
    CHECK(elapsed() == 1'802'000);
    CHECK((sink.done == Operations{kRoot}));
    CHECK(has_pattern(job.segments[0].data() + 64, 8, 1));
  });
}

TEST_CASE("gm_conduit_get_into_other_memory_is_copied_there") {
  Job job({}, kByCards, kGm2);
  write_pattern(job.segments[1].data(), 8, 1);
  std::vector<std::byte> outside(8);
  alone(job, [&](GmConduit& conduit, Sink& sink, auto elapsed) {
    CHECK(conduit.get(Rank{1}, outside.data(), job.segments[1].data(), 8, kRoot) == Status::ok);
    CHECK(elapsed() == 102'000);
    wait(conduit, job.host(0), sink, [&] { return !sink.done.empty(); });
    CHECK(elapsed() == 1'812'800);
    CHECK(has_pattern(outside.data(), 8, 1));
  });
  CHECK(job.conduits[0]->registrations().pins == 0);
}

// A put's source in the segment is free when its target's card says so, and not before.
TEST_CASE("gm_conduit_put_of_eight_bytes") {
  Job job({}, kByCards, kGm2);
  write_pattern(job.segments[0].data(), 8, 2);
  alone(job, [&](GmConduit& conduit, Sink& sink, auto elapsed) {
    CHECK(conduit.put(Rank{1}, job.segments[1].data() + 64, job.segments[0].data(), 8, kRoot, kLocal) == Status::ok);
    CHECK(elapsed() == 102'000);
    wait(conduit, job.host(0), sink, [&] { return !sink.done.empty(); });
    CHECK(elapsed() == 1'542'000);
    CHECK((sink.done == Operations{kLocal, kRoot}));
    CHECK(has_pattern(job.segments[1].data() + 64, 8, 2));
  });
}

// A copied source may change at once.
TEST_CASE("gm_conduit_put_from_other_memory_is_locally_complete_at_once") {
  Job job({}, kByCards, kGm2);
  std::vector<std::byte> outside = patterned(8, 3);
  alone(job, [&](GmConduit& conduit, Sink& sink, auto elapsed) {
    CHECK(conduit.put(Rank{1}, job.segments[1].data(), outside.data(), 8, kRoot, kLocal) == Status::ok);
    std::fill(outside.begin(), outside.end(), std::byte{0});
    CHECK(elapsed() == 112'800);
    CHECK(conduit.poll(sink, 1, conduit::PollFilter::everything) == 1);
    CHECK(elapsed() == 112'800);
    CHECK((sink.done == Operations{kLocal}));
    wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 2; });
    CHECK(elapsed() == 1'552'800);
    CHECK((sink.done == Operations{kLocal, kRoot}));
    CHECK(has_pattern(job.segments[1].data(), 8, 3));
  });
}

TEST_CASE("gm_conduit_put_whose_source_is_free_at_return_is_copied") {
  Job job({}, kByCards, kGm2);
  const Bytes most = job.conduits[0]->capabilities().copied_puts;
  CHECK(most == 8192);
  alone(job, [&](GmConduit& conduit, Sink& sink, auto elapsed) {
    write_pattern(job.segments[0].data(), most, 4);
    CHECK(conduit.put(Rank{1}, job.segments[1].data(), job.segments[0].data(), most, kRoot, kAtReturn) == Status::ok);
    CHECK(elapsed() == 102'000 + 10'000 + 819'200);
    std::fill_n(job.segments[0].data(), most, std::byte{0});
    wait(conduit, job.host(0), sink, [&] { return !sink.done.empty(); });
    CHECK((sink.done == Operations{kRoot}));
    CHECK(has_pattern(job.segments[1].data(), most, 4));
  });
}

// A larger source is registered once, and the put reads it where it lies.
TEST_CASE("gm_conduit_registers_larger_memory_and_keeps_it") {
  Job job(kPriced, kByCards, kGm2);
  std::vector<std::byte> outside = patterned(10'000, 5);
  alone(job, [&](GmConduit& conduit, Sink& sink, auto elapsed) {
    const auto put = [&] {
      const std::int64_t before = elapsed();
      CHECK(conduit.put(Rank{1}, job.segments[1].data(), outside.data(), 10'000, kRoot, kNoOperation) == Status::ok);
      return elapsed() - before;
    };
    CHECK(put() == 1'000'000 + 3 * 204'800 + 102'000);
    CHECK(put() == 102'000);
    wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 2; });
    CHECK(has_pattern(job.segments[1].data(), 10'000, 5));
    std::fill(outside.begin(), outside.end(), std::byte{0});
    CHECK(conduit.get(Rank{1}, outside.data(), job.segments[1].data(), 10'000, kRoot) == Status::ok);
    wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 3; });
    CHECK(has_pattern(outside.data(), 10'000, 5));
    // After a transfer the card no longer reaches the memory.
    CHECK_FALSE(job.port(0).is_registered(outside.data(), 1));
    conduit.forget(outside);
    CHECK(put() == 2'000'000 - 2'000'000 + 1'000'000 + 3 * 204'800 + 102'000);
    wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 4; });
  });
  CHECK(job.conduits[0]->registrations().hits == 2);
  CHECK(job.conduits[0]->registrations().pins == 2);
  CHECK(job.conduits[0]->registrations().unpins == 1);
}

TEST_CASE("gm_conduit_that_registers_nothing_copies_all") {
  GmLimits limits = kByCards;
  limits.registers = false;
  Job job(kPriced, limits, kGm2);
  const Bytes most = job.conduits[0]->capabilities().max_transfer;
  CHECK(most == kAmBuffer);
  std::vector<std::byte> outside = patterned(most, 6);
  alone(job, [&](GmConduit& conduit, Sink& sink, auto elapsed) {
    CHECK(conduit.put(Rank{1}, job.segments[1].data(), outside.data(), most, kRoot, kLocal) == Status::ok);
    CHECK(elapsed() == 102'000 + 10'000 + 6'553'600);
    std::fill(outside.begin(), outside.end(), std::byte{0});
    wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 2; });
    CHECK(conduit.get(Rank{1}, outside.data(), job.segments[1].data(), most, kRoot) == Status::ok);
    wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 3; });
    CHECK(has_pattern(outside.data(), most, 6));
  });
  CHECK(job.conduits[0]->registrations().pins == 0);
}

// Two tokens are reserved for replies. Each token returns with its event.
TEST_CASE("gm_conduit_transfers_leave_replies_their_tokens") {
  Job job({}, kByCards, {.gets = true, .send_tokens = 4});
  alone(job, [&](GmConduit& conduit, Sink& sink, auto elapsed) {
    std::byte* const local = job.segments[0].data();
    const std::byte* const remote = job.segments[1].data();
    CHECK(conduit.get(Rank{1}, local, remote, 8, kRoot) == Status::ok);
    CHECK(conduit.put(Rank{1}, job.segments[1].data() + 64, local + 64, 8, kRoot, kNoOperation) == Status::ok);
    const std::int64_t before = elapsed();
    CHECK(conduit.get(Rank{1}, local, remote, 8, kRoot) == Status::no_resource);
    CHECK(conduit.put(Rank{1}, job.segments[1].data(), local, 8, kRoot, kNoOperation) == Status::no_resource);
    CHECK(elapsed() == before);
    wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 2; });
    for (int i = 0; i < 2; ++i) CHECK(conduit.get(Rank{1}, local, remote, 8, kRoot) == Status::ok);
    wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 4; });
  });
}

TEST_CASE("gm_conduit_of_messages_has_neither_put_nor_get_nor_pins") {
  Job job;
  const conduit::Capabilities& can = job.conduits[0]->capabilities();
  CHECK_FALSE(can.native_put);
  CHECK_FALSE(can.native_get);
  CHECK_FALSE(can.native_pin);
  CHECK_FALSE(can.handlers_by_interrupt);
  CHECK(job.conduits[0]->put(Rank{1}, nullptr, nullptr, 0, kRoot, kLocal) == Status::unsupported);
  CHECK(job.conduits[0]->get(Rank{1}, nullptr, nullptr, 0, kRoot) == Status::unsupported);
  Pin pinned{};
  CHECK(job.conduits[0]->pin(job.segments[0], pinned) == Status::unsupported);
}

// ---- pins

TEST_CASE("gm_conduit_pins_memory_until_its_room_is_wanted") {
  GmLimits limits = kByCards;
  limits.pinned_pages = 2;
  Job job(kPriced, limits, kGm2);
  std::vector<std::byte> first(5000);
  std::vector<std::byte> second(4096);
  alone(job, [&](GmConduit& conduit, Sink&, auto elapsed) {
    Pin pinned{};
    const auto price_of = [&](const auto& act) {
      const std::int64_t before = elapsed();
      act();
      return elapsed() - before;
    };
    CHECK(price_of([&] { CHECK(conduit.pin(first, pinned) == Status::ok); }) == 1'409'600);
    Pin again{};
    CHECK(price_of([&] { CHECK(conduit.pin(std::span(first).subspan(100, 4000), again) == Status::ok); }) == 0);
    CHECK(again != pinned);
    Pin other{};
    CHECK(price_of([&] { CHECK(conduit.pin(second, other) == Status::no_resource); }) == 0);
    CHECK(price_of([&] {
            conduit.unpin(again);
            conduit.unpin(pinned);
          }) == 0);
    // The return of two pages costs more than one new page.
    CHECK(price_of([&] { CHECK(conduit.pin(second, other) == Status::ok); }) == 2'409'600 + 1'204'800);
    conduit.unpin(other);
    CHECK(message_of<UsageError>([&] { conduit.unpin(other); }) ==
          "gm: memory 0 is unpinned, which is not pinned; unpin each pin once");
  });
}

// Pinned memory serves as well as a segment for peers that know its address.
TEST_CASE("gm_conduit_reaches_what_its_peer_has_pinned") {
  Job job({}, kByCards, kGm2);
  std::vector<std::byte> theirs = patterned(3000, 7);
  Pin pinned{};
  CHECK(job.conduits[1]->pin(theirs, pinned) == Status::ok);
  alone(job, [&](GmConduit& conduit, Sink& sink, auto) {
    CHECK(conduit.get(Rank{1}, job.segments[0].data(), theirs.data() + 100, 2900, kRoot) == Status::ok);
    wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 1; });
    CHECK(std::equal(theirs.begin() + 100, theirs.end(), job.segments[0].begin()));
    CHECK(conduit.put(Rank{1}, theirs.data(), job.segments[0].data(), 8, kRoot, kNoOperation) == Status::ok);
    wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 2; });
    CHECK(std::equal(theirs.begin(), theirs.begin() + 8, job.segments[0].begin()));
  });
}

TEST_CASE("gm_conduit_cannot_reach_what_its_peer_has_unpinned") {
  Job job({}, kByCards, kGm2);
  std::vector<std::byte> theirs(3000);
  Pin pinned{};
  CHECK(job.conduits[1]->pin(theirs, pinned) == Status::ok);
  job.conduits[1]->unpin(pinned);
  const std::string failure = message_of<UsageError>([&] {
    alone(job, [&](GmConduit& conduit, Sink& sink, auto) {
      CHECK(conduit.get(Rank{1}, job.segments[0].data(), theirs.data(), 8, kRoot) == Status::ok);
      wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 1; });
    });
  });
  CHECK(failure == "gm: rank 0's get of 8 bytes reaches memory that rank 1 has not registered");
}

// The ranks of a node share the driver's limit equally. Memory that a rank registers at the start counts against its
// share.
TEST_CASE("gm_conduit_pins_no_more_than_the_node_may") {
  constexpr Bytes kPage = conduit::kPageBytes;
  constexpr Bytes kBuffers = 32 * kAmBuffer;  // and a page of `World`'s
  constexpr Bytes kSegment = 1U << 18U;
  GmParameters parameters = kGm2;
  parameters.dmaable = 2 * (kBuffers + kSegment + kPage + 3 * kPage);
  const Shape shape{.ranks = 2, .node_of = {0, 0}};
  Job job(shape, kByCards, parameters);
  CHECK(job.conduits[0]->capabilities().pins.pages == 3);
  CHECK(job.conduits[0]->capabilities().max_transfer == 8192);
  parameters.dmaable -= 6 * kPage;
  CHECK(
      message_of<UsageError>([&] { Job(shape, kByCards, parameters); }) ==
      "gm: segment and buffers leave no page of what host.dmaable_memory allows a rank; a smaller segment or a higher "
      "limit is needed");
  parameters.dmaable -= 2 * kPage;
  CHECK(message_of<UsageError>([&] { Job(shape, kByCards, parameters); }) ==
        "gm: rank 0 registers 262144 bytes; of its share of host.dmaable_memory 258048 are left");
}

// ---- interrupts

// Compute, and poll whenever an arrival interrupts that.
void compute(Job& job, unsigned rank, Sink& sink, SimTime work) {
  while (work.ps != 0) {
    work = job.host(rank).work(work, job.conduits[rank]->capabilities().handlers_by_interrupt);
    if (work.ps != 0) (void)job.conduits[rank]->poll(sink, 16, conduit::PollFilter::everything);
  }
}

// A Short to a rank that computes for 10000: the time of its handler, and the time when the rank has computed.
struct Handled {
  std::int64_t at = 0;
  std::int64_t done = 0;
  std::uint64_t interrupts = 0;
};
Handled short_to_who_computes(bool by_interrupt, unsigned messages = 1) {
  GmLimits limits = kByCards;
  limits.interrupts = by_interrupt;
  GmParameters parameters = kGm2;
  parameters.interrupt = SimTime{2'000'000};
  Job job({}, limits, parameters);
  Handled handled;
  const SimTime start = job.host(1).now();
  job.engine.start(Rank{0}, [&] {
    for (unsigned i = 0; i < messages; ++i) {
      CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    }
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([&](const conduit::AmView&) { handled.at = (job.host(1).now() - start).ps; });
    compute(job, 1, sink, {10'000'000});
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == messages; });
    handled.done = (job.host(1).now() - start).ps;
  });
  job.engine.run();
  handled.interrupts = job.port(1).counters().interrupts;
  return handled;
}

TEST_CASE("gm_conduit_handles_by_interrupt_what_comes_while_its_rank_computes") {
  const Handled polled = short_to_who_computes(false);
  CHECK(polled.at == 10'140'000);
  CHECK(polled.interrupts == 0);
  const Handled interrupted = short_to_who_computes(true);
  CHECK(interrupted.at == 3'198'000);
  CHECK(interrupted.done == 12'222'000);
  CHECK(interrupted.interrupts == 1);
}

// Events that come before the rank polls are found together with the one that interrupted it.
TEST_CASE("gm_conduit_is_interrupted_once_until_it_looks") {
  CHECK(short_to_who_computes(true, 3).interrupts == 1);
}

// Directed sends have no event. Puts neither interrupt nor delay a computing target.
TEST_CASE("gm_conduit_is_not_interrupted_by_puts") {
  GmLimits limits = kByCards;
  limits.interrupts = true;
  GmParameters parameters = kGm2;
  parameters.interrupt = SimTime{2'000'000};
  Job job({}, limits, parameters);
  job.engine.start(Rank{0}, [&] {
    CHECK(job.conduits[0]->put(Rank{1}, job.segments[1].data(), job.segments[0].data(), 8, kRoot, kNoOperation) ==
          Status::ok);
  });
  job.engine.start(Rank{1}, [&] { CHECK(job.host(1).work({10'000'000}, true).ps == 0); });
  job.engine.run();
  CHECK(job.port(1).counters().interrupts == 0);
}

TEST_CASE("gm_interrupts_need_a_price") {
  GmLimits limits = kByCards;
  limits.interrupts = true;
  CHECK(message_of<UsageError>([&] { Job({}, limits, kGm2); }) ==
        "gm: an interrupt has no price: the machine has no host.interrupt");
}

}  // namespace
}  // namespace gasmeter::networks::gm::gm_transfers_test
