// All ranks send to all through small rings while handlers answer: no message is lost, repeated or stuck.
#include <algorithm>
#include <cstring>

#include "cases.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

using testing::has_pattern;
using testing::seed_of;
using testing::write_pattern;

constexpr Bytes kLongBytes = 200;

enum class Mix : std::uint8_t { shorts, everything, large };

template <class H>
class Flood {
 public:
  Flood(Member<H>& me, Mix mix, std::uint64_t per_peer)
      : me_(me),
        mix_(mix),
        per_peer_(per_peer),
        requests_seen_(me.ranks() * per_peer),
        replies_seen_(me.ranks() * per_peer),
        longs_sent_(me.ranks()),
        payload_(me.endpoint.max_medium()),
        answer_(me.endpoint.max_medium()) {
    handlers_ = register_all<H>(me.endpoint, this, {&on_request, &on_reply});
    me.endpoint.barrier();
  }

  void run() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t peer = 0; peer < me_.ranks(); ++peer) order.push_back(peer);
    for (std::uint64_t number = 0; number < per_peer_; ++number) {
      std::shuffle(order.begin(), order.end(), me_.random);
      for (const std::uint32_t peer : order) send(Rank{peer}, number);
    }
    const std::uint64_t all = me_.ranks() * per_peer_;
    me_.endpoint.wait_until([&] { return requests_ >= all && replies_ >= all; });
    me_.endpoint.barrier();
    EXPECT(me_, requests_ == all);
    EXPECT(me_, replies_ == all);
    for (std::uint64_t i = 0; i < all; ++i) {
      EXPECT(me_, requests_seen_[i] == 1);
      EXPECT(me_, replies_seen_[i] == 1);
    }
  }

 private:
  [[nodiscard]] Bytes size_of(std::uint64_t random) const {
    const Bytes most = me_.endpoint.max_medium();
    return mix_ == Mix::large ? most - random % 32 : random % (random % 4 == 0 ? most + 1 : 100);
  }
  // Return the number of places for Longs. Each place is used once, since no sender learns when the handler has read
  // it.
  [[nodiscard]] std::uint64_t long_places() const { return me_.endpoint.segment().size / me_.ranks() / kLongBytes; }

  void send(Rank to, std::uint64_t number) {
    const std::uint64_t random = me_.random();
    Message m{Category::short_message, handlers_[0], {static_cast<std::int32_t>(number)}};
    const std::uint64_t seed = seed_of(me_.self(), number);
    if (mix_ != Mix::shorts) {
      std::uint64_t& longs = longs_sent_[index(to)];
      if (random % 4 == 0 && longs < long_places()) {
        m.category = Category::long_message;
        m.bytes = kLongBytes;
        m.destination = me_.endpoint.segment(to).address + (me_.self() * long_places() + longs++) * kLongBytes;
      } else if (random % 4 < 3) {
        m.category = Category::medium;
        m.bytes = size_of(random >> 8);
      }
      m.from = payload_.data();
      write_pattern(payload_.data(), m.bytes, seed);
    }
    m.arguments.resize(1 + (random >> 40) % conduit::kMaxArguments, -7);
    EXPECT(me_, send_request(me_.endpoint, to, m) == Status::ok);
    std::memset(payload_.data(), 0xff, m.bytes);
  }

  void check(core::Token<H>& token, std::vector<std::uint8_t>& seen, std::uint64_t seed_salt) {
    const auto number = static_cast<std::uint64_t>(token.argument(0));
    const std::uint32_t source = index(token.source());
    EXPECT(me_, number < per_peer_ && source < me_.ranks());
    if (number >= per_peer_ || source >= me_.ranks()) return;
    ++seen[source * per_peer_ + number];
    EXPECT(me_, has_pattern(token.payload(), token.size(), seed_of(source, number) + seed_salt));
    for (std::size_t i = 1; i < token.arguments().size(); ++i) EXPECT(me_, token.argument(i) == -7);
    if (!token.is_long() && token.size() != 0) std::memset(token.payload(), 0xff, token.size());
    me_.saw(number * 1000 + source);
  }

  static void on_request(core::Token<H>& token) {
    auto& self = token.template context_as<Flood>();
    self.check(token, self.requests_seen_, 0);
    ++self.requests_;
    const auto number = token.argument(0);
    const std::uint64_t seed = seed_of(self.me_.self(), number) + 1;
    const Bytes bytes = self.mix_ == Mix::shorts ? seed % 16 : self.size_of(seed);
    write_pattern(self.answer_.data(), bytes, seed);
    EXPECT(self.me_, token.reply_medium(self.handlers_[1], self.answer_.data(), bytes, number) == Status::ok);
    std::memset(self.answer_.data(), 0xff, bytes);
  }
  static void on_reply(core::Token<H>& token) {
    auto& self = token.template context_as<Flood>();
    self.check(token, self.replies_seen_, 1);
    ++self.replies_;
  }

  Member<H>& me_;
  Mix mix_;
  std::uint64_t per_peer_;
  std::vector<std::uint8_t> requests_seen_;  // [source][number]
  std::vector<std::uint8_t> replies_seen_;
  std::vector<std::uint64_t> longs_sent_;
  std::vector<std::byte> payload_;
  std::vector<std::byte> answer_;  // buffer of the handlers, which run inside a send
  std::array<HandlerIndex, 2> handlers_{};
  std::uint64_t requests_ = 0;
  std::uint64_t replies_ = 0;
};

// Return the messages per peer, so that the total is the same for any number of ranks. Virtual time repeats itself in
// many more setups, where a quarter of the messages fills every queue.
template <class H>
std::uint64_t per_peer(const Member<H>& me, std::uint64_t messages) {
  const std::uint64_t all = rounds(messages) / (H::kModelled ? 4 : 1);
  return std::max<std::uint64_t>(20, all / (std::uint64_t{me.ranks()} * me.ranks()));
}

template <class H>
void short_requests_flood_every_direction(Member<H>& me) {
  Flood<H>(me, Mix::shorts, per_peer(me, 40'000)).run();
}
template <class H>
void mixed_messages_flood_every_direction(Member<H>& me) {
  Flood<H>(me, Mix::everything, per_peer(me, 20'000)).run();
}
template <class H>
void large_messages_flood_every_direction(Member<H>& me) {
  Flood<H>(me, Mix::large, per_peer(me, 5'000)).run();
}

}  // namespace

template <class H>
Cases<H> flood_cases() {
  return {{"short_requests_flood_every_direction", &short_requests_flood_every_direction<H>, {.ring_bytes = 4096}},
          {"mixed_messages_flood_every_direction", &mixed_messages_flood_every_direction<H>},
          {"mixed_messages_flood_through_the_smallest_rings",
           &mixed_messages_flood_every_direction<H>,
           {.ring_bytes = 4096}},
          {"large_messages_flood_every_direction", &large_messages_flood_every_direction<H>, {.ring_bytes = 8192}}};
}

template Cases<RealHost> flood_cases();
template Cases<ThreadedHost> flood_cases();
template Cases<sim::ModelHost> flood_cases();

}  // namespace gasmeter::conformance
