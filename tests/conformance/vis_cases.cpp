// Vector, indexed and strided transfers against a model that moves byte by byte.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/core/vis/vis.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

using core::Event;
using core::EventSet;
using core::LocalCompletion;
using core::Vis;
using core::vis::Implementation;
using core::vis::Indexed;
using core::vis::Mechanism;
using core::vis::Piece;
using core::vis::Strided;
using core::vis::Vector;
using testing::seed_of;
using testing::write_pattern;
using Bytearray = std::vector<std::byte>;

// One side of a random strided transfer, as offsets from the start of an area.
struct Side {
  std::vector<std::ptrdiff_t> strides;
  Bytes base = 0;
  Bytes extent = 0;
};

// Return random levels in any order, with gaps, forwards or backwards. With `repeats` a stride may be 0.
Side random_side(std::mt19937_64& random, Bytes element, const std::vector<Bytes>& counts, bool repeats, bool plain) {
  Side side;
  side.strides.resize(counts.size());
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  if (!plain) std::shuffle(order.begin(), order.end(), random);
  side.extent = element;
  for (const std::size_t level : order) {
    if (repeats && random() % 4 == 0) continue;
    const Bytes gap = random() % 3 == 0 ? random() % 9 : 0;
    const Bytes stride = side.extent + gap;
    const Bytes reach = stride * (std::max<Bytes>(counts[level], 1) - 1);
    const bool back = !plain && random() % 3 == 0;
    side.strides[level] = back ? -static_cast<std::ptrdiff_t>(stride) : static_cast<std::ptrdiff_t>(stride);
    if (back) side.base += reach;
    side.extent = reach + side.extent;
    if (gap != 0) side.extent += 1;  // so that the next level cannot continue this one
    if (plain) side.extent = std::max(side.extent, stride * std::max<Bytes>(counts[level], 1));
  }
  return side;
}

struct Shape {
  Bytes element = 0;
  std::vector<Bytes> counts;
  Side to;
  Side from;
};

Shape random_shape(std::mt19937_64& random, Bytes most, bool source_repeats, bool plain) {
  constexpr std::array<Bytes, 12> kElements{1, 2, 3, 4, 7, 8, 16, 33, 64, 65, 200, 1500};
  while (true) {
    Shape shape;
    shape.element = random() % 24 == 0 ? 0 : kElements[random() % kElements.size()];
    shape.counts.resize(random() % 6);
    for (Bytes& count : shape.counts) count = random() % 40 == 0 ? 0 : 1 + random() % 6;
    shape.to = random_side(random, shape.element, shape.counts, false, plain);
    shape.from = random_side(random, shape.element, shape.counts, source_repeats, plain);
    if (shape.to.extent <= most && shape.from.extent <= most) return shape;
  }
}

void model(const Shape& shape, std::byte* to, const std::byte* from) {
  Bytes pieces = 1;
  for (const Bytes count : shape.counts) pieces *= count;
  for (Bytes piece = 0; piece < pieces; ++piece) {
    std::byte* t = to + shape.to.base;
    const std::byte* f = from + shape.from.base;
    Bytes number = piece;
    for (std::size_t level = 0; level < shape.counts.size(); ++level) {
      const auto digit = static_cast<std::ptrdiff_t>(number % shape.counts[level]);
      number /= shape.counts[level];
      t += digit * shape.to.strides[level];
      f += digit * shape.from.strides[level];
    }
    for (Bytes i = 0; i < shape.element; ++i) t[i] = f[i];
  }
}

// This rank's area of a segment, its expected contents, and the memory of this rank's side.
template <class H>
struct Areas {
  Areas(Member<H>& member, Bytes most)
      : me(member), size(std::min<Bytes>(most, me.endpoint.segment().size / me.ranks())) {
    local_side.resize(size);
    remote.resize(size);
    read_back.resize(size);
  }
  [[nodiscard]] std::byte* at(Rank owner) const { return me.endpoint.segment(owner).address + me.self() * size; }
  void fill(Rank owner, std::uint64_t seed) {
    write_pattern(local_side.data(), size, seed);
    write_pattern(remote.data(), size, ~seed);
    me.endpoint.put(owner, at(owner), remote.data(), size);
  }
  [[nodiscard]] bool holds(Rank owner) {
    me.endpoint.get(owner, read_back.data(), at(owner), size);
    return read_back == remote;
  }
  Member<H>& me;
  Bytes size;
  Bytearray local_side;
  Bytearray remote;  // expected
  Bytearray read_back;
};

// Do a transfer in one of its forms, and wait until it is complete.
template <class H, class T>
void transfer(Member<H>& me, Vis<H>& vis, Rank owner, const T& what, bool put, unsigned form) {
  core::Endpoint<H>& ep = me.endpoint;
  switch (form % 4) {
    case 0:
      put ? vis.put(owner, what) : vis.get(owner, what);
      break;
    case 1: {
      Event leaf = Event::no_op();
      Event event = put ? vis.put_nb(owner, what, LocalCompletion::event(leaf)) : vis.get_nb(owner, what);
      EXPECT(me, !event.is_no_op());
      if (put) ep.wait(leaf);
      ep.wait(event);
      break;
    }
    case 2:
      EXPECT(me, (put ? vis.put_nbi(owner, what, LocalCompletion::group()) : vis.get_nbi(owner, what)) == Status::ok);
      ep.wait_nbi(put ? EventSet::put : EventSet::get);
      break;
    default: {
      ep.begin_access_region();
      EXPECT(me, (put ? vis.put_nbi(owner, what, LocalCompletion::now()) : vis.get_nbi(owner, what)) == Status::ok);
      Event region = ep.end_access_region();
      ep.wait(region);
    }
  }
}

core::vis::Settings settings_of(std::uint64_t number) {
  constexpr std::array<Mechanism, 3> kMechanisms{Mechanism::automatic, Mechanism::pack, Mechanism::pieces};
  return {number % 4 == 3 ? Implementation::gasnet1 : Implementation::ex, kMechanisms[number / 4 % 3]};
}

template <class H>
void strided_transfers_move_what_they_name(Member<H>& me) {
  Areas<H> areas(me, 6000);
  for (std::uint64_t round = 0; round < rounds(48); ++round) {
    const Rank owner{static_cast<std::uint32_t>((me.self() + round) % me.ranks())};
    const core::vis::Settings settings = settings_of(me.random());
    Vis<H> vis(me.endpoint, settings);
    const bool put = me.random() % 2 == 0;
    const bool plain = settings.implementation == Implementation::gasnet1;
    Shape shape = random_shape(me.random, areas.size, !plain, plain);
    areas.fill(owner, seed_of(me.self(), round));
    std::byte* const to = (put ? areas.at(owner) : areas.local_side.data()) + shape.to.base;
    const std::byte* const from = (put ? areas.local_side.data() : areas.at(owner)) + shape.from.base;
    Bytearray expected = areas.local_side;
    put ? model(shape, areas.remote.data(), areas.local_side.data())
        : model(shape, expected.data(), areas.remote.data());
    transfer(me, vis, owner, Strided{to, shape.to.strides, from, shape.from.strides, shape.element, shape.counts}, put,
             static_cast<unsigned>(me.random()));
    EXPECT(me, areas.local_side == expected);
    EXPECT(me, areas.holds(owner));
  }
  me.endpoint.barrier();
}

// Arrays of strides and counts may change when a call returns.
template <class H>
void descriptions_are_used_up_at_return(Member<H>& me) {
  Areas<H> areas(me, 12'000);
  for (const Mechanism mechanism : {Mechanism::automatic, Mechanism::pack, Mechanism::pieces}) {
    Vis<H> vis(me.endpoint, {Implementation::ex, mechanism});
    for (const bool put : {true, false}) {
      areas.fill(me.next(), seed_of(me.self(), put));
      Shape shape{4, {10, 12, 5}, {{8, 90, 1200}, 0, 0}, {{-16, 900, 170}, 9 * 16, 0}};
      Bytearray expected = areas.local_side;
      put ? model(shape, areas.remote.data(), areas.local_side.data())
          : model(shape, expected.data(), areas.remote.data());
      std::byte* const to = put ? areas.at(me.next()) : areas.local_side.data();
      const std::byte* const from = (put ? areas.local_side.data() : areas.at(me.next())) + shape.from.base;
      const Strided what{to, shape.to.strides, from, shape.from.strides, shape.element, shape.counts};
      Event event = put ? vis.put_nb(me.next(), what) : vis.get_nb(me.next(), what);
      std::fill(shape.counts.begin(), shape.counts.end(), 77);
      std::fill(shape.to.strides.begin(), shape.to.strides.end(), 7777);
      std::fill(shape.from.strides.begin(), shape.from.strides.end(), -7777);
      me.endpoint.wait(event);
      EXPECT(me, areas.local_side == expected);
      EXPECT(me, areas.holds(me.next()));
    }
  }
  me.endpoint.barrier();
}

// Cut [0, total) into pieces, some of them empty, and place them in random order.
std::vector<Piece> random_pieces(std::mt19937_64& random, std::byte* area, Bytes total, Bytes largest) {
  std::vector<Piece> pieces;
  for (Bytes left = total; left != 0;) {
    const Bytes bytes = random() % 8 == 0 ? 0 : std::min<Bytes>(left, 1 + random() % largest);
    pieces.push_back({nullptr, bytes});
    left -= bytes;
  }
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  for (const std::size_t i : order) {
    pieces[i].at = area;
    area += pieces[i].bytes;
  }
  return pieces;
}

void model(const std::vector<Piece>& to, const std::vector<Piece>& from, std::byte* to_base, std::byte* from_base,
           const std::byte* to_area, const std::byte* from_area) {
  Bytearray bytes;
  for (const Piece& piece : from) {
    const std::byte* const at = from_base + (static_cast<const std::byte*>(piece.at) - from_area);
    bytes.insert(bytes.end(), at, at + piece.bytes);
  }
  const std::byte* next = bytes.data();
  for (const Piece& piece : to) {
    if (piece.bytes != 0) std::memcpy(to_base + (static_cast<std::byte*>(piece.at) - to_area), next, piece.bytes);
    next += piece.bytes;
  }
}

template <class H>
void lists_move_what_they_name(Member<H>& me) {
  Areas<H> areas(me, 6000);
  for (std::uint64_t round = 0; round < rounds(48); ++round) {
    const Rank owner{static_cast<std::uint32_t>((me.self() + round) % me.ranks())};
    Vis<H> vis(me.endpoint, settings_of(me.random()));
    const bool put = me.random() % 2 == 0;
    areas.fill(owner, seed_of(me.self(), round, 7));
    std::byte* const to_area = put ? areas.at(owner) : areas.local_side.data();
    std::byte* const from_area = put ? areas.local_side.data() : areas.at(owner);
    Bytearray expected = areas.local_side;
    const auto predict = [&](const std::vector<Piece>& to, const std::vector<Piece>& from) {
      model(to, from, put ? areas.remote.data() : expected.data(), put ? areas.local_side.data() : areas.remote.data(),
            to_area, from_area);
    };
    if (me.random() % 2 == 0) {
      const Bytes total = me.random() % 5 == 0 ? 0 : me.random() % areas.size;
      const Bytes largest = me.random() % 2 == 0 ? 20 : 2000;
      const auto to = random_pieces(me.random, to_area, total, largest);
      const auto from = random_pieces(me.random, from_area, total, me.random() % 2 == 0 ? largest : 300);
      predict(to, from);
      transfer(me, vis, owner, Vector{to, from}, put, static_cast<unsigned>(me.random()));
    } else {
      // Equal numbers of bytes in pieces of two sizes, at regular distances now and then.
      const Bytes unit = 1 + me.random() % 16;
      const Bytes a = 1 + me.random() % 6;
      const Bytes b = me.random() % 2 == 0 ? a : 1 + me.random() % 6;
      const Bytes groups = me.random() % (areas.size / (unit * a * b * 2) + 1);
      const bool regular = me.random() % 2 == 0;
      const auto side = [&](std::byte* area, Bytes bytes, Bytes count) {
        std::vector<Piece> pieces;
        std::vector<std::size_t> order(count);
        std::iota(order.begin(), order.end(), 0);
        if (!regular) std::shuffle(order.begin(), order.end(), me.random);
        for (const std::size_t i : order) pieces.push_back({area + i * bytes * 2, bytes});
        return pieces;
      };
      const auto to = side(to_area, unit * a, groups * b);
      const auto from = side(from_area, unit * b, groups * a);
      std::vector<void*> to_at;
      std::vector<void*> from_at;
      for (const Piece& piece : to) to_at.push_back(piece.at);
      for (const Piece& piece : from) from_at.push_back(piece.at);
      predict(to, from);
      transfer(me, vis, owner, Indexed{to_at, unit * a, from_at, unit * b}, put, static_cast<unsigned>(me.random()));
    }
    EXPECT(me, areas.local_side == expected);
    EXPECT(me, areas.holds(owner));
  }
  me.endpoint.barrier();
}

// Many transfers of every kind in flight at once.
template <class H>
void transfers_overlap(Member<H>& me) {
  Areas<H> areas(me, 8192);
  Vis<H> vis(me.endpoint);
  Vis<H> packing(me.endpoint, {Implementation::ex, Mechanism::pack});
  const Bytes part = areas.size / 16;
  const std::array<Bytes, 1> counts{part / 32};
  const std::array<std::ptrdiff_t, 1> wide{16};
  const std::array<std::ptrdiff_t, 1> dense{8};
  areas.fill(me.next(), seed_of(me.self(), 99));
  std::vector<Event> events;
  for (Bytes i = 0; i < 16; ++i) {
    const Shape shape{8, {counts[0]}, {{16}, i * part, 0}, {{8}, i * part, 0}};
    model(shape, areas.remote.data(), areas.local_side.data());
    const Strided what{areas.at(me.next()) + i * part, wide, areas.local_side.data() + i * part, dense, 8, counts};
    events.push_back((i % 2 == 0 ? vis : packing).put_nb(me.next(), what));
  }
  for (Event& event : events) me.endpoint.wait(event);
  EXPECT(me, areas.holds(me.next()));
  Bytearray back(areas.size);
  for (Bytes i = 0; i < 16; ++i) {
    const Strided what{back.data() + i * part, dense, areas.at(me.next()) + i * part, wide, 8, counts};
    EXPECT(me, (i % 2 == 0 ? vis : packing).get_nbi(me.next(), what) == Status::ok);
  }
  me.endpoint.wait_nbi();
  for (Bytes i = 0; i < 16; ++i) {
    EXPECT(me, std::equal(&back[i * part], &back[i * part] + 8 * counts[0], &areas.local_side[i * part]));
  }
  me.endpoint.barrier();
}

// ---- peer completion

template <class H>
struct Told {
  explicit Told(Member<H>& member) : me(member) {
    handlers = register_all<H>(me.endpoint, this, {&on_told});
    me.endpoint.barrier();
  }
  static void on_told(core::Token<H>& token) {
    auto& self = token.template context_as<Told>();
    Member<H>& me = self.me;
    ++self.count;
    EXPECT(me, !token.is_request());
    EXPECT(me, token.arguments().empty());
    if (token.size() == 0) return;
    // The payload names the bytes that must have arrived.
    std::array<std::uint64_t, 16> words{};
    EXPECT(me, token.size() == 127);
    std::memcpy(words.data(), token.payload(), token.size());
    const auto* const at = reinterpret_cast<const std::byte*>(words[0]);
    bool all = true;
    for (Bytes i = 0; i < words[1]; ++i) all = all && at[3 * i] == static_cast<std::byte>(words[2] + i);
    EXPECT(me, all);
  }
  Member<H>& me;
  std::array<HandlerIndex, 1> handlers{};
  std::uint64_t count = 0;
};

template <class H>
void the_peer_is_told_when_data_are_there(Member<H>& me) {
  Told<H> completions(me);
  Areas<H> areas(me, 24'000);
  std::uint64_t sent = 0;
  for (const Mechanism mechanism : {Mechanism::automatic, Mechanism::pack, Mechanism::pieces}) {
    Vis<H> vis(me.endpoint, {Implementation::ex, mechanism});
    const Bytes many = mechanism == Mechanism::pieces ? Bytes{100} : areas.size / 3;
    for (const Bytes count : {Bytes{0}, Bytes{40}, many}) {
      for (unsigned form = 0; form < 3; ++form) {
        ++sent;
        for (Bytes i = 0; i < count; ++i) areas.local_side[i] = static_cast<std::byte>(sent + i);
        const std::array<Bytes, 1> counts{count};
        const std::array<std::ptrdiff_t, 1> to{3};
        const std::array<std::ptrdiff_t, 1> from{1};
        std::array<std::uint64_t, 16> words{reinterpret_cast<std::uint64_t>(areas.at(me.next())), count, sent};
        const bool silent = form == 2;
        vis.set_peer_completion_handler(completions.handlers[0], words.data(), silent ? 0 : 127);
        transfer(me, vis, me.next(), Strided{areas.at(me.next()), to, areas.local_side.data(), from, 1, counts}, true,
                 form);
        me.endpoint.wait_until([&] { return completions.count >= sent; });  // before the next transfer changes the data
        me.endpoint.barrier();
        transfer(me, vis, me.next(), Strided{areas.at(me.next()), to, areas.local_side.data(), from, 1, counts}, true,
                 form);
        me.endpoint.barrier();
        EXPECT(me, completions.count == sent);  // armed for one put only
        me.endpoint.barrier();
      }
    }
  }
  Vis<H> vis(me.endpoint);
  vis.set_peer_completion_handler(completions.handlers[0], nullptr, 0);
  vis.set_peer_completion_handler(HandlerIndex{}, nullptr, 0);
  const std::array<void*, 1> to{areas.at(me.next())};
  const std::array<void*, 1> from{areas.local_side.data()};
  vis.put(me.next(), Indexed{to, 8, from, 8});
  me.endpoint.barrier();
  EXPECT(me, completions.count == sent);
  EXPECT(me, throws<UsageError>([&] { vis.set_peer_completion_handler(completions.handlers[0], nullptr, 1000); }));
  me.endpoint.barrier();
}

// ---- refusals

template <class H>
void refused_transfers_of_pieces_leave_nothing(Member<H>& me) {
  Areas<H> areas(me, 8000);
  areas.fill(me.next(), seed_of(me.self(), 5));
  const std::array<std::ptrdiff_t, 1> strides{16};
  std::uint64_t started = 0;
  std::uint64_t refused = 0;
  for (const Mechanism mechanism : {Mechanism::automatic, Mechanism::pack, Mechanism::pieces}) {
    Vis<H> vis(me.endpoint, {Implementation::ex, mechanism});
    for (std::uint64_t i = 0; i < 200; ++i) {
      const std::array<Bytes, 1> counts{i % 5 == 0 ? areas.size / 16 : 1 + i % 20};
      const bool put = i % 2 == 0;
      std::byte* const remote = areas.at(me.next());
      const Strided what = put ? Strided{remote, strides, areas.local_side.data(), strides, 8, counts}
                               : Strided{areas.read_back.data(), strides, remote, strides, 8, counts};
      const std::uint64_t before = refused;
      if (i % 3 == 0) {
        const Status status = put ? vis.put_nbi(me.next(), what, LocalCompletion::group(), Flags::immediate)
                                  : vis.get_nbi(me.next(), what, Flags::immediate);
        ++(status == Status::ok ? started : refused);
      } else {
        Event leaf = Event::done();
        Event event = put ? vis.put_nb(me.next(), what, LocalCompletion::event(leaf), Flags::immediate)
                          : vis.get_nb(me.next(), what, Flags::immediate);
        ++(event.is_no_op() ? refused : started);
        if (!event.is_no_op()) {
          me.endpoint.wait(leaf);
          me.endpoint.wait(event);
        }
      }
      if (refused != before) (void)me.endpoint.poll();  // otherwise the missing messages would never arrive
    }
  }
  EXPECT(me, started + refused == 600);
  // Planned refusals may stay in step with the answers that a peer needs from this rank. When those have ended, one
  // transfer succeeds.
  const std::array<Bytes, 1> single{1};
  Vis<H> vis(me.endpoint);
  for (std::uint64_t i = 0; started == 0 && i < 10'000; ++i) {
    const Strided what{areas.at(me.next()), strides, areas.local_side.data(), strides, 8, single};
    if (vis.put_nbi(me.next(), what, LocalCompletion::group(), Flags::immediate) == Status::ok) ++started;
    (void)me.endpoint.poll();
  }
  me.saw(started);
  EXPECT(me, started != 0);
  me.endpoint.wait_nbi();
  EXPECT(me, me.endpoint.outstanding_operations() == 0);
  me.endpoint.barrier();
}

template <class H>
void wrong_descriptions_are_refused(Member<H>& me) {
  Vis<H> vis(me.endpoint);
  std::byte* const remote = me.endpoint.segment(me.next()).address;
  std::array<std::byte, 64> local_side{};
  const std::array<Bytes, 2> counts{2, 3};
  const std::array<std::ptrdiff_t, 1> single{8};
  const std::array<std::ptrdiff_t, 2> two{8, 16};
  const std::array<std::ptrdiff_t, 2> transposed{24, 8};
  EXPECT(me,
         throws<UsageError>([&] { vis.put(me.next(), Strided{remote, single, local_side.data(), two, 8, counts}); }));
  EXPECT(me,
         throws<UsageError>([&] { vis.get(me.next(), Strided{local_side.data(), two, remote, single, 8, counts}); }));
  EXPECT(me, throws<UsageError>(
                 [&] { vis.put(Rank{me.ranks()}, Strided{remote, two, local_side.data(), two, 8, counts}); }));
  const std::array<Piece, 2> long_list{{{local_side.data(), 8}, {local_side.data() + 8, 9}}};
  const std::array<Piece, 1> short_list{{{remote, 16}}};
  EXPECT(me, throws<UsageError>([&] { vis.put(me.next(), Vector{short_list, long_list}); }));
  const std::array<void*, 1> to{remote};
  const std::array<void*, 1> from{local_side.data()};
  EXPECT(me, throws<UsageError>([&] { vis.put(me.next(), Indexed{to, 8, from, 7}); }));
  Vis<H> old(me.endpoint, {Implementation::gasnet1, Mechanism::automatic});
  EXPECT(me, throws<UsageError>(
                 [&] { old.put(me.next(), Strided{remote, transposed, local_side.data(), two, 8, counts}); }));
  // In all builds, for every mechanism and path to the peer: strides that leave the segment or need more than 64 bits
  // are refused.
  constexpr std::ptrdiff_t kFar = std::ptrdiff_t{1} << 62U;
  for (const Implementation implementation : {Implementation::ex, Implementation::gasnet1}) {
    for (const Mechanism mechanism : {Mechanism::automatic, Mechanism::pack, Mechanism::pieces}) {
      Vis<H> any(me.endpoint, {implementation, mechanism});
      for (const std::ptrdiff_t stride :
           {std::ptrdiff_t{-16}, std::ptrdiff_t{1} << 40U, kFar, -kFar, kFar - 1 + kFar}) {
        const std::array<std::ptrdiff_t, 2> away{8, stride};
        EXPECT(me, throws<UsageError>(
                       [&] { any.put(me.next(), Strided{remote, away, local_side.data(), two, 8, counts}); }));
        EXPECT(me, throws<UsageError>(
                       [&] { any.get(me.next(), Strided{local_side.data(), two, remote, away, 8, counts}); }));
      }
      const std::array<Bytes, 2> many{Bytes{1} << 40U, Bytes{1} << 40U};
      const std::array<std::ptrdiff_t, 2> same{0, 0};
      EXPECT(me,
             throws<UsageError>([&] { any.get(me.next(), Strided{local_side.data(), same, remote, same, 8, many}); }));
    }
  }
  if constexpr (core::kChecked) {
    const std::array<void*, 1> outside{remote - 8};
    EXPECT(me, throws<UsageError>([&] { vis.get(me.next(), Indexed{from, 8, outside, 8}); }));
  }
  if (me.endpoint.map(me.next(), remote) == nullptr) {
    Vis<H> direct(me.endpoint, {Implementation::ex, Mechanism::direct});
    EXPECT(me, throws<UsageError>([&] { direct.put(me.next(), Indexed{to, 8, from, 8}); }));
  }
  EXPECT(me, me.endpoint.outstanding_operations() == 0);
  me.endpoint.barrier();
}

}  // namespace

template <class H>
Cases<H> vis_cases() {
  return {{"strided_transfers_move_what_they_name", &strided_transfers_move_what_they_name<H>},
          {"descriptions_are_used_up_at_return", &descriptions_are_used_up_at_return<H>},
          {"lists_move_what_they_name", &lists_move_what_they_name<H>},
          {"transfers_overlap", &transfers_overlap<H>},
          {"the_peer_is_told_when_data_are_there", &the_peer_is_told_when_data_are_there<H>},
          {"refused_transfers_of_pieces_leave_nothing", &refused_transfers_of_pieces_leave_nothing<H>},
          {"wrong_descriptions_are_refused", &wrong_descriptions_are_refused<H>}};
}

template Cases<RealHost> vis_cases();
template Cases<ThreadedHost> vis_cases();
template Cases<sim::ModelHost> vis_cases();

}  // namespace gasmeter::conformance
