// Option outstanding: requests that a peer has not handled yet, and how a sender notices the limit.
#include <doctest/doctest.h>

#include <vector>

#include "conduit_job.hpp"

namespace gasmeter::networks::extoll::outstanding_test {
namespace {

using namespace testing;
using conduit::AmBuffer;
using conduit::AmView;
using conduit::Category;

constexpr std::int64_t kAsleep = 500'000'000;  // ps, until when receivers do not poll

AmOptions at_most(unsigned outstanding) {
  AmOptions options;
  options.outstanding = outstanding;
  return options;
}

// Return when rank 0 has sent `messages` Mediums of 4032 B to a rank that sleeps. Rank 0 sends each as soon as it is
// not refused.
SimTime time_to_send(unsigned outstanding, unsigned messages) {
  Job job({.ranks = 4}, kRoomy, at_most(outstanding));
  SimTime sent{};
  const std::vector<std::byte> payload = patterned(4032, 1);
  job.engine.start(Rank{0}, [&] {
    Sink sink;
    for (unsigned i = 0; i < messages; ++i) {
      send_am(*job.conduits[0], job.host(0), sink, header_to(2, Category::medium), {}, payload);
    }
    sent = job.host(0).now();
    wait(*job.conduits[0], job.host(0), sink, [&] { return sink.messages == 1; });
  });
  job.engine.start(Rank{2}, [&] {
    sim::ModelHost host = job.host(2);
    Sink sink([&](const AmView& message) {
      CHECK(message.size == payload.size());
      if (sink.messages != messages) return;
      CHECK(try_send(*job.conduits[2], header_to(0, Category::short_message, 0, true)) == Status::ok);
    });
    sleep_until(host, {kAsleep});
    wait(*job.conduits[2], host, sink, [&] { return sink.messages == messages; });
    while (host.now().ps < 3 * kAsleep) {
      if (job.conduits[2]->poll(sink, 16, conduit::PollFilter::everything) == 0) host.idle({3 * kAsleep});
    }
  });
  job.engine.run();
  return sent;
}

TEST_CASE("extoll_sender_waits_for_a_sleeping_receiver_only_where_few_requests_may_be_outstanding") {
  CHECK(time_to_send(0, 20).ps < kAsleep);
  CHECK(time_to_send(20, 20).ps < kAsleep);
  CHECK(time_to_send(3, 3).ps < kAsleep);
  CHECK(time_to_send(3, 4).ps > kAsleep);
  CHECK(time_to_send(1, 2).ps > kAsleep);
  CHECK(time_to_send(0, 20) == time_to_send(20, 20));  // a limit that is not reached costs no time
}

TEST_CASE("extoll_outstanding_requests_are_counted_per_peer_and_given_back_by_cancel") {
  Job job({.ranks = 4}, kRoomy, at_most(2));
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.host(0);
    ExtollConduit& conduit = *job.conduits[0];
    const auto request = [&](unsigned to) { return try_send(conduit, header_to(to, Category::short_message)); };
    AmBuffer buffer;
    for (int i = 0; i < 5; ++i) {
      CHECK(conduit.prepare(header_to(2, Category::medium), nullptr, 8, 8, buffer) == Status::ok);
      conduit.cancel(buffer);
    }
    CHECK(request(2) == Status::ok);
    CHECK(conduit.prepare(header_to(2, Category::medium), nullptr, 8, 8, buffer) == Status::ok);
    CHECK(request(2) == Status::no_resource);
    conduit.cancel(buffer);
    CHECK(request(2) == Status::ok);
    CHECK(request(2) == Status::no_resource);
    CHECK(request(3) == Status::ok);  // another peer
    CHECK(request(3) == Status::ok);
    CHECK(request(3) == Status::no_resource);
    for (int i = 0; i < 5; ++i) {
      CHECK(try_send(conduit, header_to(2, Category::short_message, 0, true)) == Status::ok);
      CHECK(request(1) == Status::ok);  // a node mate, through memory
    }
    // A refused sender sleeps. Credits wake it without a message.
    Sink sink;
    wait(conduit, host, sink, [&] { return request(2) == Status::ok; });
    CHECK(host.now().ps > kAsleep);
    CHECK(sink.messages == 0);
  });
  for (const unsigned self : {1U, 2U, 3U}) {
    job.engine.start(Rank{self}, [&, self] {
      sim::ModelHost host = job.host(self);
      Sink sink;
      sleep_until(host, {kAsleep});
      const unsigned due = self == 1 ? 5 : self == 2 ? 8 : 2;
      wait(*job.conduits[self], host, sink, [&] { return sink.messages == due; });
    });
  }
  job.engine.run();
}

}  // namespace
}  // namespace gasmeter::networks::extoll::outstanding_test
