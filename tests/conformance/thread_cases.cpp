// Several threads on one endpoint: each case of one thread, on all threads at once.
#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>

#include "cases.hpp"
#include "gasmeter/core/atomics/domain.hpp"
#include "gasmeter/core/handler_lock.hpp"
#include "gasmeter/core/negotiated.hpp"
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

// Run `body` on several threads, the rank's own included.
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
  std::vector<std::uint8_t> requests_seen;  // only one handler at a time runs on an endpoint
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
    std::byte* const remote =
        me.endpoint.segment(me.next()).address + (std::uint64_t{me.self()} * kThreads + thread) * 4 * kPiece;
    std::vector<std::byte> data(kPiece);
    std::vector<std::byte> back(kPiece);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t seed = seed_of(me.self(), thread, i);
      write_pattern(data.data(), kPiece, seed);
      std::byte* const at = remote + (i % 4) * kPiece;
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
          // Implicit groups and regions belong to a thread: regions of different threads do not nest.
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

// A thread that waits lets the messages of other threads progress, whichever thread polls.
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
        // Only the polling thread polls for these.
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

// Negotiated payload, local completion, atomics, transfers and handler-safe locks, all from every thread at once.
struct Everything {
  explicit Everything(Me& member) : me(member), lock(member.endpoint) {
    handlers = register_all<ThreadedHost>(me.endpoint, this, {&on_request, &on_reply});
    me.endpoint.barrier();
  }
  static void on_request(Token& token) {
    auto& self = token.context_as<Everything>();
    const auto thread = static_cast<std::uint64_t>(token.argument(0));
    const auto number = static_cast<std::uint64_t>(token.argument(1));
    EXPECT(self.me, has_pattern(token.payload(), token.size(), seed_of(index(token.source()), thread, number)));
    {
      const std::lock_guard guard(self.lock);
      ++self.guarded;
    }
    core::Prepared<ThreadedHost> sd = token.prepare_medium(nullptr, 8, 40, 1);
    std::memset(sd.data(), 0x5a, sd.size());
    (void)sd.commit(self.handlers[1], 8, Flags::none, token.argument(0));
    ++self.requests;
  }
  static void on_reply(Token& token) {
    auto& self = token.context_as<Everything>();
    EXPECT(self.me, token.size() == 8);
    ++self.replies_of[static_cast<std::size_t>(token.argument(0))];
  }

  Me& me;
  core::HandlerLock<ThreadedHost> lock;
  std::uint64_t guarded = 0;  // guarded by the lock
  std::array<HandlerIndex, 2> handlers{};
  std::atomic<std::uint64_t> requests{0};
  std::array<std::atomic<std::uint64_t>, kThreads> replies_of{};
};

void threads_do_everything_at_once(Me& me) {
  constexpr Bytes kPiece = 256;
  const std::uint64_t count = rounds(200);
  Everything state(me);
  core::AtomicDomain<ThreadedHost, std::uint64_t> domain(me.endpoint, {core::AtomicOp::fadd, core::AtomicOp::add});
  auto* const word = reinterpret_cast<std::uint64_t*>(me.endpoint.segment(me.next()).address);
  in_threads([&](unsigned thread) {
    Endpoint& ep = me.endpoint;
    std::vector<std::byte> data(kPiece);
    std::vector<std::byte> back(kPiece);
    std::byte* const remote = ep.segment(me.next()).address + 4096 + std::uint64_t{thread} * kPiece;
    std::uint64_t last = 0;
    for (std::uint64_t number = 0; number < count; ++number) {
      const auto a = static_cast<std::int32_t>(thread);
      const auto b = static_cast<std::int32_t>(number);
      const Bytes bytes = 1 + number % kPiece;
      const std::uint64_t seed = seed_of(me.self(), thread, number);
      core::Prepared<ThreadedHost> sd = ep.prepare_medium(me.next(), nullptr, bytes, bytes + 30, 2);
      write_pattern(sd.data(), bytes, seed);
      EXPECT(me, sd.commit(state.handlers[0], bytes, Flags::none, a, b) == Status::ok);
      write_pattern(data.data(), bytes, seed);
      core::Event leaf;
      EXPECT(me, ep.request_medium(me.next(), state.handlers[0], data.data(), bytes, core::LocalCompletion::event(leaf),
                                   Flags::none, a, b) == Status::ok);
      ep.wait(leaf);
      std::uint64_t before = 0;
      EXPECT(me, domain.nbi<core::AtomicOp::fadd>(&before, me.next(), word, 1) == Status::ok);
      EXPECT(me, domain.nbi<core::AtomicOp::add>(nullptr, me.next(), word, 1) == Status::ok);
      ep.wait_nbi(core::EventSet::rmw);
      EXPECT(me, number == 0 || before > last);  // this thread has added meanwhile
      last = before;
      EXPECT(me, ep.put_nbi(me.next(), remote, data.data(), bytes) == Status::ok);
      ep.wait_nbi(core::EventSet::put);
      ep.get(me.next(), back.data(), remote, bytes);
      EXPECT(me, has_pattern(back.data(), bytes, seed));
      const std::lock_guard guard(state.lock);
      ++state.guarded;
    }
    ep.wait_until([&] { return state.replies_of[thread].load() == 2 * count; });
  });
  const std::uint64_t all = 2 * count * kThreads;
  me.endpoint.wait_until([&] { return state.requests.load() == all; });
  me.endpoint.barrier();
  {
    const std::lock_guard guard(state.lock);
    EXPECT(me, state.guarded == all + count * kThreads);
  }
  EXPECT(me, domain.wait<core::AtomicOp::fadd>(me.next(), word, 0) == all);
  me.endpoint.barrier();
}

}  // namespace

Cases<ThreadedHost> thread_cases() {
  return {{"threads_flood_through_one_endpoint", &threads_flood_through_one_endpoint, {.ring_bytes = 4096}},
          {"threads_transfer_and_synchronise_on_their_own", &threads_transfer_and_synchronise_on_their_own},
          {"threads_do_everything_at_once", &threads_do_everything_at_once},
          {"any_thread_makes_progress_for_all", &any_thread_makes_progress_for_all}};
}

}  // namespace gasmeter::conformance
