// The conduit alone: the parts of messages, and the return of their resources. The conformance suite (family aries)
// checks the rules that hold for every conduit.
#include "gasmeter/networks/aries/aries_conduit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/aries/conduit_job.hpp"
#include "support/conduit_calls.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::aries::aries_conduit_test {
namespace {

using namespace testing;
using conduit::AmBuffer;
using conduit::AmHeader;
using conduit::AmView;
using conduit::Category;
using conduit::kNoOperation;
using conduit::OperationId;
using conduit::PollFilter;
using gasmeter::testing::answer_to;
using gasmeter::testing::has_pattern;
using gasmeter::testing::header_to;
using gasmeter::testing::message_of;
using gasmeter::testing::patterned;
using gasmeter::testing::Sink;
using gasmeter::testing::try_send;
using gasmeter::testing::wait;

void serve_until_quiet(AriesConduit& conduit, sim::ModelHost host) {
  for (conduit.serve(); !conduit.is_quiet(); conduit.serve()) host.idle(kNever);
}

TEST_CASE("aries_conduit_messages_have_all_the_room_that_arguments_leave") {
  Job job;
  const conduit::Capabilities& can = job.conduits[0]->capabilities();
  CHECK(can.most_medium(false, 16) == 4032);
  CHECK(can.most_medium(false, 15) == 4032);
  CHECK(can.most_medium(true, 14) == 4040);
  CHECK(can.most_medium(true, 0) == 4096);
  for (unsigned arguments = 0; arguments <= 16; ++arguments) {
    CHECK(message_bytes(false, arguments, can.most_medium(false, arguments)) <= 4096);
    CHECK(message_bytes(false, arguments, can.most_medium(false, arguments) + 8) > 4096);
    const Bytes packed = most_packed_long(4096, arguments);
    CHECK(message_bytes(true, arguments, packed) <= 4096);
    CHECK(message_bytes(true, arguments, packed + 8) > 4096);
  }
  CHECK(message_bytes(false, 3, 5) == 8 + 12);
  CHECK(message_bytes(true, 3, 5) == 8 + 8 + 12);
  CHECK(slots_for(0) == 1);
  CHECK(slots_for(256) == 1);
  CHECK(slots_for(257) == 2);
  CHECK(message_room({}).slots == 48);
  CHECK(message_room({.medium = 65472}).message == 65536);
  CHECK(message_room({.medium = 65472}).slots == 768);
}

// tests/golden/aries.md derives the times.
TEST_CASE("aries_conduit_short_and_its_reply") {
  Job job;
  const gasmeter::testing::RoundTrip times = gasmeter::testing::short_round_trip(job);
  CHECK(times.sent == 68'000);
  CHECK(times.handled == 750'000);
  CHECK(times.replied == 868'000);
  CHECK(times.answered == 1'518'000);
}

TEST_CASE("aries_conduit_medium_of_4032_bytes") {
  Job job;
  const std::vector<std::byte> payload = patterned(4032, 1);
  job.engine.start(Rank{0}, [&] {
    CHECK(try_send(*job.conduits[0], header_to(1, Category::medium), {}, payload) == Status::ok);
    CHECK(job.host(0).now().ps == 4'100'000);
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([&](const AmView& message) {
      CHECK(job.host(1).now().ps == 6'350'000);
      CHECK(message.size == 4032);
      CHECK(has_pattern(message.payload, 4032, 1));
    });
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
}

TEST_CASE("aries_conduit_messages_and_their_replies_arrive_as_they_were_sent") {
  for (const Bytes medium : {Bytes{4032}, Bytes{65472}}) {
    CAPTURE(medium);
    const AriesOptions options{.medium = medium};
    Job job({}, options);
    const Bytes message = message_room(options).message;
    std::vector<std::int32_t> words(16);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::int32_t>(i) - 5;
    struct Sent {
      Category category;
      Bytes size;
      unsigned arguments;
    };
    std::vector<Sent> all;
    for (unsigned arguments = 0; arguments <= 16; ++arguments) {
      all.push_back({Category::short_message, 0, arguments});
      const Bytes most = job.conduits[0]->capabilities().most_medium(false, arguments);
      for (const Bytes size : {Bytes{0}, Bytes{1}, Bytes{63}, Bytes{64}, Bytes{128}, Bytes{129}, medium, most}) {
        all.push_back({Category::medium, size, arguments});
      }
      const Bytes packed = most_packed_long(message, arguments);
      for (const Bytes size : {Bytes{0}, Bytes{1}, Bytes{127}, packed, packed + 1, Bytes{100'000}}) {
        all.push_back({Category::long_message, size, arguments});
      }
    }
    std::size_t asked = 0;
    std::size_t answered = 0;
    const auto check = [&](const AmView& view, std::size_t which, unsigned at) {
      const Sent& sent = all[which];
      CAPTURE(which);
      CHECK(view.category == sent.category);
      CHECK(view.size == sent.size);
      CHECK(view.arguments.size() == sent.arguments);
      CHECK(std::equal(view.arguments.begin(), view.arguments.end(), words.begin()));
      if (sent.category == Category::medium) {
        CHECK(reinterpret_cast<std::uintptr_t>(view.payload) % alignof(std::max_align_t) == 0);
      }
      if (sent.category == Category::long_message) CHECK(view.payload == job.segment(at, 64));
      if (sent.size != 0) CHECK(has_pattern(view.payload, sent.size, which));
    };
    job.engine.start(Rank{0}, [&] {
      Sink sink([&](const AmView& reply) { check(reply, answered++, 0); });
      for (const Sent& each : all) {
        const std::vector<std::byte> payload = patterned(each.size, asked++);
        wait(*job.conduits[0], job.host(0), sink, [&] {
          return try_send(*job.conduits[0], header_to(1, each.category, each.arguments),
                          std::span(words).first(each.arguments), payload, job.segment(1, 64)) == Status::ok;
        });
        wait(*job.conduits[0], job.host(0), sink, [&] { return answered == asked; });
      }
    });
    job.engine.start(Rank{1}, [&] {
      std::size_t next = 0;
      Sink sink([&](const AmView& view) {
        const Sent& sent = all[next];
        check(view, next, 1);
        const std::vector<std::byte> payload = patterned(sent.size, next++);
        Sink inner;
        wait(
            *job.conduits[1], job.host(1), inner,
            [&] {
              return try_send(*job.conduits[1], answer_to(view, sent.category, sent.arguments),
                              std::span(words).first(sent.arguments), payload, job.segment(0, 64)) == Status::ok;
            },
            PollFilter::replies_only);
        CHECK(inner.messages == 0);
      });
      wait(*job.conduits[1], job.host(1), sink, [&] { return next == all.size(); });
      serve_until_quiet(*job.conduits[1], job.host(1));  // a Long's message may still have to follow its payload
    });
    job.engine.run();
    CHECK(answered == all.size());
    CHECK(job.conduits[0]->free_reply_slots() == 64);
    CHECK(job.conduits[0]->slots().used(Rank{1}) == 0);
  }
}

// 12 KiB hold three messages. CQ writes return the slots of those that their handlers do not answer.
TEST_CASE("aries_conduit_has_three_mediums_of_4032_bytes_under_way_and_not_four") {
  Job job;
  const std::vector<std::byte> payload = patterned(4032, 1);
  bool refused = false;
  job.engine.start(Rank{0}, [&] {
    AriesConduit& conduit = *job.conduits[0];
    const auto send = [&] {
      const std::array<std::int32_t, 16> words{};
      return try_send(conduit, header_to(1, Category::medium, 16), words, payload);
    };
    for (int i = 0; i < 3; ++i) CHECK(send() == Status::ok);
    CHECK(conduit.slots().used(Rank{1}) == 48);
    const Resources before = Resources::of(conduit);
    const SimTime then = job.host(0).now();
    CHECK(send() == Status::no_resource);
    CHECK(try_send(conduit, header_to(1, Category::short_message)) == Status::no_resource);
    CHECK(Resources::of(conduit) == before);
    CHECK(job.host(0).now() == then);
    refused = true;
    Sink sink;
    wait(conduit, job.host(0), sink, [&] { return conduit.slots().used(Rank{1}) == 0; });
    CHECK(sink.messages == 0);  // an answer that no handler has sent runs no handler
    CHECK(conduit.free_reply_slots() == 64);
    for (int i = 0; i < 3; ++i) CHECK(send() == Status::ok);
    wait(conduit, job.host(0), sink, [&] { return conduit.slots().used(Rank{1}) == 0; });
  });
  job.engine.start(Rank{1}, [&] {
    sleep_until(job.host(1), {100'000'000});
    CHECK(refused);
    Sink sink;
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 6; });
    CHECK(job.conduits[1]->credits_sent() == 6);
    serve_until_quiet(*job.conduits[1], job.host(1));
  });
  job.engine.run();
}

// A rank has as many requests in flight as reply slots, to all peers together.
TEST_CASE("aries_conduit_has_as_many_requests_under_way_as_reply_slots") {
  Job job({.ranks = 3, .topology = "crossbar:3"}, {.reply_slots = 5});
  job.engine.start(Rank{0}, [&] {
    AriesConduit& conduit = *job.conduits[0];
    for (unsigned i = 0; i < 5; ++i) {
      CHECK(try_send(conduit, header_to(1 + i % 2, Category::short_message)) == Status::ok);
    }
    CHECK(try_send(conduit, header_to(1, Category::short_message)) == Status::no_resource);
    CHECK(try_send(conduit, header_to(2, Category::short_message)) == Status::no_resource);
    Sink sink;
    wait(conduit, job.host(0), sink, [&] { return sink.messages == 5; });
    CHECK(conduit.free_reply_slots() == 5);
  });
  for (unsigned rank = 1; rank < 3; ++rank) {
    job.engine.start(Rank{rank}, [&, rank] {
      AriesConduit& conduit = *job.conduits[rank];
      Sink sink([&](const AmView& message) {
        CHECK(try_send(conduit, answer_to(message, Category::short_message)) == Status::ok);
      });
      wait(conduit, job.host(rank), sink, [&] { return sink.messages == (rank == 1 ? 3U : 2U); });
      CHECK(conduit.credits_sent() == 0);
    });
  }
  job.engine.run();
}

// A message that was prepared for more bytes returns the rest when it leaves. A cancelled message returns everything.
TEST_CASE("aries_conduit_gives_back_slots_that_were_prepared_and_not_used") {
  Job job;
  job.engine.start(Rank{0}, [&] {
    AriesConduit& conduit = *job.conduits[0];
    const Resources before = Resources::of(conduit);
    AmBuffer buffer;
    CHECK(conduit.prepare(header_to(1, Category::medium), nullptr, 0, 4032, buffer) == Status::ok);
    CHECK(buffer.size == 4032);
    CHECK(conduit.slots().used(Rank{1}) == 16);
    conduit.cancel(buffer);
    CHECK(Resources::of(conduit) == before);
    CHECK(conduit.prepare(header_to(1, Category::medium), nullptr, 0, 4032, buffer) == Status::ok);
    CHECK(conduit.commit(buffer, {HandlerIndex{7}, 300, nullptr, {}}, kNoOperation) == Status::ok);
    CHECK(conduit.slots().used(Rank{1}) == 2);
    Sink sink;
    wait(conduit, job.host(0), sink, [&] { return Resources::of(conduit) == before; });
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([&](const AmView& message) { CHECK(message.size == 300); });
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 1; });
    serve_until_quiet(*job.conduits[1], job.host(1));
  });
  job.engine.run();
}

// A rank that waits for room for a reply sees replies arrive, and no request.
TEST_CASE("aries_conduit_replies_come_while_requests_wait") {
  Job job({.ranks = 3, .topology = "crossbar:3"});
  bool answered = false;
  job.engine.start(Rank{0}, [&] {
    Sink sink([&](const AmView& message) { answered = answered || !message.is_request; });
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    sleep_until(job.host(0), {100'000'000});  // the peer's request has arrived by now
    while (job.conduits[0]->poll(sink, 16, PollFilter::replies_only) != 0) {
    }
    CHECK(answered);
    CHECK(sink.messages == 1);
    wait(*job.conduits[0], job.host(0), sink, [&] { return sink.messages == 2; });
    serve_until_quiet(*job.conduits[0], job.host(0));
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([&](const AmView& message) {
      CHECK(try_send(*job.conduits[1], answer_to(message, Category::short_message)) == Status::ok);
    });
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 1; });
  });
  job.engine.start(Rank{2}, [&] {
    Sink sink;
    CHECK(try_send(*job.conduits[2], header_to(0, Category::short_message)) == Status::ok);
    wait(*job.conduits[2], job.host(2), sink, [&] { return job.conduits[2]->free_reply_slots() == 64; });
    CHECK(sink.messages == 0);
  });
  job.engine.run();
}

// A request's bytes stay where they are until its handler has returned, although it has replied before.
TEST_CASE("aries_conduit_requests_lie_still_while_their_handlers_run") {
  Job job({}, {.reply_slots = 1});
  constexpr int kRequests = 4;
  job.engine.start(Rank{0}, [&] {
    Sink sink;
    for (int i = 0; i < kRequests; ++i) {
      const std::vector<std::byte> payload = patterned(4032, static_cast<unsigned>(i));
      wait(*job.conduits[0], job.host(0), sink,
           [&] { return try_send(*job.conduits[0], header_to(1, Category::medium), {}, payload) == Status::ok; });
    }
    wait(*job.conduits[0], job.host(0), sink, [&] { return sink.messages == kRequests; });
  });
  job.engine.start(Rank{1}, [&] {
    unsigned next = 0;
    Sink sink([&](const AmView& message) {
      CHECK(try_send(*job.conduits[1], answer_to(message, Category::short_message)) == Status::ok);
      sleep_until(job.host(1), job.host(1).now() + SimTime{50'000'000});
      CHECK(has_pattern(message.payload, 4032, next++));
    });
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == kRequests; });
  });
  job.engine.run();
}

// A poll takes at most 20 messages and 10 events of posts, whatever its budget.
TEST_CASE("aries_conduit_polls_take_bursts") {
  Job job;
  job.engine.start(Rank{0}, [&] {
    AriesConduit& conduit = *job.conduits[0];
    for (int i = 0; i < 25; ++i) CHECK(try_send(conduit, header_to(1, Category::short_message)) == Status::ok);
    sleep_until(job.host(0), {50'000'000});
    CHECK(conduit.descriptors().free() == 512 - 25);
    Sink sink;
    CHECK(conduit.poll(sink, 100, PollFilter::everything) == 1);  // no message for the caller, but more events wait
    CHECK(conduit.descriptors().free() == 512 - 15);
    wait(conduit, job.host(0), sink, [&] { return conduit.free_reply_slots() == 64; });
  });
  job.engine.start(Rank{1}, [&] {
    sleep_until(job.host(1), {100'000'000});
    Sink sink;
    CHECK(job.conduits[1]->poll(sink, 100, PollFilter::everything) == 20);
    CHECK(job.conduits[1]->poll(sink, 3, PollFilter::everything) == 3);
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 25; });
    serve_until_quiet(*job.conduits[1], job.host(1));
  });
  job.engine.run();
}

// There are four ranks, each with an area of 48 slots of 256 B and a flag of 8 B for each slot. To these come 64 reply
// slots of 4096 B and a flag, 512 descriptors with 128 B, and 64 buffers of 4096 B. Events have 8 B: two for each
// descriptor, 48 requests of each rank and 64 answers. The memory of this computer that messages take is not counted.
TEST_CASE("aries_conduit_reserves_areas_that_nobody_has_written_to") {
  Job job({.ranks = 4, .topology = "crossbar:4"});
  const Bytes before = 2 * 1024 * 8;  // queues of the installation
  CHECK(job.conduits[0]->reserved_bytes() ==
        before + 4 * (12288 + 48 * 8) + 64 * (4096 + 8) + 512 * 128 + 64 * 4096 + (2 * 512 + 4 * 48 + 64) * 8);
}

TEST_CASE("aries_conduit_refuses_what_carries_no_message") {
  CHECK(
      message_of<UsageError>([] { (void)message_room({.medium = 65472, .request_area = 12288}); }) ==
      "aries: medium=65472 takes 65536 B of a request area (64 B more, in slots of 256 B), and request_area=12288 has "
      "12288: shorten it, or make the areas larger");
  CHECK(message_of<UsageError>([] { Job job({}, {.descriptors = 31}); }) ==
        "aries: 31 post descriptors; 32 or more are allowed");
  Job job;
  AmBuffer buffer;
  CHECK(message_of<UsageError>([&] {
          (void)job.conduits[0]->prepare(header_to(2, Category::short_message), nullptr, 0, 0, buffer);
        }) == "aries: message to rank 2; ranks are 0..1");
  CHECK(message_of<UsageError>([&] {
          (void)job.conduits[0]->prepare(header_to(1, Category::medium, 16), nullptr, 4033, 4033, buffer);
        }).find("4032") != std::string::npos);
}

}  // namespace
}  // namespace gasmeter::networks::aries::aries_conduit_test
