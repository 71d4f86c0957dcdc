// To and fro between ranks 0 and 1, as perftest has it. Shorts (a word) and Mediums are sends into posted receives;
// Longs are RDMA writes into memory whose last byte the other side watches: it counts the messages. Puts and gets are
// RDMA writes and reads, over when their completion has been polled; the target's software has no part in them.
#include <algorithm>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/networks/ibv/raw/programs.hpp"

namespace gasmeter::networks::ibv::raw {

using namespace bench;

namespace {

constexpr Bytes kShort = 8;
constexpr std::uint32_t kAddress = Word::kBarrierRounds;  // where the other rank's memory is

class PingPong final : public Program {
 public:
  PingPong(Context context, const Settings& settings)
      : verbs_(context, *this, settings.op.starts_with("am-") ? settings.size : 0),
        self_(context.rank),
        peer_{1 - std::min(index(context.rank), 1U)},
        seed_(settings.seed),
        size_(settings.op == "am-short" ? kShort : settings.size),
        memory_(2 * std::max(size_, kShort)) {
    require_ranks(settings, 2);
    if (settings.op == "call") refuse_raw_op(settings, "ibv", "am-short, am-medium, am-long, put, get");
    is_am_ = settings.op.starts_with("am-");
    is_get_ = settings.op == "get";
    watches_ = settings.op == "am-long";
    if (watches_ && size_ == 0) throw UsageError("kernel ping-pong on raw@ibv: a Long of 0 bytes changes no memory");
    verbs_.card().register_memory(memory_);
  }

  BlockResult run(std::uint64_t iterations) override {
    meet();
    BlockResult result;
    const SimTime start = verbs_.host().now();
    if (self_ == Rank{0}) {
      for (std::uint64_t i = 0; i < iterations; ++i) initiate();
      result = {verbs_.host().now() - start, iterations, {}};
      result.add_time_per_operation(is_am_ ? "round_trip" : "latency");
    } else if (self_ == Rank{1} && is_am_) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        receive();
        send();
      }
    }
    (void)verbs_.barrier();
    return result;
  }

  Verification verify() override {
    const std::uint64_t self = index(self_);
    // A Long's last byte is its number, and stays.
    const Bytes checked = watches_ ? size_ - 1 : size_;
    Verification verification;
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      fill_pattern(std::span(outgoing(), checked), seed_ + 2 * round + self);
      (void)run(1);
      // A put arrives at rank 1 alone, a get at rank 0.
      if (self > 1 || !(is_am_ || self == (is_get_ ? 0 : 1))) continue;
      verification.checked += size_ + 1;
      verification.errors += count_differences(incoming(), checked, seed_ + 2 * round + 1 - self);
      if (is_am_) verification.errors += arrived_ != size_ ? 1U : 0U;
    }
    return verification;
  }

  void received(const std::byte* data, const WorkCompletion& completion) {
    std::memcpy(incoming(), data, std::min(completion.bytes, size_));  // of this program's checks, not of the exchange
    arrived_ = completion.bytes;
    ++messages_;
  }
  void done(const WorkCompletion& completion) {
    if (completion.opcode == Opcode::write || completion.opcode == Opcode::read) ++done_;
  }
  void told(Rank /*from*/, const Word& word) { remote_ = word.address; }

 private:
  [[nodiscard]] std::byte* outgoing() const { return memory_.data(); }
  [[nodiscard]] std::byte* incoming() const { return memory_.data() + memory_.size() / 2; }

  // Before the first block ranks 0 and 1 tell each other where their memory is.
  void meet() {
    if (remote_ == nullptr && index(self_) < 2) {
      verbs_.tell(peer_, {kAddress, 0, 0, 0, memory_.data()});
      verbs_.wait_until([&] { return remote_ != nullptr; });
    }
    (void)verbs_.barrier();
  }
  void post(Opcode opcode) {
    const mutants::Transfer planned = mutants::transfer(size_);
    if (planned.dropped) return;
    const bool reads = opcode == Opcode::read;
    WorkRequest request;
    request.opcode = opcode;
    request.local = reads ? incoming() + planned.to : outgoing() + planned.from;
    request.remote = reads ? remote_ + planned.from : remote_ + memory_.size() / 2 + planned.to;
    request.bytes = planned.bytes;
    request.inlined = opcode != Opcode::read && size_ <= verbs_.card().parameters().inline_limit;
    verbs_.post(peer_, request);
  }
  void send() {
    if (watches_) outgoing()[size_ - 1] = static_cast<std::byte>(++sent_);
    post(watches_ ? Opcode::write : Opcode::send);
  }
  void receive() {
    ++expected_;
    if (!watches_) {
      verbs_.wait_until([&] { return messages_ == expected_; });
      return;
    }
    const volatile std::byte* const last = incoming() + size_ - 1;
    verbs_.wait_until([&] {
      verbs_.host().synchronise();
      return *last == static_cast<std::byte>(expected_);
    });
    verbs_.host().charge_shared(conduit::SharedPrice::line_transfer);
    arrived_ = size_;
  }
  void initiate() {
    if (is_am_) {
      send();
      receive();
      return;
    }
    const std::uint64_t before = done_;
    post(is_get_ ? Opcode::read : Opcode::write);
    verbs_.wait_until([&] { return done_ != before; });
  }

  Verbs<PingPong> verbs_;
  Rank self_;
  Rank peer_;
  std::uint64_t seed_;
  Bytes size_;
  AlignedBuffer memory_;  // what goes out, then what comes in
  bool is_am_ = false;
  bool is_get_ = false;
  bool watches_ = false;
  std::byte* remote_ = nullptr;
  std::uint64_t messages_ = 0;
  std::uint64_t expected_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t done_ = 0;
  Bytes arrived_ = 0;
};

}  // namespace

std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings) {
  return std::make_unique<PingPong>(context, settings);
}

}  // namespace gasmeter::networks::ibv::raw
