// The conduit alone: the parts of its transfers, and its limits. tests/golden/lapi.md derives the times. The
// conformance suite (family lapi) checks the rules that hold for every conduit.
#include "gasmeter/networks/lapi/lapi_conduit.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "networks/lapi/world.hpp"
#include "support/conduit_calls.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::lapi::lapi_conduit_test {
namespace {

using namespace testing;
using conduit::AmView;
using conduit::Category;
using conduit::OperationId;
using gasmeter::testing::has_pattern;
using gasmeter::testing::header_to;
using gasmeter::testing::Sink;
using gasmeter::testing::try_send;
using gasmeter::testing::wait;
using gasmeter::testing::write_pattern;

struct Job : World {
  explicit Job(const LapiOptions& options = {}, const Shape& shape = {}, const LapiParameters& parameters = {})
      : World(shape, parameters, Progress::poll, 64), segments(shape.ranks, std::vector<std::byte>(1U << 16U)) {
    for (unsigned i = 0; i < shape.ranks; ++i) {
      conduits.push_back(std::make_unique<LapiConduit>(task(i), host(i), shape.ranks, options, false));
      conduits[i]->attach(segments[i]);
    }
  }
  std::vector<std::vector<std::byte>> segments;
  std::vector<std::unique_ptr<LapiConduit>> conduits;
};

TEST_CASE("lapi_conduit_short_and_its_reply") {
  Job job;
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.host(0);
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    CHECK(host.now().ps == 90'400);
    Sink sink([&](const AmView& reply) {
      CHECK_FALSE(reply.is_request);
      CHECK(host.now().ps == 2'620'800);
    });
    wait(*job.conduits[0], host, sink, [&] { return sink.messages == 1; });
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.host(1);
    Sink sink([&](const AmView& request) {
      CHECK(request.is_request);
      CHECK(host.now().ps == 1'310'400);
      CHECK(try_send(*job.conduits[1], header_to(0, Category::short_message, 0, true)) == Status::ok);
    });
    wait(*job.conduits[1], host, sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
}

// Half of the packets that a window surely holds, less the largest header: 12 packets of 1024 B.
TEST_CASE("lapi_conduit_messages_are_as_long_as_half_a_window") {
  const Job job;
  CHECK(job.conduits[0]->capabilities().max_request_medium == 12 * 1024 - kMostHeader);
  CHECK(is_inlined(Category::medium, 0, 784));
  CHECK_FALSE(is_inlined(Category::medium, 0, 785));
  CHECK_FALSE(is_inlined(Category::long_message, 0, 8));
  const Job wide({}, {}, {.send_fifo = 2048, .window = 2048});
  CHECK(wide.conduits[0]->capabilities().max_request_long == 256 * 1024);
}

// Time of a transfer of 3000 B, to or from memory that may be registered. The test compares the options.
SimTime transfer(const LapiOptions& options, bool is_put, bool is_segment, bool pinned = false) {
  Job job(options);
  std::vector<std::byte> outside(3000);
  std::byte* const local = is_segment ? job.segments[0].data() : outside.data();
  write_pattern(is_put ? local : job.segments[1].data(), 3000, 4);
  SimTime end;
  bool done = false;
  job.engine.start(Rank{0}, [&] {
    LapiConduit& conduit = *job.conduits[0];
    conduit::Pin pin{};
    if (pinned) CHECK(conduit.pin(outside, pin) == Status::ok);
    CHECK((is_put ? conduit.put(Rank{1}, job.segments[1].data(), local, 3000, OperationId{1}, OperationId{2})
                  : conduit.get(Rank{1}, local, job.segments[1].data(), 3000, OperationId{1})) == Status::ok);
    Sink sink;
    wait(conduit, job.host(0), sink, [&] { return sink.done.size() == (is_put ? 2U : 1U); });
    end = job.host(0).now();
    done = true;
    if (pinned) conduit.unpin(pin);
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink;
    while (!done && (!options.rdma || options.rdma_from > 3000)) {
      if (job.conduits[1]->poll(sink, 64, conduit::PollFilter::everything) == 0) job.host(1).idle(SimTime{90'000'000});
      if (job.host(1).now().ps >= 90'000'000) break;
    }
  });
  job.engine.run();
  CHECK(has_pattern(is_put ? job.segments[1].data() : local, 3000, 4));
  return end;
}

TEST_CASE("lapi_conduit_copies_what_is_not_registered_and_short") {
  for (const bool is_put : {false, true}) {
    CAPTURE(is_put);
    const SimTime registered = transfer({}, is_put, true);
    const SimTime bounced = transfer({}, is_put, false);
    // 10 + 3000 x 0.1. A put that begins later is seen to end at another poll.
    CHECK((bounced - registered).ps >= 300'000);
    CHECK((bounced - registered).ps <= 320'000);
    CHECK(transfer({}, is_put, false, true) == registered);
    CHECK(transfer({.pin_threshold = 2999}, is_put, false) == registered);  // registration is free here
    // Packet mode is independent of the limits of RDMA mode, and both processors copy.
    CHECK(transfer({.rdma = false}, is_put, true) != registered);
    CHECK(transfer({.rdma_from = 3001}, is_put, true) == transfer({.rdma = false}, is_put, true));
  }
}

}  // namespace
}  // namespace gasmeter::networks::lapi::lapi_conduit_test
