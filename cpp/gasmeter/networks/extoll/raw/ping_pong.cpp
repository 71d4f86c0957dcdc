// To and fro between ranks 0 and 1. Messages that fit a VELO packet are one (Shorts: a word); others and Longs are an
// RMA put, announced at the other side by the completer's notification. A put is answered by a VELO word of the
// target's software, since the card tells its origin nothing of it; a get is the card's alone.
#include <algorithm>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/networks/extoll/raw/programs.hpp"

namespace gasmeter::networks::extoll::raw {

using namespace bench;

namespace {

constexpr Bytes kWord = 8;
constexpr std::uint8_t kAddress = kFirstTag;  // where the other rank's memory is
constexpr std::uint8_t kMessage = kFirstTag + 1;

class PingPong final : public Program {
 public:
  PingPong(Context context, const Settings& settings)
      : port_(context, *this),
        self_(context.rank),
        peer_{1 - std::min(index(context.rank), 1U)},
        seed_(settings.seed),
        size_(settings.op == "am-short" ? kWord : settings.size),
        memory_(2 * std::max(size_, kWord)) {
    require_ranks(settings, 2);
    if (settings.op == "call") refuse_raw_op(settings, "extoll", "am-short, am-medium, am-long, put, get");
    is_am_ = settings.op.starts_with("am-");
    is_get_ = settings.op == "get";
    by_velo_ = is_am_ && settings.op != "am-long" && size_ <= port_.card().parameters().velo_payload;
    port_.card().register_memory(memory_);
  }

  BlockResult run(std::uint64_t iterations) override {
    meet();
    BlockResult result;
    const SimTime start = port_.host().now();
    if (self_ == Rank{0}) {
      for (std::uint64_t i = 0; i < iterations; ++i) initiate();
      result = {port_.host().now() - start, iterations, {}};
      result.add_time_per_operation(is_am_ ? "round_trip" : "latency");
    } else if (self_ == Rank{1} && !is_get_) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        receive();
        if (is_am_) {
          send();
        } else {
          port_.send(peer_, std::span(outgoing(), kWord), kMessage);
        }
      }
    }
    (void)port_.barrier();
    return result;
  }

  Verification verify() override {
    Verification verification;
    const std::uint64_t self = index(self_);
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      fill_pattern(std::span(outgoing(), size_), seed_ + 2 * round + self);
      (void)run(1);
      // A put arrives at rank 1 alone, a get at rank 0.
      if (self > 1 || !(is_am_ || self == (is_get_ ? 0 : 1))) continue;
      verification.checked += size_ + 1;
      verification.errors += count_differences(incoming(), size_, seed_ + 2 * round + 1 - self);
      verification.errors += arrived_ != size_ ? 1U : 0U;
    }
    return verification;
  }

  void take(const VeloPacket& packet) {
    if (packet.status.tag == kAddress) {
      std::memcpy(&remote_, packet.payload.data(), sizeof remote_);
      return;
    }
    if (by_velo_) std::memcpy(incoming(), packet.payload.data(), std::min<Bytes>(packet.status.size, size_));
    if (by_velo_) arrived_ = packet.status.size;
    ++messages_;
  }
  void take(const Notification& notification) {
    arrived_ = notification.size;
    ++messages_;
  }
  // One packet is under way at a time: a mailbox that has no slot for it can never take any.
  [[noreturn]] void dropped(Rank /*to*/, std::uint8_t /*tag*/) const {
    throw UsageError("kernel ping-pong on raw@extoll: the mailbox is too small");
  }

 private:
  [[nodiscard]] std::byte* outgoing() const { return memory_.data(); }
  [[nodiscard]] std::byte* incoming() const { return memory_.data() + memory_.size() / 2; }

  // Before the first block ranks 0 and 1 tell each other where their memory is.
  void meet() {
    if (remote_ == nullptr && index(self_) < 2) {
      const std::byte* const here = memory_.data();
      port_.send(peer_, std::as_bytes(std::span(&here, 1)), kAddress);
      port_.wait_until([&] { return remote_ != nullptr; });
    }
    (void)port_.barrier();
  }
  void send() {
    if (by_velo_) {
      mutants::message(outgoing(), size_, [&](const void* data) {
        port_.send(peer_, std::span(static_cast<const std::byte*>(data), size_), kMessage);
      });
    } else if (const mutants::Transfer planned = mutants::transfer(size_); !planned.dropped) {
      port_.put(peer_, remote_ + memory_.size() / 2 + planned.to, outgoing() + planned.from, planned.bytes,
                Notify::completer);
    }
  }
  void receive() {
    ++expected_;
    port_.wait_until([&] { return messages_ == expected_; });
  }
  void initiate() {
    if (is_get_) {
      const mutants::Transfer planned = mutants::transfer(size_);
      if (!planned.dropped) {
        port_.get(peer_, incoming() + planned.to, remote_ + planned.from, planned.bytes, Notify::completer);
      }
    } else {
      send();
    }
    receive();
  }

  Port<PingPong> port_;
  Rank self_;
  Rank peer_;
  std::uint64_t seed_;
  Bytes size_;
  AlignedBuffer memory_;  // what goes out, then what comes in
  bool is_am_ = false;
  bool is_get_ = false;
  bool by_velo_ = false;
  std::byte* remote_ = nullptr;
  std::uint64_t messages_ = 0;
  std::uint64_t expected_ = 0;
  Bytes arrived_ = 0;
};

}  // namespace

std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings) {
  return std::make_unique<PingPong>(context, settings);
}

}  // namespace gasmeter::networks::extoll::raw
