// The conduit alone: tokens, limits, and the places of payloads. tests/golden/gm.md derives the times. The conformance
// suite (family gm) checks the rules that hold for every conduit.
#include "gasmeter/networks/gm/gm_conduit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/gm/conduit_job.hpp"
#include "support/conduit_calls.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::gm::gm_conduit_test {
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

TEST_CASE("gm_conduit_short_and_its_reply") {
  Job job;
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.host(0);
    const SimTime start = host.now();
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    CHECK((host.now() - start).ps == 122'000);
    Sink sink([&](const AmView& reply) {
      CHECK((host.now() - start).ps == 2'402'000);
      CHECK_FALSE(reply.is_request);
      CHECK(reply.handler == HandlerIndex{7});
    });
    wait(*job.conduits[0], host, sink, [&] { return sink.messages == 1; });
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.host(1);
    const SimTime start = host.now();
    Sink sink([&](const AmView& request) {
      CHECK((host.now() - start).ps == 1'200'000);
      CHECK(request.is_request);
      CHECK(try_send(*job.conduits[1], header_to(0, Category::short_message, 0, true)) == Status::ok);
    });
    wait(*job.conduits[1], host, sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
}

TEST_CASE("gm_conduit_layout_holds_what_the_constants_say") {
  CHECK(kMostMessage == 65528);
  CHECK(kMostMedium == 65448);
  CHECK(kMostLong == 61440);
  CHECK(kLayout.message_bytes(Category::short_message, 0, 0) == 4);
  CHECK(kLayout.message_bytes(Category::short_message, 16, 0) == 68);
  CHECK(kLayout.message_bytes(Category::medium, 16, kMostMedium) == kMostMessage);
  for (const Category category : {Category::medium, Category::long_message}) {
    for (unsigned arguments = 0; arguments <= conduit::kMaxArguments; ++arguments) {
      CAPTURE(arguments);
      CHECK(kLayout.payload_at(category, arguments) >= kLayout.header_bytes(category, arguments));
      CHECK(kLayout.payload_at(category, arguments) < kLayout.header_bytes(category, arguments) + services::kAlignment);
      CHECK(kLayout.payload_at(category, arguments) % services::kAlignment == 0);
      CHECK(kLayout.message_bytes(category, arguments, 2048) <= kApartAt);  // a packed Long
    }
  }
}

TEST_CASE("gm_conduit_messages_arrive_as_they_were_sent") {
  Job job;
  const std::array<Bytes, 8> sizes{0, 1, 100, 2047, 2048, 2049, 5000, 61440};
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
      all.push_back({Category::medium, size, arguments});
      all.push_back({Category::long_message, size, arguments});
    }
    all.push_back({Category::medium, kMostMedium, arguments});
  }
  std::uint64_t apart = 0;
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
      if (each.category == Category::long_message && each.size > 2048) ++apart;
    }
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
  CHECK(apart > 0);
  CHECK(job.port(0).counters().sends == all.size() + apart);
}

// Two tokens are reserved for replies. Requests that no rank takes leave room for a reply, also for a Long with a send
// of its own.
TEST_CASE("gm_conduit_keeps_tokens_for_replies") {
  Job job({}, {}, {.send_tokens = 5, .receive_tokens = 2});
  const std::vector<std::byte> payload = patterned(3000, 1);
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.host(0);
    CHECK(try_send(*job.conduits[0], header_to(1, Category::long_message), {}, payload, job.segments[1].data()) ==
          Status::ok);
    CHECK(try_send(*job.conduits[0], header_to(1, Category::long_message), {}, payload, job.segments[1].data()) ==
          Status::no_resource);
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    const SimTime before = host.now();
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::no_resource);
    CHECK(host.now() == before);
    CHECK(try_send(*job.conduits[0], header_to(1, Category::long_message, 0, true), {}, payload,
                   job.segments[1].data() + 4096) == Status::ok);
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message, 0, true)) == Status::no_resource);
    Sink sink;
    // Tokens return with the events of their sends. Requests are held meanwhile.
    wait(*job.conduits[0], host, sink,
         [&] { return try_send(*job.conduits[0], header_to(1, Category::short_message, 0, true)) == Status::ok; });
  });
  job.engine.start(Rank{1}, [&] {
    Sink replies;
    wait(*job.conduits[1], job.host(1), replies, [&] { return replies.messages == 2; }, PollFilter::replies_only);
    Sink sink;
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 2; });
    CHECK(has_pattern(job.segments[1].data(), 3000, 1));
    CHECK(has_pattern(job.segments[1].data() + 4096, 3000, 1));
  });
  job.engine.run();
  CHECK(job.port(1).counters().no_receive > 0);  // the port has one receive for requests
}

TEST_CASE("gm_conduit_cancelled_messages_give_everything_back") {
  Job job({}, {}, {.send_tokens = 4, .receive_tokens = 2});
  job.engine.start(Rank{0}, [&] {
    for (int i = 0; i < 20; ++i) {
      AmBuffer buffer;
      CHECK(job.conduits[0]->prepare(header_to(1, Category::long_message), nullptr, 5000, 5000, buffer) == Status::ok);
      AmBuffer other;
      CHECK(job.conduits[0]->prepare(header_to(1, Category::short_message), nullptr, 0, 0, other) ==
            Status::no_resource);
      job.conduits[0]->cancel(buffer);
    }
    // The message was prepared for two sends and needs one: the other token is free.
    AmBuffer buffer;
    CHECK(job.conduits[0]->prepare(header_to(1, Category::long_message), nullptr, 0, 5000, buffer) == Status::ok);
    CHECK(job.conduits[0]->commit(buffer, {HandlerIndex{7}, 0, job.segments[1].data(), {}}, OperationId{1}) ==
          Status::ok);
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    Sink sink;
    CHECK(job.conduits[0]->poll(sink, 1, PollFilter::everything) == 1);
    CHECK((sink.done == std::vector<OperationId>{OperationId{1}}));  // copied: at once
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink;
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 2; });
  });
  job.engine.run();
}

TEST_CASE("gm_conduit_receives_come_back_from_handlers_that_throw") {
  Job job({}, {}, {.send_tokens = 4, .receive_tokens = 2});
  unsigned thrown = 0;
  job.engine.start(Rank{0}, [&] {
    Sink sink;
    for (int i = 0; i < 3; ++i) {
      wait(*job.conduits[0], job.host(0), sink,
           [&] { return try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok; });
    }
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([](const AmView&) { throw std::runtime_error("handler"); });
    while (thrown != 3) {
      try {
        wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages > thrown; });
      } catch (const std::runtime_error&) {
        ++thrown;
      }
    }
  });
  job.engine.run();
  CHECK(thrown == 3);
}

// Many ranks send to a port with one receive for requests. Messages that find no receive are held, and none is lost.
TEST_CASE("gm_conduit_floods_of_many_ranks_lose_nothing") {
  constexpr unsigned kRanks = 6;
  constexpr unsigned kEach = 30;
  Job job({.ranks = kRanks, .topology = "crossbar:6"}, {}, {.send_tokens = 6, .receive_tokens = 2});
  std::uint64_t held = 0;
  for (unsigned rank = 0; rank < kRanks; ++rank) {
    job.engine.start(Rank{rank}, [&, rank] {
      conduit::Conduit& conduit = *job.conduits[rank];
      unsigned requests = 0;
      unsigned replies = 0;
      Sink* current = nullptr;
      Sink sink([&](const AmView& message) {
        if (!message.is_request) {
          ++replies;
          return;
        }
        ++requests;
        Sink inner([&](const AmView& reply) {
          CHECK_FALSE(reply.is_request);
          ++replies;
        });
        wait(
            conduit, job.host(rank), inner,
            [&] {
              return try_send(conduit, header_to(index(message.source), Category::short_message, 0, true)) ==
                     Status::ok;
            },
            PollFilter::replies_only);
      });
      current = &sink;
      for (unsigned i = 0; i < kEach; ++i) {
        wait(conduit, job.host(rank), *current, [&] {
          return try_send(conduit, header_to((rank + 1 + i % (kRanks - 1)) % kRanks, Category::short_message)) ==
                 Status::ok;
        });
      }
      wait(conduit, job.host(rank), *current, [&] { return requests == kEach && replies == kEach; });
    });
  }
  job.engine.run();
  for (unsigned rank = 0; rank < kRanks; ++rank) held += job.port(rank).counters().no_receive;
  CHECK(held > 0);
}

TEST_CASE("gm_conduit_reserves_its_buffers_and_events") {
  Job job({}, {}, {.send_tokens = 8, .receive_tokens = 6});
  CHECK(job.conduits[0]->reserved_bytes() == 14 * (kAmBuffer + kEventEntry));
}

TEST_CASE("gm_conduit_names_ranks_that_do_not_exist") {
  Job job;
  AmBuffer buffer;
  std::string failure;
  try {
    (void)job.conduits[0]->prepare(header_to(2, Category::short_message), nullptr, 0, 0, buffer);
  } catch (const UsageError& error) {
    failure = error.what();
  }
  CHECK(failure == "gm: message to rank 2; ranks are 0..1");
}

}  // namespace
}  // namespace gasmeter::networks::gm::gm_conduit_test
