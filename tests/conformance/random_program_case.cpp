// A random program against a sequential model: puts, gets, strided ones, messages and atomics to places that one rank
// alone writes.
//
// Data may appear from initiation on and must be there at completion. Sources are overwritten right after their local
// completion. The owner watches its memory and must never see an older value after a newer one.
#include <algorithm>
#include <cstring>

#include "cases.hpp"
#include "gasmeter/core/atomics/domain.hpp"
#include "gasmeter/core/negotiated.hpp"
#include "gasmeter/core/vis/vis.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

using core::AtomicOp;
using core::Event;
using core::LocalCompletion;

constexpr std::array<std::size_t, 8> kCellWords{1, 1, 2, 7, 33, 120, 511, 1000};
constexpr std::size_t kAreaWords = 2048;  // of one writer in one segment
constexpr std::size_t kSharedAt = 2046;   // in the area of writer 0: all ranks add to it
constexpr std::size_t kTotals = 8;        // board: from here on, sums that each rank added

// A range of words that all hold the number of its last version.
template <class H>
struct Cell {
  Rank owner{};
  std::uint32_t number = 0;
  std::uint64_t* at = nullptr;
  std::uint64_t version = 0;
  std::vector<std::uint64_t> buffer;
  Event event;
  enum class Pending : std::uint8_t { nothing, put, get, message } pending = Pending::nothing;
  bool answered = false;

  [[nodiscard]] Bytes bytes() const { return buffer.size() * sizeof(std::uint64_t); }
};

template <class H>
class RandomProgram {
 public:
  using C = Cell<H>;
  using Pending = typename C::Pending;

  explicit RandomProgram(Member<H>& member)
      : me_(member),
        ep_(member.endpoint),
        vis_(ep_),
        domain_(ep_, {AtomicOp::fadd, AtomicOp::get, AtomicOp::add}),
        watched_(kAreaWords * ep_.ranks()),
        words_(ep_.ranks()) {
    for (std::uint32_t owner = 0; owner < ep_.ranks(); ++owner) {
      std::size_t at = 0;
      for (const std::size_t words : kCellWords) {
        C& cell = cells_.emplace_back();
        cell.owner = Rank{owner};
        cell.number = static_cast<std::uint32_t>(cells_.size() - 1);
        cell.at = area(Rank{owner}, me_.self()) + at;
        cell.buffer.resize(words);
        at += words;
      }
    }
    handlers_ = register_all<H>(ep_, this, {&on_long, &on_medium, &on_answer});
    std::memset(ep_.segment().address, 0, watched_.size() * 8);
    ep_.barrier();
  }

  void step() {
    C& cell = cells_[me_.random() % cells_.size()];
    finish(cell);
    switch (me_.random() % 14) {
      case 0:
        fill(cell);
        ep_.put(cell.owner, cell.at, cell.buffer.data(), cell.bytes());
        forget(cell);
        break;
      case 1:
      case 2: {
        fill(cell);
        cell.event = ep_.put_nb(cell.owner, cell.at, cell.buffer.data(), cell.bytes());
        cell.pending = Pending::put;
        break;
      }
      case 3: {
        fill(cell);
        cell.event = ep_.put_nb(cell.owner, cell.at, cell.buffer.data(), cell.bytes(), LocalCompletion::now());
        cell.pending = Pending::put;
        forget(cell);
        break;
      }
      case 4: {
        fill(cell);
        Event leaf = Event::no_op();
        cell.event = ep_.put_nb(cell.owner, cell.at, cell.buffer.data(), cell.bytes(), LocalCompletion::event(leaf));
        cell.pending = Pending::put;
        if (me_.random() % 2 == 0) {
          ep_.wait(leaf);
          forget(cell);
        }  // otherwise consuming the root consumes the leaf
        break;
      }
      case 5:
        if (cell.buffer.size() == 1) {
          cell.event = ep_.put_value_nb(cell.owner, cell.at, ++cell.version, 8);
          cell.pending = Pending::put;
        } else {
          region(cell);
        }
        break;
      case 6:
        get(cell);
        break;
      case 7:
        send_long(cell, me_.random() % 2 == 0);
        break;
      case 8:
        send_medium(cell, me_.random() % 2 == 0);
        break;
      case 9:
        add(cell.owner);
        break;
      case 10:
        watch();
        break;
      case 11:
        put_pieces(cell);
        break;
      case 12:
        get_pieces(cell);
        break;
      default:
        ep_.poll();
    }
  }

  void end() {
    std::vector<C*> order;
    for (C& cell : cells_) order.push_back(&cell);
    std::shuffle(order.begin(), order.end(), me_.random);
    for (C* cell : order) finish(*cell);
    for (C& cell : cells_) {
      get(cell);
      finish(cell);
    }
    for (std::uint32_t owner = 0; owner < ep_.ranks(); ++owner) me_.post(kTotals + me_.self(), added_);
    ep_.barrier();
    watch();
    std::uint64_t all = 0;
    std::uint64_t expected = 0;
    for (std::uint32_t rank = 0; rank < ep_.ranks(); ++rank) {
      all += domain_.template wait<AtomicOp::get>(Rank{rank}, area(Rank{rank}, 0) + kSharedAt);
      expected += me_.posted(kTotals + rank);
    }
    EXPECT(me_, all == expected);
    ep_.barrier();
  }

 private:
  std::uint64_t* area(Rank owner, std::uint32_t writer) const {
    return reinterpret_cast<std::uint64_t*>(ep_.segment(owner).address) + writer * kAreaWords;
  }

  void fill(C& cell) { std::fill(cell.buffer.begin(), cell.buffer.end(), ++cell.version); }
  static void forget(C& cell) { std::fill(cell.buffer.begin(), cell.buffer.end(), 0); }
  static bool holds(const std::uint64_t* words, std::size_t count, std::uint64_t version) {
    return std::all_of(words, words + count, [&](std::uint64_t word) { return word == version; });
  }

  void finish(C& cell) {
    switch (cell.pending) {
      case Pending::nothing:
        return;
      case Pending::message:
        ep_.wait_until([&] { return cell.answered; });
        break;
      case Pending::put:
        if (me_.random() % 2 == 0) {
          ep_.wait(cell.event);
        } else {
          ep_.wait_some({&cell.event, 1});
        }
        break;
      case Pending::get:
        while (!ep_.test(cell.event)) ep_.poll();
        EXPECT(me_, holds(cell.buffer.data(), cell.buffer.size(), cell.version));
        break;
    }
    forget(cell);
    cell.pending = Pending::nothing;
  }

  void get(C& cell) {
    cell.event = ep_.get_nb(cell.owner, cell.buffer.data(), cell.at, cell.bytes());
    cell.pending = Pending::get;
  }

  // A cell word by word: backwards in this rank's memory and, if the number is even, every other word first at the
  // peer.
  struct Pieces {
    explicit Pieces(C& cell) : last(&cell.buffer.back()) {
      const std::size_t words = cell.buffer.size();
      if (words % 2 == 0) {
        counts = {words / 2, 2};
        local_strides = {-8, -static_cast<std::ptrdiff_t>(words) * 4};
        remote_strides = {16, 8};
      } else {
        counts = {words};
        local_strides = {-8};
        remote_strides = {8};
      }
    }
    std::uint64_t* last;
    std::vector<Bytes> counts;
    std::vector<std::ptrdiff_t> local_strides;
    std::vector<std::ptrdiff_t> remote_strides;
  };
  void put_pieces(C& cell) {
    fill(cell);
    const Pieces pieces(cell);
    const core::vis::Strided what{cell.at, pieces.remote_strides, pieces.last, pieces.local_strides, 8, pieces.counts};
    const bool now = me_.random() % 2 == 0;
    cell.event = vis_.put_nb(cell.owner, what, now ? LocalCompletion::now() : LocalCompletion::defer());
    cell.pending = Pending::put;
    if (now) forget(cell);
  }
  void get_pieces(C& cell) {
    const Pieces pieces(cell);
    cell.event = vis_.get_nb(cell.owner, core::vis::Strided{pieces.last, pieces.local_strides, cell.at,
                                                            pieces.remote_strides, 8, pieces.counts});
    cell.pending = Pending::get;
  }

  // Put a cell and then get it, each in its own region.
  void region(C& cell) {
    fill(cell);
    ep_.begin_access_region();
    EXPECT(me_, ep_.put_nbi(cell.owner, cell.at, cell.buffer.data(), cell.bytes()) == Status::ok);
    Event done = ep_.end_access_region();
    ep_.wait(done);
    forget(cell);
    EXPECT(me_, ep_.get_nbi(cell.owner, cell.buffer.data(), cell.at, cell.bytes()) == Status::ok);
    ep_.wait_nbi(core::EventSet::get);
    EXPECT(me_, holds(cell.buffer.data(), cell.buffer.size(), cell.version));
  }

  void add(Rank owner) {
    std::uint64_t before = 0;
    Event event = domain_.template nb<AtomicOp::fadd>(&before, owner, area(owner, 0) + kSharedAt, 3);
    ep_.wait(event);
    added_ += 3;
    EXPECT(me_, before % 3 == 0 && before >= words_[index(owner)]);
    words_[index(owner)] = before + 3;
  }

  [[nodiscard]] static std::int32_t low(std::uint64_t version) { return static_cast<std::int32_t>(version); }

  void send_long(C& cell, bool negotiated) {
    if (cell.bytes() > ep_.max_long()) return;
    fill(cell);
    cell.answered = false;
    cell.pending = Pending::message;
    const auto number = static_cast<std::int32_t>(cell.number);
    const auto words = static_cast<std::int32_t>(cell.buffer.size());
    if (negotiated) {
      auto sd = ep_.prepare_long(cell.owner, nullptr, cell.bytes(), cell.bytes(), nullptr, 3);
      std::memcpy(sd.data(), cell.buffer.data(), cell.bytes());
      EXPECT(me_, sd.commit_long(handlers_[0], cell.bytes(), cell.at, Flags::none, number, low(cell.version), words) ==
                      Status::ok);
    } else {
      EXPECT(me_, ep_.request_long(cell.owner, handlers_[0], cell.buffer.data(), cell.bytes(), cell.at, Flags::none,
                                   number, low(cell.version), words) == Status::ok);
    }
    forget(cell);
  }
  // Send the cell, which stays unchanged. The answer is a Medium with the negated payload.
  void send_medium(C& cell, bool negotiated) {
    if (cell.bytes() > ep_.max_medium()) return;
    std::fill(cell.buffer.begin(), cell.buffer.end(), cell.version);
    cell.answered = false;
    cell.pending = Pending::message;
    const auto number = static_cast<std::int32_t>(cell.number);
    const auto words = static_cast<std::int32_t>(cell.buffer.size());
    if (negotiated) {
      Event leaf;
      const bool client = me_.random() % 2 == 0;
      auto sd = ep_.prepare_medium(cell.owner, client ? cell.buffer.data() : nullptr, cell.bytes(), cell.bytes(), 3,
                                   client ? LocalCompletion::event(leaf) : LocalCompletion::now());
      if (!client) std::memcpy(sd.data(), cell.buffer.data(), cell.bytes());
      EXPECT(me_, sd.commit(handlers_[1], cell.bytes(), Flags::none, number, low(cell.version), words) == Status::ok);
      ep_.wait(leaf);
    } else {
      EXPECT(me_, ep_.request_medium(cell.owner, handlers_[1], cell.buffer.data(), cell.bytes(), Flags::none, number,
                                     low(cell.version), words) == Status::ok);
    }
    forget(cell);
  }

  // Check the words that others write here: they are never older than the values seen before.
  void watch() {
    // this is a race on purpose, not for a race detector
    if constexpr (!H::kModelled && !testing::kSeesThroughMappings) return;
    ep_.host().synchronise();
    const auto* const words = reinterpret_cast<const std::uint64_t*>(ep_.segment().address);
    for (std::size_t i = 0; i < watched_.size(); i += 1 + me_.random() % 64) {
      const std::uint64_t now =
          std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(words[i])).load(std::memory_order_relaxed);
      EXPECT(me_, now >= watched_[i]);
      watched_[i] = now;
    }
  }

  void arrived(core::Token<H>& token) {
    const auto* const words = static_cast<const std::uint64_t*>(token.payload());
    const auto count = static_cast<std::size_t>(token.argument(2));
    EXPECT(me_, token.size() == 8 * count);
    EXPECT(me_, token.size() != 8 * count ||
                    holds(words, count, static_cast<std::uint64_t>(static_cast<std::uint32_t>(token.argument(1)))));
    me_.saw(token.size() + index(token.source()));
  }
  static void on_long(core::Token<H>& token) {
    auto& self = token.template context_as<RandomProgram>();
    self.arrived(token);
    (void)token.reply_short(self.handlers_[2], token.argument(0));
  }
  static void on_medium(core::Token<H>& token) {
    auto& self = token.template context_as<RandomProgram>();
    self.arrived(token);
    auto sd = token.prepare_medium(nullptr, 1, 64, 1);
    std::memset(sd.data(), 0x5a, sd.size());
    (void)sd.commit(self.handlers_[2], sd.size(), Flags::none, token.argument(0));
  }
  static void on_answer(core::Token<H>& token) {
    auto& self = token.template context_as<RandomProgram>();
    C& cell = self.cells_[static_cast<std::size_t>(token.argument(0))];
    EXPECT(self.me_, !cell.answered && cell.pending == Pending::message);
    EXPECT(self.me_, testing::is_filled(token.payload(), token.size(), 0x5a));
    cell.answered = true;
  }

  Member<H>& me_;
  core::Endpoint<H>& ep_;
  core::Vis<H> vis_;
  core::AtomicDomain<H, std::uint64_t> domain_;
  std::vector<C> cells_;
  std::array<HandlerIndex, 3> handlers_{};
  std::vector<std::uint64_t> watched_;
  std::vector<std::uint64_t> words_;
  std::uint64_t added_ = 0;
};

template <class H>
void random_program_agrees_with_its_model(Member<H>& me) {
  RandomProgram<H> program(me);
  const std::uint64_t steps = std::max<std::uint64_t>(80, rounds(250));
  for (std::uint64_t i = 0; i < steps; ++i) program.step();
  program.end();
}

}  // namespace

template <class H>
Case<H> random_program_case() {
  return {"random_program_agrees_with_its_model", &random_program_agrees_with_its_model<H>};
}

template Case<RealHost> random_program_case();
template Case<ThreadedHost> random_program_case();
template Case<sim::ModelHost> random_program_case();

}  // namespace gasmeter::conformance
