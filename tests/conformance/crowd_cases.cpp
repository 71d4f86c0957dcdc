// Every operation between all ranks at once, and of one rank while the others wait, at sizes around each limit at
// which a protocol changes.
#include <algorithm>
#include <array>
#include <cstring>

#include "cases.hpp"
#include "gasmeter/core/atomics/domain.hpp"
#include "gasmeter/core/vis/vis.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

using core::Event;
using core::LocalCompletion;
using testing::has_pattern;
using testing::seed_of;
using testing::write_pattern;

// Largest size. Real ranks wait for each other by the clock and move less.
template <class H>
constexpr Bytes kLargest = H::kModelled ? 132 * 1024 : 17 * 1024;

// Zones of each segment for the data that a rank writes.
enum Zone : std::uint8_t { kPut, kLong, kPieces, kZones };
constexpr Bytes kLine = 64;
constexpr Bytes kGap = 8;  // between the two pieces of a strided transfer

template <class H>
class Crowd {
 public:
  explicit Crowd(Member<H>& member)
      : me_(member),
        ep_(member.endpoint),
        vis_(ep_),
        domain_(ep_, {core::AtomicOp::fadd}),
        part_((ep_.segment().size - kLine) / ep_.ranks() / kZones / kLine * kLine),
        handlers_(register_all<H>(ep_, this, {&on_request, &on_answer})) {
    source_.resize(most() + kGap);
    read_buffers_.resize(ep_.ranks() * std::size_t{kZones}, std::vector<std::byte>(most() + kGap));
    ep_.barrier();
  }

  // Return the sizes around each limit, in order: one below, the limit, one above.
  [[nodiscard]] std::vector<Bytes> sizes() const {
    std::vector<Bytes> limits = me_.limits;
    limits.insert(limits.end(), {8, ep_.max_medium(), ep_.max_long()});
    if (me_.conduit != nullptr) {
      const conduit::Capabilities& can = me_.conduit->capabilities();
      limits.insert(limits.end(), {can.max_request_medium, can.max_reply_medium, can.max_request_long,
                                   can.max_reply_long, can.max_transfer, can.copied_puts, can.packet_medium,
                                   can.medium_puts, can.medium_at_commit, can.long_at_commit, can.long_in_place});
    }
    std::vector<Bytes> sizes;
    for (const Bytes limit : limits) {
      for (const Bytes size : {limit - 1, limit, limit + 1}) {
        if (limit != 0 && size != 0 && size <= most()) sizes.push_back(size);
      }
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
  }

  void all_to_all(Bytes size) {
    begin(size);
    std::vector<Event> events;
    std::vector<std::uint64_t> before(ep_.ranks());
    for (std::uint32_t step = 1; step < ep_.ranks(); ++step) {
      const Rank owner{(me_.self() + step) % ep_.ranks()};
      events.push_back(ep_.put_nb(owner, at(owner, kPut), source_.data(), size, LocalCompletion::defer()));
      send(owner, size);
      events.push_back(domain_.template nb<core::AtomicOp::fadd>(&before[step], owner, word(owner), 1));
      events.push_back(in_two_pieces(owner, source_.data(), size, true));
    }
    for (Event& event : events) ep_.wait(event);
    ep_.wait_until([&] { return answered_ == asked_; });
    ep_.barrier();
    added_ += ep_.ranks() - 1;
    EXPECT(me_, *word(ep_.rank()) == added_);
    for (std::uint32_t writer = 0; writer < ep_.ranks(); ++writer) {
      if (writer != me_.self()) expect_written(writer, size);
    }
    events.clear();
    for (std::uint32_t step = 1; step < ep_.ranks(); ++step) {
      const Rank owner{(me_.self() + step) % ep_.ranks()};
      events.push_back(ep_.get_nb(owner, read_buffer(owner, kPut), at(owner, kPut), size));
      events.push_back(in_two_pieces(owner, read_buffer(owner, kPieces), size, false));
    }
    for (Event& event : events) ep_.wait(event);
    for (std::uint32_t step = 1; step < ep_.ranks(); ++step) {
      const Rank owner{(me_.self() + step) % ep_.ranks()};
      for (const Zone zone : {kPut, kPieces})
        EXPECT(me_, has_pattern(read_buffer(owner, zone), size, seed(me_.self())));
    }
    ep_.barrier();
  }

  // One rank at a time communicates; the others wait in the barrier.
  void one_to_all(Bytes size) {
    begin(size);
    if (round_ % ep_.ranks() == me_.self()) {
      for (std::uint32_t step = 1; step < ep_.ranks(); ++step) {
        const Rank owner{(me_.self() + step) % ep_.ranks()};
        ep_.put(owner, at(owner, kPut), source_.data(), size);
        ep_.get(owner, read_buffer(owner, kPut), at(owner, kPut), size);
        EXPECT(me_, has_pattern(read_buffer(owner, kPut), size, seed(me_.self())));
        send(owner, size);
        ep_.wait_until([&] { return answered_ == asked_; });
      }
    }
    ep_.barrier();
  }

 private:
  [[nodiscard]] Bytes most() const { return std::min(kLargest<H>, part_ - kLine); }
  [[nodiscard]] std::byte* at(Rank owner, std::uint32_t writer, Zone zone) const {
    return ep_.segment(owner).address + (writer * std::size_t{kZones} + zone) * part_;
  }
  [[nodiscard]] std::byte* at(Rank owner, Zone zone) const { return at(owner, me_.self(), zone); }
  [[nodiscard]] std::uint64_t* word(Rank owner) const {
    const core::Segment& segment = ep_.segment(owner);
    return reinterpret_cast<std::uint64_t*>(segment.address + segment.size - kLine);
  }
  [[nodiscard]] std::byte* read_buffer(Rank owner, Zone zone) {
    return read_buffers_[index(owner) * std::size_t{kZones} + zone].data();
  }
  [[nodiscard]] std::uint64_t seed(std::uint32_t writer) const { return seed_of(writer, round_); }

  void begin(Bytes size) {
    ++round_;
    write_pattern(source_.data(), size, seed(me_.self()));
  }
  void send(Rank to, Bytes size) {
    const auto round = static_cast<std::int32_t>(round_);
    if (size <= ep_.max_medium()) {
      ++asked_;
      (void)send_request(ep_, to, {Category::medium, handlers_[0], {round}, source_.data(), size});
    }
    if (size <= ep_.max_long()) {
      ++asked_;
      (void)send_request(ep_, to, {Category::long_message, handlers_[0], {round}, source_.data(), size, at(to, kLong)});
    }
  }
  // Transfer two halves that are apart at the peer and together at this rank.
  [[nodiscard]] Event in_two_pieces(Rank owner, std::byte* local_halves, Bytes size, bool put) {
    const std::array<Bytes, 1> counts{2};
    const Bytes half = size / 2;
    const std::array<std::ptrdiff_t, 1> together{static_cast<std::ptrdiff_t>(half)};
    const std::array<std::ptrdiff_t, 1> apart{static_cast<std::ptrdiff_t>(half + kGap)};
    std::byte* const remote_halves = at(owner, kPieces);
    if (size % 2 != 0) local_halves[size - 1] = source_[size - 1];  // belongs to neither half
    return put ? vis_.put_nb(owner, core::vis::Strided{remote_halves, apart, local_halves, together, half, counts})
               : vis_.get_nb(owner, core::vis::Strided{local_halves, together, remote_halves, apart, half, counts});
  }
  void expect_written(std::uint32_t writer, Bytes size) {
    std::vector<std::byte> pattern(size);
    write_pattern(pattern.data(), size, seed(writer));
    const Bytes half = size / 2;
    const std::byte* const pieces = at(ep_.rank(), writer, kPieces);
    EXPECT(me_, std::memcmp(at(ep_.rank(), writer, kPut), pattern.data(), size) == 0);
    EXPECT(me_, std::memcmp(pieces, pattern.data(), half) == 0);
    EXPECT(me_, std::memcmp(pieces + half + kGap, pattern.data() + half, half) == 0);
  }

  static void on_request(core::Token<H>& token) {
    auto& self = token.template context_as<Crowd>();
    const std::uint64_t seed = seed_of(index(token.source()), token.argument(0));
    EXPECT(self.me_, has_pattern(token.payload(), token.size(), seed));
    const Bytes bytes = std::min(token.size(), token.max_reply_medium(1));
    self.answer_.assign(static_cast<const std::byte*>(token.payload()),
                        static_cast<const std::byte*>(token.payload()) + bytes);
    (void)token.reply_medium(self.handlers_[1], self.answer_.data(), bytes, token.argument(0));
  }
  static void on_answer(core::Token<H>& token) {
    auto& self = token.template context_as<Crowd>();
    EXPECT(self.me_, has_pattern(token.payload(), token.size(), seed_of(self.me_.self(), token.argument(0))));
    ++self.answered_;
  }

  Member<H>& me_;
  core::Endpoint<H>& ep_;
  core::Vis<H> vis_;
  core::AtomicDomain<H, std::uint64_t> domain_;
  Bytes part_;  // bytes of a zone
  std::array<HandlerIndex, 2> handlers_;
  std::vector<std::byte> source_;
  std::vector<std::byte> answer_;
  std::vector<std::vector<std::byte>> read_buffers_;  // by owner and zone
  std::uint32_t round_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t added_ = 0;
};

template <class H>
void all_ranks_move_what_lies_around_every_limit(Member<H>& me) {
  Crowd<H> crowd(me);
  for (const Bytes size : crowd.sizes()) {
    crowd.all_to_all(size);
    crowd.one_to_all(size);
  }
}

}  // namespace

template <class H>
Cases<H> crowd_cases() {
  return {{.name = "all_ranks_move_what_lies_around_every_limit",
           .body = &all_ranks_move_what_lies_around_every_limit<H>,
           .shape = {.segment_bytes = H::kModelled ? 6 * kZones * 136 * 1024 : 1024 * 1024},
           .crowded = true}};
}

template Cases<RealHost> crowd_cases();
template Cases<ThreadedHost> crowd_cases();
template Cases<sim::ModelHost> crowd_cases();

}  // namespace gasmeter::conformance
