// Ibel's queues: the resource that each of them lacks, and how a program ends that runs out of it. Also messages that
// outlive their sender's program.
#include <doctest/doctest.h>

#include <string>

#include "gasmeter/sim/engine/engine.hpp"
#include "networks/sci/conduit_job.hpp"

namespace gasmeter::networks::sci::queues_test {
namespace {

using namespace testing;
using conduit::AmView;
using conduit::Category;
using conduit::PollFilter;

SciOptions with_queues(Queues queues, unsigned pairs) {
  SciOptions options;
  options.queues = queues;
  options.pairs = pairs;
  return options;
}

// Each of two ranks asks the other once and answers once. Each waits for room as core does.
void ask_each_other(Job& job) {
  for (unsigned rank = 0; rank < 2; ++rank) {
    job.engine.start(Rank{rank}, [&job, rank] {
      sim::ModelHost host = job.host(rank);
      SciConduit& conduit = *job.conduits[rank];
      unsigned handled = 0;
      unsigned answered = 0;
      Sink sink([&](const AmView& message) {
        if (!message.is_request) {
          ++answered;
          return;
        }
        ++handled;
        auto reply = header_to(1 - rank, Category::short_message, 0, true);
        reply.cookie = message.cookie;
        while (try_send(conduit, reply) != Status::ok) {
          host.describe_wait("room for a reply");
          if (conduit.poll(sink, 64, PollFilter::replies_only) == 0) host.idle(kNever);
        }
      });
      CHECK(try_send(conduit, header_to(1 - rank, Category::short_message)) == Status::ok);
      wait(conduit, host, sink, [&] { return handled == 1 && answered == 1; });
      conduit.settle();
    });
  }
  job.engine.run();
}

TEST_CASE(
    "sci, a split queue: two ranks that fill each other's with requests wait for room for their replies for ever") {
  Job job({}, with_queues(Queues::split, 1));
  try {
    ask_each_other(job);
    FAIL("it ended");
  } catch (const Deadlock& report) {
    CHECK(std::string(report.what()).find("2 of 2 ranks wait") != std::string::npos);
    CHECK(std::string(report.what()).find("room for a reply") != std::string::npos);
  }
}

TEST_CASE("sci: with a place more, and where replies have places of their own, they end") {
  Job roomier({}, with_queues(Queues::split, 2));
  ask_each_other(roomier);
  Job paired({}, with_queues(Queues::paired, 1));
  ask_each_other(paired);
  Job ibel({}, with_queues(Queues::ibel, 1));
  ask_each_other(ibel);
}

TEST_CASE("sci, Ibel's remote queue: one request is under way to the whole network") {
  Job job({.ranks = 3, .topology = "oneway-ring:3"}, with_queues(Queues::ibel, 1));
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.host(0);
    SciConduit& conduit = *job.conduits[0];
    Sink sink([](const AmView&) {});
    CHECK(try_send(conduit, header_to(1, Category::short_message)) == Status::ok);
    CHECK(try_send(conduit, header_to(2, Category::short_message)) == Status::no_resource);
    // The handler does not reply. The sender still learns that its request has been handled.
    while (try_send(conduit, header_to(2, Category::short_message)) != Status::ok) {
      if (conduit.poll(sink, 64, PollFilter::everything) == 0) host.idle(kNever);
    }
  });
  for (unsigned rank = 1; rank < 3; ++rank) {
    job.engine.start(Rank{rank}, [&, rank] {
      sim::ModelHost host = job.host(rank);
      Sink sink([](const AmView&) {});
      wait(*job.conduits[rank], host, sink, [&] { return sink.messages == 1; });
    });
  }
  job.engine.run();
}

TEST_CASE("sci: a reply by DMA is announced though its rank has nothing more to do") {
  Job job;
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.host(0);
    Sink sink([&](const AmView& message) { CHECK(message.size == 4096); });
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    wait(*job.conduits[0], host, sink, [&] { return sink.messages == 1; });
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.host(1);
    const std::vector<std::byte> payload(4096);
    Sink sink([&](const AmView& message) {
      auto reply = header_to(0, Category::long_message, 0, true);
      reply.cookie = message.cookie;
      CHECK(try_send(*job.conduits[1], reply, {}, payload, job.at(0)) == Status::ok);
    });
    wait(*job.conduits[1], host, sink, [&] { return sink.messages == 1; });
    job.conduits[1]->settle();
  });
  job.engine.run();
}

}  // namespace
}  // namespace gasmeter::networks::sci::queues_test
