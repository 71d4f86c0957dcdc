// Fetch-and-adds by the atomic unit of the owner's card. The operations run one after the other, or several at a time
// with a place each for the fetched value. The unit also sets and reads the word.
#include "gasmeter/bench/fetch_add.hpp"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "gasmeter/base/number_pool.hpp"
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/networks/aries/raw/card.hpp"

namespace gasmeter::networks::aries::raw {

using namespace bench;

namespace {

template <class Value>
class FetchAdd final : public Program {
 public:
  FetchAdd(Context context, const Settings& settings)
      : card_(context, *this, 0),
        op_(fetch_add::parse_op(settings.op)),
        roles_(op_, context.rank, card_.ranks()),
        memory_(kFetchedAt + kPlaces * sizeof(Value)),
        places_(0, kPlaces) {
    require_ranks(settings, op_ == Op::hot_spot ? 1 : 2);
    card_.register_memory(memory_);
  }

  [[nodiscard]] bool compares() const override { return roles_.adds || card_.rank() == roles_.owner; }

  BlockResult run(std::uint64_t iterations) override {
    (void)card_.barrier();
    mutants::begin_window();
    const SimTime start = card_.host().read_clock();
    SimTime end = start;
    if (roles_.adds) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        begin(AmoCommand::add, mutants::operand(fetch_add::added<Value>(i)));
        if (op_ == Op::latency) wait_for_all();
      }
      wait_for_all();
      end = card_.host().read_clock();
    }
    (void)card_.barrier();
    if (op_ == Op::hot_spot) end = card_.host().read_clock();
    return fetch_add::result_of(op_, end - start, op_ == Op::hot_spot ? iterations * card_.ranks() : iterations);
  }

  Verification verify() override {
    Verification verification;
    const std::uint64_t adding = op_ == Op::hot_spot ? card_.ranks() : 1;
    clear();
    (void)run(roles_.checked);
    check_word(verification, fetch_add::added_by(roles_.checked) * adding);
    clear();
    fetched_.clear();
    for (std::uint64_t i = 0; roles_.adds && i < roles_.checked; ++i) begin(AmoCommand::add, Value{1});
    wait_for_all();
    std::vector<std::uint64_t> drawn = std::exchange(fetched_, {});
    (void)card_.barrier();
    fetch_add::check_drawn(verification, std::move(drawn), roles_.checked * adding);
    check_word(verification, roles_.checked * adding);
    return verification;
  }

  void received(const std::byte* /*data*/, Bytes /*bytes*/) {}
  void notified(Bytes place) {
    places_.give(static_cast<std::uint32_t>(place));
    Value was = 0;
    std::memcpy(&was, memory_.data() + at(static_cast<std::uint32_t>(place)), sizeof was);
    if (fetched_.size() < roles_.checked) fetched_.push_back(was);
  }
  void told(const CardWord& /*word*/) {}

 private:
  using Op = fetch_add::Op;
  static constexpr Bytes kWordAt = 0;
  static constexpr Bytes kFetchedAt = 64;
  static constexpr std::uint32_t kPlaces = 64;
  static constexpr AmoType kType = sizeof(Value) == 8 ? AmoType::i64 : AmoType::i32;

  [[nodiscard]] static Bytes at(std::uint32_t place) { return kFetchedAt + place * sizeof(Value); }
  void begin(AmoCommand command, Value operand) {
    card_.wait_until([&] { return !places_.empty(); });
    const std::uint32_t place = places_.take();
    AmoOperands operands{};
    std::memcpy(operands.data(), &operand, sizeof operand);
    card_.amo(roles_.owner, kWordAt, command, kType, operands, memory_.data() + at(place), place);
  }
  void wait_for_all() {
    card_.wait_until([&] { return places_.all_free(); });
  }
  void clear() {
    if (card_.rank() == roles_.owner) {
      begin(AmoCommand::swap, Value{0});
      wait_for_all();
    }
    (void)card_.barrier();
  }
  void check_word(Verification& verification, std::uint64_t expected) {
    if (card_.rank() == roles_.owner || roles_.adds) {
      fetched_.clear();
      begin(AmoCommand::add, Value{0});
      wait_for_all();
      ++verification.checked;
      verification.errors += fetched_.front() != expected ? 1U : 0U;
    }
    (void)card_.barrier();
  }

  Card<FetchAdd> card_;
  Op op_;
  fetch_add::Roles roles_;
  AlignedBuffer memory_;
  NumberPool places_;
  std::vector<std::uint64_t> fetched_;  // the first ones since it was cleared
};

}  // namespace

std::unique_ptr<Program> make_fetch_add(Context context, const Settings& settings) {
  if (fetch_add::is_wide(settings)) return std::make_unique<FetchAdd<std::uint64_t>>(context, settings);
  return std::make_unique<FetchAdd<std::uint32_t>>(context, settings);
}

}  // namespace gasmeter::networks::aries::raw
