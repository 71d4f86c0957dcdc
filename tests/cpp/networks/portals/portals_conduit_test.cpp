// The conduit alone: the parts of messages, credits and tokens, and its descriptors. The conformance suite (family
// portals) checks the rules that hold for every conduit.
#include "gasmeter/networks/portals/portals_conduit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/portals/conduit_job.hpp"
#include "support/conduit_calls.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::portals::portals_conduit_test {
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

TEST_CASE("portals_conduit_packs_what_a_message_needs_into_its_match_bits") {
  const AmBits bits{Kind::medium, CreditByte{true, 5, 8}, 200, 16, 249 * 2048, 7};
  const AmBits read = AmBits::of(bits.packed(Md::request));
  CHECK((bits.packed(Md::request) & 15U) == 3);
  CHECK(read.kind == Kind::medium);
  CHECK(read.credits.packed() == bits.credits.packed());
  CHECK(read.handler == 200);
  CHECK(read.arguments == 16);
  CHECK(read.answer == 249 * 2048);
  CHECK(read.padding == 7);
  const std::uint64_t put = transfer_bits(Md::rar, Kind::put, 0xabcd, 0x12345678);
  CHECK((put & 15U) == 0);
  CHECK(kind_of(put) == Kind::put);
  CHECK(operation_of(put) == 0xabcd);
  CHECK(region_of(put) == 0x12345678);
  CHECK(kMostMedium == 2048 - 64);
  CHECK(payload_at(false, 2) == 0);  // two arguments travel in the header data
  CHECK(payload_at(false, 3) == 16);
}

// tests/golden/portals.md derives the times.
TEST_CASE("portals_conduit_short_and_its_reply") {
  Job job;
  const gasmeter::testing::RoundTrip times = gasmeter::testing::short_round_trip(job);
  CHECK(times.sent == 520'000);
  CHECK(times.handled == 3'830'000);
  CHECK(times.replied == 4'400'000);
  CHECK(times.answered == 7'690'000);
}

TEST_CASE("portals_conduit_put_of_8_bytes") {
  Job job;
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.host(0);
    const SimTime begin = host.now();
    Sink sink;
    CHECK(job.conduits[0]->put(Rank{1}, job.segments[1].data(), job.segments[0].data(), 8, OperationId{1},
                               kNoOperation) == Status::ok);
    CHECK((host.now() - begin).ps == 500'000);
    wait(*job.conduits[0], host, sink, [&] {
      if (!sink.done.empty()) CHECK((host.now() - begin).ps == 6'900'000);
      return !sink.done.empty();
    });
  });
  job.engine.run();
}

TEST_CASE("portals_conduit_messages_and_their_replies_arrive_as_they_were_sent") {
  for (const Registration registration : {Registration::firehose, Registration::temporary}) {
    Job job({}, {.registration = registration, .bounce_limit = registration == Registration::temporary ? 2048U : 0U});
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
      for (const Bytes size : {Bytes{0}, Bytes{1}, Bytes{16}, Bytes{17}, Bytes{1000}, kMostMedium}) {
        all.push_back({Category::medium, size, arguments});
      }
      const Bytes packed = most_packed_long(arguments);
      for (const Bytes size : {Bytes{0}, Bytes{1}, packed, packed + 1, Bytes{50000}, kMostLong}) {
        all.push_back({Category::long_message, size, arguments});
      }
    }
    std::size_t asked = 0;
    std::size_t answered = 0;
    const auto check = [&](const AmView& message, std::size_t which, unsigned at) {
      const Sent& sent = all[which];
      CAPTURE(which);
      CHECK(message.category == sent.category);
      CHECK(message.size == sent.size);
      CHECK(message.arguments.size() == sent.arguments);
      CHECK(std::equal(message.arguments.begin(), message.arguments.end(), words.begin()));
      if (sent.category == Category::medium) {
        CHECK(reinterpret_cast<std::uintptr_t>(message.payload) % alignof(std::max_align_t) == 0);
      }
      if (sent.category == Category::long_message) CHECK(message.payload == job.segments[at].data() + 64);
      if (sent.size != 0) CHECK(has_pattern(message.payload, sent.size, which));
    };
    job.engine.start(Rank{0}, [&] {
      Sink sink([&](const AmView& reply) { check(reply, answered++, 0); });
      for (const Sent& each : all) {
        const std::vector<std::byte> payload = patterned(each.size, asked++);
        wait(*job.conduits[0], job.host(0), sink, [&] {
          return try_send(*job.conduits[0], header_to(1, each.category, each.arguments),
                          std::span(words).first(each.arguments), payload, job.segments[1].data() + 64) == Status::ok;
        });
        wait(*job.conduits[0], job.host(0), sink, [&] { return answered == asked; });
      }
    });
    job.engine.start(Rank{1}, [&] {
      std::size_t next = 0;
      Sink sink([&](const AmView& message) {
        const Sent& sent = all[next];
        check(message, next, 1);
        const std::vector<std::byte> payload = patterned(sent.size, next++);
        Sink inner;
        wait(
            *job.conduits[1], job.host(1), inner,
            [&] {
              return try_send(*job.conduits[1], answer_to(message, sent.category, sent.arguments),
                              std::span(words).first(sent.arguments), payload,
                              job.segments[0].data() + 64) == Status::ok;
            },
            PollFilter::replies_only);
        CHECK(inner.messages == 0);
      });
      wait(*job.conduits[1], job.host(1), sink, [&] { return next == all.size(); });
    });
    job.engine.run();
    CHECK(answered == all.size());
    CHECK(job.portals(0).counters().drops == 0);
    CHECK(job.portals(1).counters().drops == 0);
  }
}

// One rank sleeps while all others send as much as their credits allow. No queue overflows and the catcher catches
// nothing. When the rank wakes, all messages arrive.
TEST_CASE("portals_conduit_holds_what_64_ranks_send_to_one_that_sleeps") {
  constexpr unsigned kRanks = 65;
  for (const bool dynamic : {true, false}) {
    for (const std::uint32_t buffers : {2U, 3U}) {
      CAPTURE(dynamic);
      CAPTURE(buffers);
      Job job({.ranks = kRanks, .topology = "torus3d:5x5x3"},
              {.dynamic = dynamic, .credits_per_peer = 9, .request_buffers = buffers}, {.eq_empty = {20'000}}, 4096);
      constexpr SimTime kWakes{2'000'000'000};
      constexpr unsigned kEach = 40;
      unsigned sent = 0;
      unsigned arrived = 0;
      std::uint64_t refused = 0;
      for (unsigned rank = 1; rank < kRanks; ++rank) {
        job.engine.start(Rank{rank}, [&, rank] {
          Sink sink;
          unsigned answers = 0;
          Sink counting([&](const AmView& reply) {
            CHECK_FALSE(reply.is_request);
            ++answers;
          });
          for (unsigned i = 0; i < kEach; ++i) {
            // These sizes leave odd rests of buffers.
            const Bytes size = (rank * 37 + i * 211) % kMostMedium;
            const std::vector<std::byte> payload = patterned(size, rank * 1000 + i);
            const std::array<std::int32_t, 2> words{static_cast<std::int32_t>(rank), static_cast<std::int32_t>(i)};
            wait(*job.conduits[rank], job.host(rank), counting, [&] {
              const bool done =
                  try_send(*job.conduits[rank], header_to(0, Category::medium, 2), words, payload) == Status::ok;
              refused += done ? 0 : 1;
              return done;
            });
            ++sent;
          }
          wait(*job.conduits[rank], job.host(rank), counting, [&] { return answers == kEach; });
        });
      }
      job.engine.start(Rank{0}, [&] {
        sleep_until(job.host(0), kWakes);
        CHECK(sent >= kRanks - 1);
        Sink sink([&](const AmView& message) {
          const auto from = static_cast<unsigned>(message.arguments[0]);
          CHECK(message.source == Rank{from});
          if (message.size != 0) {
            CHECK(
                has_pattern(message.payload, message.size, from * 1000 + static_cast<unsigned>(message.arguments[1])));
          }
          ++arrived;
          CHECK(try_send(*job.conduits[0], answer_to(message, Category::short_message)) == Status::ok);
        });
        wait(*job.conduits[0], job.host(0), sink, [&] { return arrived == kEach * (kRanks - 1); });
      });
      job.engine.run();
      CHECK(arrived == sent);
      CHECK(refused > 0);
      CHECK(job.portals(0).counters().drops == 0);
    }
  }
}

TEST_CASE("portals_conduit_names_a_rank_that_sends_without_a_credit") {
  World world;
  SegmentBases bases(2);
  std::vector<std::byte> segment(4096);
  PortalsOptions honest{.dynamic = false};
  PortalsOptions other{.dynamic = false, .credits_per_peer = 64};
  PortalsConduit sender(world.portals(0), world.host(0), 2, other, bases);
  PortalsConduit receiver(world.portals(1), world.host(1), 2, honest, bases);
  sender.attach(segment);
  receiver.attach(segment);
  world.engine.start(Rank{0}, [&] {
    const std::vector<std::byte> payload = patterned(kMostMedium, 1);
    for (int i = 0; i < 8; ++i) CHECK(try_send(sender, header_to(1, Category::medium), {}, payload) == Status::ok);
  });
  world.engine.start(Rank{1}, [&] {
    sleep_until(world.host(1), {500'000'000});
    Sink sink;
    while (receiver.poll(sink, 16, PollFilter::replies_only) != 0) {
    }
  });
  CHECK(message_of<BrokenJob>([&] { world.engine.run(); })
            .find("portals: a request of rank 0 finds no buffer at rank 1, which has lent it 8 credits: it has sent "
                  "without one") != std::string::npos);
}

// A Long has two puts, and either may end first. Its handler runs once, when both have ended.
TEST_CASE("portals_conduit_joins_both_puts_of_a_long_in_either_order") {
  for (const bool header_first : {true, false}) {
    CAPTURE(header_first);
    Job job;
    job.engine.start(Rank{0}, [&] {
      const std::vector<std::byte> payload = patterned(3000, 5);
      std::array<std::byte, 16> header{};
      const auto to = std::uint64_t{reinterpret_cast<std::uintptr_t>(job.segments[1].data() + 128)};
      std::memcpy(header.data(), &to, sizeof to);
      const MdHandle md = job.portals(0).md_bind({.start = header.data(), .length = header.size()});
      // The descriptor is only read.
      const MdHandle of_payload =
          job.portals(0).md_bind({.start = const_cast<std::byte*>(payload.data()), .length = payload.size()});
      const AmBits bits{Kind::long_header, CreditByte{false, 0, kApartCredits}, 7, 0, 0, 0};
      const auto send_header = [&] {
        job.portals(0).put(md, 0, header.size(), Ack::none,
                           {.rank = Rank{1}, .portal = kAmPortal, .match_bits = bits.packed(Md::request)},
                           3000 | std::uint64_t{77} << 32U);
      };
      if (header_first) send_header();
      if (header_first) sleep_until(job.host(0), {100'000'000});
      job.portals(0).put(of_payload, 0, payload.size(), Ack::none,
                         {.rank = Rank{1},
                          .portal = kRarPortal,
                          .match_bits = transfer_bits(Md::rar_am, Kind::payload, 0, 0),
                          .offset = 128},
                         77);
      if (!header_first) sleep_until(job.host(0), {100'000'000});
      if (!header_first) send_header();
      sleep_until(job.host(0), {300'000'000});
    });
    job.engine.start(Rank{1}, [&] {
      Sink sink([&](const AmView& message) {
        CHECK(job.host(1).now().ps > 100'000'000);
        CHECK(message.category == Category::long_message);
        CHECK(message.payload == job.segments[1].data() + 128);
        CHECK(message.size == 3000);
        CHECK(has_pattern(message.payload, 3000, 5));
      });
      wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 1; });
      sleep_until(job.host(1), {200'000'000});
      (void)job.conduits[1]->poll(sink, 16, PollFilter::everything);
      CHECK(sink.messages == 1);
    });
    job.engine.run();
  }
}

// A rank that waits for room for a reply sees replies arrive, and no request.
TEST_CASE("portals_conduit_replies_come_while_requests_wait") {
  Job job({.ranks = 3, .topology = "ring:3"});
  bool answered = false;
  bool asked = false;
  job.engine.start(Rank{0}, [&] {
    Sink sink([&](const AmView& message) { answered = answered || !message.is_request; });
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    sleep_until(job.host(0), {100'000'000});  // the peer's request has arrived by now
    while (job.conduits[0]->poll(sink, 16, PollFilter::replies_only) != 0) {
    }
    CHECK(answered);
    CHECK(sink.messages == 1);
    wait(*job.conduits[0], job.host(0), sink, [&] { return sink.messages == 2; });
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([&](const AmView& message) {
      CHECK(try_send(*job.conduits[1], answer_to(message, Category::short_message)) == Status::ok);
    });
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 1; });
  });
  job.engine.start(Rank{2}, [&] {
    Sink sink([&](const AmView&) { asked = true; });
    CHECK(try_send(*job.conduits[2], header_to(0, Category::short_message)) == Status::ok);
    sleep_until(job.host(2), {200'000'000});
    (void)job.conduits[2]->poll(sink, 16, PollFilter::everything);  // the answer to a request whose handler sent none
    CHECK_FALSE(asked);
  });
  job.engine.run();
}

// A request gets its resources back, whether its handler replies or not.
TEST_CASE("portals_conduit_answers_requests_whose_handlers_do_not") {
  constexpr unsigned kRequests = 40;  // five times the credits
  Job job({}, {.dynamic = false, .send_tokens = 8});
  job.engine.start(Rank{0}, [&] {
    Sink sink;
    for (unsigned i = 0; i < kRequests; ++i) {
      wait(*job.conduits[0], job.host(0), sink,
           [&] { return try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok; });
    }
    CHECK(sink.messages == 0);  // an answer that no handler has sent runs no handler
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink;
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == kRequests; });
  });
  job.engine.run();
}

// The events follow Table 2. A put is locally complete with SEND_END, or at once if it was copied. The put is remotely
// complete with ACK.
TEST_CASE("portals_conduit_puts_complete_by_their_events") {
  Job job({}, {.registration = Registration::temporary, .bounce_limit = 2048});
  const std::vector<std::byte> outside = patterned(8000, 3);
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.host(0);
    conduit::Conduit& conduit = *job.conduits[0];
    std::vector<std::int64_t> at;
    Sink sink;
    const auto put = [&](const void* from, Bytes bytes) {
      at.clear();
      sink.done.clear();
      CHECK(conduit.put(Rank{1}, job.segments[1].data(), from, bytes, OperationId{1}, OperationId{2}) == Status::ok);
      wait(conduit, host, sink, [&] {
        while (at.size() < sink.done.size()) at.push_back(host.now().ps);
        return sink.done.size() == 2;
      });
      CHECK((sink.done == std::vector<OperationId>{OperationId{2}, OperationId{1}}));
      CHECK(has_pattern(job.segments[1].data(), bytes, 3));
    };
    std::memcpy(job.segments[0].data(), outside.data(), outside.size());
    const std::size_t descriptors = job.portals(0).table().descriptors();
    put(job.segments[0].data(), 2000);
    CHECK(at[1] > at[0]);
    put(outside.data(), 2000);  // by a buffer
    CHECK(job.portals(0).table().descriptors() == descriptors);
    put(outside.data(), 8000);  // by a descriptor of its own, which is gone
    CHECK(job.portals(0).table().descriptors() == descriptors);
    std::vector<std::byte> back(8000);
    sink.done.clear();
    CHECK(conduit.get(Rank{1}, back.data(), job.segments[1].data(), 8000, OperationId{3}) == Status::ok);
    wait(conduit, host, sink, [&] { return sink.done.size() == 1; });
    CHECK(back == outside);
    CHECK(job.portals(0).table().descriptors() == descriptors);
  });
  job.engine.run();
}

TEST_CASE("portals_conduit_keeps_regions_of_firehose_and_gives_them_up_when_memory_goes") {
  Job job;
  std::vector<std::byte> outside(300'000);
  job.engine.start(Rank{0}, [&] {
    conduit::Conduit& conduit = *job.conduits[0];
    Sink sink;
    const std::size_t before = job.portals(0).table().descriptors();
    for (int i = 0; i < 3; ++i) {
      sink.done.clear();
      CHECK(conduit.put(Rank{1}, job.segments[1].data(), outside.data(), 250'000, OperationId{1}, kNoOperation) ==
            Status::ok);
      wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 1; });
      CHECK(job.portals(0).table().descriptors() == before + 2);  // 62 pages, two regions of 32
    }
    conduit.forget(outside);
    CHECK(job.portals(0).table().descriptors() == before);
  });
  job.engine.run();
}

TEST_CASE("portals_conduit_has_tokens_for_as_many_operations_as_it_says") {
  Job job({}, {.send_tokens = 8});
  job.engine.start(Rank{0}, [&] {
    conduit::Conduit& conduit = *job.conduits[0];
    Sink sink;
    const auto put = [&] {
      return conduit.put(Rank{1}, job.segments[1].data(), job.segments[0].data(), 8, OperationId{1}, kNoOperation);
    };
    for (int i = 0; i < 6; ++i) CHECK(put() == Status::ok);
    const SimTime before = job.host(0).now();
    CHECK(put() == Status::no_resource);
    CHECK(try_send(conduit, header_to(1, Category::short_message)) == Status::no_resource);
    CHECK(job.host(0).now() == before);  // two are for replies
    wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 6; });
    CHECK(put() == Status::ok);
    wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 7; });
  });
  job.engine.run();
}

// The sum has 250 buffers for requests, 16 for replies, and two for requests of peers. The two have 9 chunks each for 2
// x 8 + 400 credits (52 and a spare one). Each event takes 128 B: three for each of 250 and one, a credit each and two
// buffers, 2 + 16 of the system.
TEST_CASE("portals_conduit_reserves_its_buffers_and_events") {
  Job job;
  const Bytes chunks = 52 + 1;
  CHECK(request_room({}, 2).bytes_each == chunks * 2048);
  CHECK(request_room({}, 2).credits == 52 * 8);
  CHECK(job.conduits[0]->reserved_bytes() ==
        (250 + 16 + 2 * chunks) * 2048 + (3 * 250 + 1 + 52 * 8 + 2 + 2 + 16) * 128);
}

using Says = std::map<std::string, std::string>;

// Return the properties of all objects of a kind and name.
std::vector<Says> held(const std::vector<conduit::Holding>& all, const std::string& kind, const std::string& name) {
  std::vector<Says> properties;
  for (const conduit::Holding& each : all) {
    if (each.kind == kind && each.name == name) properties.emplace_back(each.says.begin(), each.says.end());
  }
  return properties;
}

TEST_CASE("portals_conduit_tells_what_it_holds_as_its_descriptors_are_now") {
  Job job({}, {.registration = Registration::temporary, .bounce_limit = 0});
  const auto now = [&] { return job.conduits[0]->holdings(); };
  // RAR, RARAM, RARSRC, two ReqRBs, CB, ReqSB, SYS, RplSB, and the descriptor of puts without payload. Three queues.
  CHECK(now().size() == 10 + 3);
  const Says rar = held(now(), "MD", "RAR").at(0);
  CHECK(rar.at("portal") == "38");
  CHECK(rar.at("match bits") == "0x0");
  CHECK(rar.at("ignore bits") == "0xfffffffffffffff0");
  CHECK(rar.at("operations") == "PUT/GET");
  CHECK(rar.at("offset") == "REMOTE");
  CHECK(rar.at("event queue") == "none");
  CHECK(rar.at("bytes") == std::to_string(1U << 18U));
  CHECK(rar.at("threshold") == "unlimited");
  const std::vector<Says> buffers = held(now(), "MD", "ReqRB");
  CHECK(buffers.size() == 2);
  CHECK(buffers[0].at("bytes") == std::to_string((52 + 1) * 2048));
  CHECK(buffers[0].at("offset") == "LOCAL");
  CHECK(buffers[0].at("event queue") == "AM_EQ");
  CHECK(buffers[0].at("options") == "no ACK, no START, unlinked when full");
  CHECK(held(now(), "MD", "RplSB").at(0).at("portal") == "none");
  CHECK(held(now(), "EQ", "AM_EQ").at(0).at("events") == std::to_string(52 * 8 + 2));
  CHECK(held(now(), "MD", "TMPMD").empty());
  std::vector<std::byte> outside(8000);
  job.engine.start(Rank{0}, [&] {
    conduit::Conduit& conduit = *job.conduits[0];
    Sink sink;
    CHECK(conduit.put(Rank{1}, job.segments[1].data(), outside.data(), 8000, OperationId{1}, kNoOperation) ==
          Status::ok);
    const std::vector<Says> temporary = held(now(), "MD", "TMPMD");  // only while its put is in flight
    CHECK(temporary.size() == 1);
    CHECK(temporary.at(0).at("bytes") == "8000");
    CHECK(temporary.at(0).at("event queue") == "SAFE_EQ");
    wait(conduit, job.host(0), sink, [&] { return sink.done.size() == 1; });
    CHECK(held(now(), "MD", "TMPMD").empty());
  });
  job.engine.run();
}

TEST_CASE("portals_conduit_refuses_credits_that_its_buffers_cannot_hold") {
  const auto refusal = [](const PortalsOptions& options, std::uint32_t ranks) {
    return message_of<UsageError>([&] { (void)request_room(options, ranks); });
  };
  CHECK(refusal({.credits_per_peer = 7}, 4) ==
        "portals: credits_per_peer=7; the largest message takes 8 (2048 B, 256 each): allowed are 8 and more");
  CHECK(refusal({.credits_per_peer = 24, .request_memory = 1U << 20U}, 128) ==
        "portals: credits_per_peer=24 of 128 ranks are 3072 credits; request_memory=1048576 is 2 buffers of 256 "
        "chunks, good for (2 - 1) x (256 - 1) x 8 = 2040: grant fewer, or give more memory");
  CHECK(request_room({.credits_per_peer = 24, .request_buffers = 3, .request_memory = 1U << 20U}, 112).credits ==
        2 * 169 * 8);
}

TEST_CASE("portals_conduit_names_ranks_that_do_not_exist") {
  Job job;
  AmBuffer buffer;
  CHECK(message_of<UsageError>([&] {
          (void)job.conduits[0]->prepare(header_to(2, Category::short_message), nullptr, 0, 0, buffer);
        }) == "portals: message to rank 2; ranks are 0..1");
  CHECK(message_of<UsageError>([&] {
          (void)job.conduits[0]->prepare(header_to(1, Category::long_message), nullptr, kMostLong + 1, kMostLong + 1,
                                         buffer);
        }).find(std::to_string(kMostLong)) != std::string::npos);
}

}  // namespace
}  // namespace gasmeter::networks::portals::portals_conduit_test
