// Messages of every category with every number of arguments and the sizes at which layouts change, answered by the
// same category.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "cases.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

using testing::has_pattern;
using testing::is_filled;
using testing::seed_of;
using testing::write_pattern;

constexpr Bytes kGuard = 64;
constexpr unsigned char kUntouched = 0xa5;
// For 0 bytes the source is ignored, and a Long's destination is passed on unchanged.
void* const kNowhere = reinterpret_cast<void*>(std::uintptr_t{0x123456789abc});

std::int32_t argument_of(std::uint32_t source, bool is_request, std::size_t count, std::size_t i) {
  constexpr std::array special{-1, std::numeric_limits<std::int32_t>::min(), 0,
                               std::numeric_limits<std::int32_t>::max(), -65536};
  if (i % 2 == 0) return special[(i / 2 + count + source) % special.size()];
  return static_cast<std::int32_t>(seed_of(source, is_request, count, i));
}

std::vector<std::int32_t> arguments_of(std::uint32_t source, bool is_request, std::size_t count) {
  std::vector<std::int32_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = argument_of(source, is_request, count, i);
  return all;
}

std::uint64_t payload_seed(std::uint32_t source, bool is_request, std::size_t count, Bytes bytes) {
  return seed_of(source, is_request, count, bytes, 17);
}

// One message at a time from this rank. Its contents follow from its sender, number of arguments and size.
template <class H>
class Correspondence {
 public:
  explicit Correspondence(Member<H>& me) : me_(me) {
    handlers_ = register_all<H>(me.endpoint, this, {&on_request, &on_reply});
    std::memset(me.endpoint.segment().address, kUntouched, me.endpoint.segment().size);
    me.endpoint.barrier();
  }
  ~Correspondence() { me_.endpoint.barrier(); }
  Correspondence(const Correspondence&) = delete;
  Correspondence& operator=(const Correspondence&) = delete;

  // Return the largest payload that fits the space a peer keeps for this rank.
  [[nodiscard]] Bytes most(Category category) const {
    if (category == Category::short_message) return 0;
    const Bytes limit =
        category == Category::medium ? me_.endpoint.max_medium() : std::min(me_.endpoint.max_long(), space());
    return std::min(limit, space());
  }

  void exchange(Rank to, Category category, std::size_t count, Bytes bytes) {
    category_ = category;
    count_ = count;
    bytes_ = bytes;
    const std::uint64_t before = replies_;
    std::vector<std::byte> source(bytes);
    write_pattern(source.data(), bytes, payload_seed(me_.self(), true, count, bytes));
    Message m{category, handlers_[0], arguments_of(me_.self(), true, count)};
    m.from = bytes != 0 ? source.data() : kNowhere;
    m.bytes = bytes;
    m.destination = bytes != 0 ? place(to, me_.self(), true) : kNowhere;
    EXPECT(me_, send_request(me_.endpoint, to, m) == Status::ok);
    std::fill(source.begin(), source.end(), std::byte{0xff});  // local completion at return
    me_.endpoint.wait_until([&] { return replies_ != before; });
    EXPECT(me_, replies_ == before + 1);
    me_.endpoint.forget(source);
  }

 private:
  // Space of a peer's segment for one direction of this pair, guarded on both sides.
  [[nodiscard]] Bytes stride() const { return me_.endpoint.segment().size / (2 * me_.ranks()); }
  [[nodiscard]] Bytes space() const { return stride() - 2 * kGuard; }
  [[nodiscard]] std::byte* place(Rank owner, std::uint32_t other, bool is_request) const {
    // An odd address, so that no path relies on an aligned destination.
    return me_.endpoint.segment(owner).address + (2 * other + (is_request ? 0 : 1)) * stride() + kGuard - 1;
  }

  void check(core::Token<H>& token) {
    const std::uint32_t source = index(token.source());
    const bool is_request = token.is_request();
    const auto arguments = token.arguments();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      EXPECT(me_, arguments[i] == argument_of(source, is_request, arguments.size(), i));
      EXPECT(me_, token.argument(i) == arguments[i]);
    }
    EXPECT(me_, source < me_.ranks());
    EXPECT(me_, &token.endpoint() == &me_.endpoint);
    EXPECT(me_, token.handler() == handlers_[is_request ? 0 : 1]);
    const Bytes bytes = token.size();
    auto* payload = static_cast<std::byte*>(token.payload());
    me_.saw(bytes * 100 + arguments.size());
    if (token.is_long()) {
      EXPECT(me_, payload == (bytes == 0 ? kNowhere : place(me_.endpoint.rank(), source, is_request)));
      if (bytes == 0) return;
      me_.endpoint.host().synchronise();
      EXPECT(me_, is_filled(payload - kGuard / 2, kGuard / 2, kUntouched));
      EXPECT(me_, is_filled(payload + bytes, kGuard / 2, kUntouched));
    } else if (bytes != 0) {
      EXPECT(me_, reinterpret_cast<std::uintptr_t>(payload) % alignof(std::max_align_t) == 0);
    }
    EXPECT(me_, has_pattern(payload, bytes, payload_seed(source, is_request, arguments.size(), bytes)));
    // The handler may write both arguments and payload; the next message must not be affected.
    if (bytes != 0) std::memset(payload, token.is_long() ? kUntouched : 0xff, bytes);
  }

  static Category category_of(const core::Token<H>& token) {
    if (token.is_long()) return Category::long_message;
    return token.payload() == nullptr ? Category::short_message : Category::medium;
  }

  static void on_request(core::Token<H>& token) {
    auto& self = token.template context_as<Correspondence>();
    EXPECT(self.me_, token.is_request());
    const Category category = category_of(token);
    const Bytes bytes = token.size();
    const std::size_t count = token.arguments().size();
    self.check(token);
    std::vector<std::byte> source(bytes);
    write_pattern(source.data(), bytes, payload_seed(self.me_.self(), false, count, bytes));
    Message m{category, self.handlers_[1], arguments_of(self.me_.self(), false, count)};
    m.from = bytes != 0 ? source.data() : kNowhere;
    m.bytes = bytes;
    m.destination = bytes != 0 ? self.place(token.source(), self.me_.self(), false) : kNowhere;
    EXPECT(self.me_, send_reply(token, m) == Status::ok);
    self.me_.endpoint.forget(source);
  }

  static void on_reply(core::Token<H>& token) {
    auto& self = token.template context_as<Correspondence>();
    EXPECT(self.me_, !token.is_request());
    EXPECT(self.me_, category_of(token) == self.category_);
    EXPECT(self.me_, token.size() == self.bytes_);
    EXPECT(self.me_, token.arguments().size() == self.count_);
    self.check(token);
    ++self.replies_;
  }

  Member<H>& me_;
  std::array<HandlerIndex, 2> handlers_{};
  Category category_{};
  std::size_t count_ = 0;
  Bytes bytes_ = 0;
  std::uint64_t replies_ = 0;
};

template <class H>
void any_number_of_arguments_arrives_as_sent(Member<H>& me) {
  Correspondence<H> letters(me);
  for (const Category category : kCategories) {
    for (std::size_t count = 0; count <= conduit::kMaxArguments; ++count) {
      for (const Bytes bytes : {Bytes{0}, Bytes{1}, Bytes{16}, Bytes{17}}) {
        if (bytes > letters.most(category)) continue;
        letters.exchange(me.next(), category, count, bytes);
      }
    }
  }
}

template <class H>
void any_size_of_payload_arrives_as_sent(Member<H>& me) {
  Correspondence<H> letters(me);
  for (const Category category : {Category::medium, Category::long_message}) {
    const Bytes most = letters.most(category);
    for (const Bytes bytes : {Bytes{0}, Bytes{1}, Bytes{7}, Bytes{8}, Bytes{9}, Bytes{15}, Bytes{16}, Bytes{17},
                              Bytes{63}, Bytes{64}, Bytes{65}, Bytes{511}, Bytes{4096}, most - 1, most}) {
      for (const std::size_t count : {0U, 1U, 2U, 3U, 16U}) {
        if (bytes <= most) letters.exchange(me.next(), category, count, bytes);
      }
    }
  }
}

template <class H>
void every_peer_is_reached_and_the_rank_itself(Member<H>& me) {
  Correspondence<H> letters(me);
  for (std::uint32_t step = 0; step < me.ranks(); ++step) {
    const Rank to{(me.self() + step) % me.ranks()};
    for (const Category category : kCategories) {
      for (const std::size_t count : {0U, 2U, 5U, 16U}) {
        letters.exchange(to, category, count, 0);
        letters.exchange(to, category, count, std::min<Bytes>(letters.most(category), 100));
        letters.exchange(to, category, count, letters.most(category));
      }
    }
  }
}

}  // namespace

template <class H>
Cases<H> message_cases() {
  return {{"any_number_of_arguments_arrives_as_sent", &any_number_of_arguments_arrives_as_sent<H>},
          {"any_size_of_payload_arrives_as_sent", &any_size_of_payload_arrives_as_sent<H>},
          {"any_size_of_payload_arrives_as_sent_through_the_smallest_rings",
           &any_size_of_payload_arrives_as_sent<H>,
           {.ring_bytes = 4096}},
          {"every_peer_is_reached_and_the_rank_itself", &every_peer_is_reached_and_the_rank_itself<H>}};
}

template Cases<RealHost> message_cases();
template Cases<ThreadedHost> message_cases();
template Cases<sim::ModelHost> message_cases();

}  // namespace gasmeter::conformance
