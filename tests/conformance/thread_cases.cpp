// Several threads on one endpoint: everything of one thread, at once from all.
#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include "cases.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

using Me = Member<ThreadedHost>;
using Endpoint = core::Endpoint<ThreadedHost>;
using Token = core::Token<ThreadedHost>;
using testing::has_pattern;
using testing::seed_of;
using testing::write_pattern;

constexpr unsigned kThreads = 3;

// The rank's own thread takes part.
void in_threads(const std::function<void(unsigned)>& body) {
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < kThreads; ++thread) others.emplace_back(body, thread);
  body(0);
  for (std::thread& thread : others) thread.join();
}

struct Traffic {
  explicit Traffic(Me& member, std::uint64_t count)
      : me(member),
        per_thread(count),
        requests_seen(me.ranks() * kThreads * count),
        replies_seen(kThreads * me.ranks() * count) {
    handlers = register_all<ThreadedHost>(me.endpoint, this, {&on_request, &on_reply});
    me.endpoint.barrier();
  }

  static void on_request(Token& token) {
    auto& self = token.context_as<Traffic>();
    const auto thread = static_cast<std::uint64_t>(token.argument(0));
    const auto number = static_cast<std::uint64_t>(token.argument(1));
    const std::uint64_t place = (index(token.source()) * kThreads + thread) * self.per_thread + number;
    EXPECT(self.me, has_pattern(token.payload(), token.size(), seed_of(index(token.source()), thread, number)));
    ++self.requests_seen[place];
    (void)token.reply_short(self.handlers[1], token.argument(0), token.argument(1));
    ++self.requests;
  }
  static void on_reply(Token& token) {
    auto& self = token.context_as<Traffic>();
    const auto thread = static_cast<std::uint64_t>(token.argument(0));
    const auto number = static_cast<std::uint64_t>(token.argument(1));
    ++self.replies_seen[(thread * self.me.ranks() + index(token.source())) * self.per_thread + number];
    ++self.replies_of[thread];
  }

  Me& me;
  std::uint64_t per_thread;
  std::vector<std::uint8_t> requests_seen;  // one handler at a time runs on an endpoint
  std::vector<std::uint8_t> replies_seen;
  std::array<HandlerIndex, 2> handlers{};
  std::atomic<std::uint64_t> requests{0};
  std::array<std::atomic<std::uint64_t>, kThreads> replies_of{};
};

void threads_flood_through_one_endpoint(Me& me) {
  const std::uint64_t count = std::max<std::uint64_t>(30, rounds(3000) / me.ranks());
  Traffic traffic(me, count);
  in_threads([&](unsigned thread) {
    std::vector<std::byte> payload(200);
    for (std::uint64_t number = 0; number < count; ++number) {
      for (std::uint32_t peer = 0; peer < me.ranks(); ++peer) {
        Message m{number % 2 == 0 ? Category::short_message : Category::medium,
                  traffic.handlers[0],
                  {static_cast<std::int32_t>(thread), static_cast<std::int32_t>(number)}};
        if (m.category == Category::medium) m.bytes = number % payload.size();
        m.from = payload.data();
        write_pattern(payload.data(), m.bytes, seed_of(me.self(), thread, number));
        EXPECT(me, send_request(me.endpoint, Rank{peer}, m) == Status::ok);
      }
    }
    me.endpoint.wait_until([&] { return traffic.replies_of[thread].load() == count * me.ranks(); });
  });
  me.endpoint.wait_until([&] { return traffic.requests.load() == count * kThreads * me.ranks(); });
  me.endpoint.barrier();
  for (const std::uint8_t seen : traffic.requests_seen) EXPECT(me, seen == 1);
  for (const std::uint8_t seen : traffic.replies_seen) EXPECT(me, seen == 1);
}

void threads_transfer_and_synchronise_on_their_own(Me& me) {
  const std::uint64_t count = rounds(300);
  in_threads([&](unsigned thread) {
    constexpr Bytes kPiece = 512;
    std::byte* const there =
        me.endpoint.segment(me.next()).address + (std::uint64_t{me.self()} * kThreads + thread) * 4 * kPiece;
    std::vector<std::byte> data(kPiece);
    std::vector<std::byte> back(kPiece);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t seed = seed_of(me.self(), thread, i);
      write_pattern(data.data(), kPiece, seed);
      std::byte* const at = there + (i % 4) * kPiece;
      switch (i % 3) {
        case 0:
          me.endpoint.put(me.next(), at, data.data(), kPiece);
          me.endpoint.get(me.next(), back.data(), at, kPiece);
          break;
        case 1: {
          core::Event put = me.endpoint.put_nb(me.next(), at, data.data(), kPiece);
          me.endpoint.wait(put);
          core::Event get = me.endpoint.get_nb(me.next(), back.data(), at, kPiece);
          me.endpoint.wait(get);
          break;
        }
        default: {
          // Implicit groups and regions belong to the thread: the others' do not nest in this one.
          me.endpoint.begin_access_region();
          EXPECT(me, me.endpoint.put_nbi(me.next(), at, data.data(), kPiece) == Status::ok);
          core::Event region = me.endpoint.end_access_region();
          me.endpoint.wait(region);
          EXPECT(me, me.endpoint.get_nbi(me.next(), back.data(), at, kPiece) == Status::ok);
          me.endpoint.wait_nbi();
        }
      }
      EXPECT(me, has_pattern(back.data(), kPiece, seed));
    }
  });
  me.endpoint.barrier();
}

// A thread that waits lets the others' messages progress, whoever polls.
void any_thread_makes_progress_for_all(Me& me) {
  const std::uint64_t count = rounds(500);
  Traffic traffic(me, count);
  std::atomic<bool> done{false};
  std::thread poller([&] {
    while (!done.load()) {
      if (me.endpoint.poll() == 0) me.endpoint.host().idle(kNever);
    }
  });
  in_threads([&](unsigned thread) {
    for (std::uint64_t number = 0; number < count; ++number) {
      for (std::uint32_t peer = 0; peer < me.ranks(); ++peer) {
        (void)me.endpoint.request_short(Rank{peer}, traffic.handlers[0], Flags::none, static_cast<std::int32_t>(thread),
                                        static_cast<std::int32_t>(number));
      }
      const std::uint64_t all = (number + 1) * me.ranks();
      if (thread == 0) {
        me.endpoint.wait_until([&] { return traffic.replies_of[thread].load() >= all; });
      } else {
        // Nobody but the poller polls for these.
        while (traffic.replies_of[thread].load() < all) me.endpoint.host().idle(kNever);
      }
    }
  });
  me.endpoint.wait_until([&] { return traffic.requests.load() == count * kThreads * me.ranks(); });
  me.endpoint.barrier();
  done.store(true);
  poller.join();
  me.endpoint.barrier();
}

}  // namespace

Cases<ThreadedHost> thread_cases() {
  return {{"threads_flood_through_one_endpoint", &threads_flood_through_one_endpoint, {.ring_bytes = 4096}},
          {"threads_transfer_and_synchronise_on_their_own", &threads_transfer_and_synchronise_on_their_own},
          {"any_thread_makes_progress_for_all", &any_thread_makes_progress_for_all}};
}

}  // namespace gasmeter::conformance
