// A stream from rank 0 to rank 1. Shorts (a word) and Mediums are sends; rank 1 grants credit, so that none finds no
// receive. A Long is an RDMA write and an empty send behind it. Puts and gets are RDMA writes and reads, over when the
// completion of the last one has been polled.
#include <algorithm>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/networks/ibv/raw/programs.hpp"

namespace gasmeter::networks::ibv::raw {

using namespace bench;

namespace {

constexpr std::uint32_t kCredit = Word::kBarrierRounds + 1;  // kGrant messages have been taken
constexpr std::uint32_t kEnd = Word::kBarrierRounds + 2;     // all have

class Flood final : public Program {
 public:
  Flood(Context context, const Settings& settings)
      : verbs_(context, *this, settings.op == "am-medium" ? settings.size : kShortBytes),
        self_(context.rank),
        peer_{1 - std::min(index(context.rank), 1U)},
        seed_(settings.seed),
        is_short_(settings.op == "am-short"),
        is_long_(settings.op == "am-long"),
        is_get_(settings.op == "get"),
        is_put_(settings.op == "put"),
        size_(is_short_ ? kShortBytes : settings.size),
        memory_(std::max(size_, kShortBytes)) {
    require_ranks(settings, 2);
    verbs_.card().register_memory(memory_);
    fill_pattern(memory_, seed_);
  }

  BlockResult run(std::uint64_t iterations) override {
    meet();
    BlockResult result;
    if (self_ == Rank{0}) {
      const SimTime start = verbs_.host().now();
      stream(iterations);
      result = {verbs_.host().now() - start, iterations, {}};
      if (!is_short_) result.add_bandwidth(size_);
      result.add_rate();
    } else if (self_ == Rank{1} && !is_get_ && !is_put_) {
      serve(iterations);
    }
    (void)verbs_.barrier();
    return result;
  }

  Verification verify() override {
    const bool target = self_ == (is_get_ ? Rank{0} : Rank{1});
    const bool source = self_ == (is_get_ ? Rank{1} : Rank{0});
    checking_ = true;
    found_ = {};
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      pattern_ = seed_ + round;
      if (source) fill_pattern(memory_, pattern_);
      (void)run(round == 1 ? kChecked : 1);
      if (target && (is_long_ || is_get_ || is_put_)) check(memory_.data(), size_, size_);
    }
    checking_ = false;
    return found_;
  }

  void received(const std::byte* data, const WorkCompletion& completion) {
    ++arrived_;
    if (checking_) check(data, completion.bytes, is_long_ ? 0 : size_);
  }
  void done(const WorkCompletion& completion) {
    if (completion.opcode != Opcode::send) ++done_;
  }
  void told(Rank /*from*/, const Word& word) {
    switch (word.kind) {
      case kAddress:
        remote_ = word.address;
        break;
      case kCredit:
        credit_ += kGrant;
        break;
      default:
        ended_ = true;
    }
  }

 private:
  static constexpr std::uint64_t kChecked = 100;
  static constexpr std::uint64_t kGrant = Verbs<Flood>::kReceives / 2;

  void check(const std::byte* data, Bytes size, Bytes expected) {
    found_.checked += 1 + expected;
    found_.errors += size != expected ? 1U : 0U;
    found_.errors += count_differences(data, std::min(size, expected), pattern_);
  }

  void meet() {
    if (remote_ == nullptr && index(self_) < 2) {
      verbs_.tell(peer_, {kAddress, 0, 0, 0, memory_.data()});
      verbs_.wait_until([&] { return remote_ != nullptr; });
    }
    arrived_ = done_ = 0;
    ended_ = false;
    credit_ = 2 * kGrant;
    (void)verbs_.barrier();
  }

  void post(Opcode opcode, Bytes bytes, bool signaled) {
    const mutants::Transfer planned = mutants::transfer(bytes);
    if (planned.dropped) return;
    const bool reads = opcode == Opcode::read;
    WorkRequest request;
    request.opcode = opcode;
    request.local = memory_.data() + (reads ? planned.to : planned.from);
    request.remote = remote_ + (reads ? planned.from : planned.to);
    request.bytes = planned.bytes;
    request.inlined = opcode != Opcode::read && bytes <= verbs_.card().parameters().inline_limit;
    request.signaled = signaled;
    verbs_.post(peer_, request);
  }

  void stream(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      if (is_get_ || is_put_) {
        post(is_get_ ? Opcode::read : Opcode::write, size_, true);
        continue;
      }
      verbs_.wait_until([&] { return credit_ != 0; });
      --credit_;
      if (is_long_) post(Opcode::write, size_, false);
      post(Opcode::send, is_long_ ? 0 : size_, true);
    }
    if (is_get_ || is_put_) {
      verbs_.wait_until([&] { return done_ == iterations; });
    } else {
      verbs_.wait_until([&] { return ended_; });
    }
  }

  void serve(std::uint64_t iterations) {
    for (std::uint64_t granted = 0; granted + kGrant <= iterations; granted += kGrant) {
      verbs_.wait_until([&] { return arrived_ >= granted + kGrant; });
      verbs_.tell(peer_, {kCredit, 0, 0, 0, nullptr});
    }
    verbs_.wait_until([&] { return arrived_ == iterations; });
    verbs_.tell(peer_, {kEnd, 0, 0, 0, nullptr});
  }

  Verbs<Flood> verbs_;
  Rank self_;
  Rank peer_;
  std::uint64_t seed_;
  bool is_short_;
  bool is_long_;
  bool is_get_;
  bool is_put_;
  Bytes size_;
  AlignedBuffer memory_;
  std::byte* remote_ = nullptr;
  std::uint64_t credit_ = 0;  // messages
  std::uint64_t arrived_ = 0;
  std::uint64_t done_ = 0;
  bool ended_ = false;
  bool checking_ = false;
  std::uint64_t pattern_ = 0;
  Verification found_;
};

}  // namespace

std::unique_ptr<Program> make_flood(Context context, const Settings& settings) {
  return std::make_unique<Flood>(context, settings);
}

}  // namespace gasmeter::networks::ibv::raw
