// Flags and scans of the flags. No message that arrives meanwhile is missed, whichever kind of message a rank polls
// for.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "networks/sci/conduit_job.hpp"

namespace gasmeter::networks::sci::flags_test {
namespace {

using namespace testing;
using conduit::AmView;
using conduit::Category;
using conduit::PollFilter;

TEST_CASE("sci_control_segment_is_a_byte_for_each_slot_and_one_for_all") {
  const Layout layout{2, 2};
  ControlSegment control(layout);
  CHECK_FALSE(control.next(0).has_value());
  const auto set = [&](Bytes slot) { control.store(slot, {&kMessage, 1}); };
  for (const Bytes slot : {Bytes{5}, Bytes{0}, Bytes{6}}) set(slot);
  CHECK_FALSE(control.exists());
  set(layout.exist_flag());
  CHECK(control.exists());
  CHECK(control.next(0)->slot == 0);
  CHECK(control.next(1)->slot == 5);
  CHECK(control.next(6)->slot == 6);
  CHECK_FALSE(control.next(7).has_value());
  control.clear(5);
  CHECK(control.next(1)->slot == 6);
  std::vector<std::byte> all(layout.control_bytes());
  control.load(0, all);
  for (std::uint32_t slot = 0; slot < layout.control_bytes(); ++slot) {
    CHECK((all[slot] != std::byte{0}) == (slot == 0 || slot == 6 || slot == layout.exist_flag()));
  }
  control.clear_exists();
  CHECK_FALSE(control.exists());
}

// A message's flags arrive while the receiver clears the exist flag, scans the flags, or runs a handler. The peer's
// request begins at times around that, 10 ns apart.
TEST_CASE("sci_what_comes_while_the_exist_flag_is_cleared_is_found") {
  for (const SciParameters& parameters : {SciParameters{}, with_instructions()}) {
    for (std::int64_t late = 0; late < 600; late += 10) {
      CAPTURE(late);
      Job job({.ranks = 3, .topology = "oneway-ring:3", .node_of = {0, 1, 2}}, {}, parameters);
      for (const unsigned rank : {0U, 2U}) {
        job.engine.start(Rank{rank}, [&, rank] {
          sim::ModelHost host = job.host(rank);
          sleep_until(host, host.now() + SimTime{rank == 0 ? 300'000 : late * 1000});
          CHECK(try_send(*job.conduits[rank], header_to(1, Category::short_message)) == Status::ok);
          Sink sink;
          wait(*job.conduits[rank], host, sink, [&] { return sink.messages == 1; });
        });
      }
      job.engine.start(Rank{1}, [&] {
        Sink sink([&](const AmView& request) {
          CHECK(try_send(*job.conduits[1], reply_to(request, Category::short_message)) == Status::ok);
        });
        wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 2; });
      });
      job.engine.run();  // otherwise the engine reports the ranks that wait
    }
  }
}

// A scan that stopped at its budget continues behind the flags that it has handled. A scan for replies alone clears the
// exist flag of a request whose slot lies before that place.
TEST_CASE("sci_a_look_for_replies_hides_no_request_from_one_that_goes_on") {
  Job job({.ranks = 3, .topology = "oneway-ring:3"});
  for (const unsigned rank : {0U, 1U}) {
    job.engine.start(Rank{rank}, [&, rank] {
      sim::ModelHost host = job.host(rank);
      if (rank == 0) sleep_until(host, host.now() + SimTime{50'000'000});
      Sink sink;
      const unsigned requests = rank == 0 ? 1 : 2;
      for (unsigned i = 0; i < requests; ++i)
        send_am(*job.conduits[rank], host, sink, header_to(2, Category::short_message));
      wait(*job.conduits[rank], host, sink, [&] { return job.conduits[rank]->requests_under_way(Rank{2}) == 0; });
    });
  }
  job.engine.start(Rank{2}, [&] {
    sim::ModelHost host = job.host(2);
    const SimTime begin = host.now();
    Sink sink;
    sleep_until(host, begin + SimTime{40'000'000});
    CHECK(job.conduits[2]->poll(sink, 1, PollFilter::everything) == 1);  // from rank 1, whose slots come later
    sleep_until(host, begin + SimTime{100'000'000});
    CHECK(job.conduits[2]->poll(sink, 16, PollFilter::replies_only) == 0);
    wait(*job.conduits[2], host, sink, [&] { return sink.messages == 3; });
  });
  job.engine.run();
}

// A flag that has been found costs no second scan, unless another one is set during the scan.
TEST_CASE("sci_flags_that_were_found_are_cleared") {
  Job job;
  job.engine.start(Rank{0}, [&] {
    Sink sink;
    send_am(*job.conduits[0], job.host(0), sink, header_to(1, Category::short_message));
    wait(*job.conduits[0], job.host(0), sink, [&] { return job.conduits[0]->requests_under_way(Rank{1}) == 0; });
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.host(1);
    Sink sink;
    wait(*job.conduits[1], host, sink, [&] { return sink.messages == 1; });
    for (int i = 0; i < 3; ++i) {
      const SimTime begin = host.now();
      CHECK(job.conduits[1]->poll(sink, 16, PollFilter::everything) == 0);
      CHECK(host.now() == begin);
    }
  });
  job.engine.run();
}

TEST_CASE("sci_looks_for_replies_find_all_of_them_whatever_their_budget") {
  Job job({}, {.pairs = 4});
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.host(0);
    Sink sink;
    for (unsigned i = 0; i < 4; ++i) send_am(*job.conduits[0], host, sink, header_to(1, Category::short_message));
    sleep_until(host, host.now() + SimTime{100'000'000});
    for (unsigned i = 1; i <= 4; ++i) {
      CHECK(job.conduits[0]->poll(sink, 1, PollFilter::replies_only) == 1);
      CHECK(sink.messages == i);
    }
    CHECK(job.conduits[0]->poll(sink, 1, PollFilter::replies_only) == 0);
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([&](const AmView& request) {
      CHECK(try_send(*job.conduits[1], reply_to(request, Category::short_message)) == Status::ok);
    });
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 4; });
  });
  job.engine.run();
}

// The next scan for all messages finds the requests that a scan for replies has passed over. No further message is
// needed.
TEST_CASE("sci_requests_that_were_passed_over_are_found_later") {
  Job job;
  job.engine.start(Rank{0}, [&] {
    Sink sink;
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    wait(*job.conduits[0], job.host(0), sink, [&] { return job.conduits[0]->requests_under_way(Rank{1}) == 0; });
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink;
    sleep_until(job.host(1), job.host(1).now() + SimTime{20'000'000});
    CHECK(job.conduits[1]->poll(sink, 16, PollFilter::replies_only) == 0);
    CHECK(job.conduits[1]->poll(sink, 16, PollFilter::replies_only) == 0);
    CHECK(sink.messages == 0);
    CHECK(job.conduits[1]->poll(sink, 16, PollFilter::everything) == 1);
    CHECK(sink.messages == 1);
  });
  job.engine.run();
}

// Each of 16 ranks asks each other rank, with the fewest slots possible. All requests are answered. A reply has
// resources of its own, so that no ranks wait in a circle.
TEST_CASE("sci_all_ask_all_with_full_slots_and_it_ends") {
  constexpr unsigned kRanks = 16;
  constexpr unsigned kRounds = 3;
  for (const unsigned pairs : {1U, 2U}) {
    for (const Bytes size : {Bytes{0}, Bytes{900}, Bytes{3000}}) {
      CAPTURE(pairs);
      CAPTURE(size);
      SciParameters parameters;
      parameters.outstanding = 2;
      const SciOptions options{.pairs = pairs, .small_buffers = 2};
      Job job({.ranks = kRanks, .topology = "oneway-torus2d:4x2"}, options, parameters);
      const Category category = size == 0     ? Category::short_message
                                : size < 2048 ? Category::medium
                                              : Category::long_message;
      std::vector<unsigned> handled(kRanks);
      for (unsigned rank = 0; rank < kRanks; ++rank) {
        job.engine.start(Rank{rank}, [&, rank] {
          conduit::Conduit& conduit = *job.conduits[rank];
          sim::ModelHost host = job.host(rank);
          const auto destination = [&](unsigned peer) {
            return category == Category::long_message ? job.at(peer, Bytes{rank} * 4000) : nullptr;
          };
          unsigned answers = 0;
          Sink nested([&](const AmView&) { ++answers; });
          Sink sink([&](const AmView& message) {
            if (!message.is_request) {
              ++answers;
              return;
            }
            ++handled[rank];
            const std::vector<std::byte> payload = patterned(size, handled[rank]);
            while (try_send(conduit, reply_to(message, category), {}, payload, destination(index(message.source))) !=
                   Status::ok) {
              if (conduit.poll(nested, 16, PollFilter::replies_only) == 0) host.idle(kNever);
            }
          });
          for (unsigned i = 0; i < kRounds * kRanks; ++i) {
            const unsigned peer = (rank + i) % kRanks;
            send_am(conduit, host, sink, header_to(peer, category), patterned(size, i), destination(peer));
          }
          wait(conduit, host, sink, [&] { return answers == kRounds * kRanks && handled[rank] == kRounds * kRanks; });
          poll_until(conduit, host, sink, SimTime{1'000'000'000'000});  // its last replies by DMA need these polls
          CHECK(sink.messages == 2 * kRounds * kRanks - nested.messages);
        });
      }
      job.engine.run();
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::sci::flags_test
