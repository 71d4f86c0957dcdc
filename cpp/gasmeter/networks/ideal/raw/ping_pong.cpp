// Ping-pong between ranks 0 and 1, a packet in each direction. With `answer=empty` the answer has no payload.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/networks/ideal/raw/programs.hpp"

namespace gasmeter::networks::ideal::raw {

using namespace bench;

namespace {

class PingPong final : public Program {
 public:
  PingPong(Context context, const Settings& settings)
      : context_(context),
        seed_(settings.seed),
        packet_(settings.op == "am-short" ? kEmptyPacket : settings.size),
        back_(settings.text("answer") == "empty" ? 0 : packet_.size()) {
    require_ranks(settings, 2);
    if (!settings.op.starts_with("am-")) refuse_raw_op(settings, "ideal", "am-short, am-medium, am-long");
    require_raw_defaults(settings, "ideal",
                         {{"local", "outside"}, {"offset", "0"}, {"sources", "1"}, {"pong", "reply"}});
    require_packet(settings, packet_.size());
  }

  [[nodiscard]] bool compares() const override { return index(context_.rank) < 2; }

  BlockResult run(std::uint64_t iterations) override {
    const SimTime start = context_.host.now();
    if (context_.rank == Rank{0}) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        context_.host.mark(Mark::begin);
        context_.send(Rank{1}, packet_);
        check(*context_.receive(), back_);
        context_.host.mark(Mark::end);
      }
    } else if (context_.rank == Rank{1}) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        const auto packet = context_.receive();
        check(*packet, packet_.size());
        context_.send(Rank{0}, {packet->bytes.data(), std::min(packet->size, back_)});
      }
    }
    BlockResult result{context_.host.now() - start, iterations, {}};
    result.add_time_per_operation("round_trip");
    return result;
  }

  Verification verify() override {
    checking_ = true;
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      pattern_ = seed_ + round;
      if (context_.rank == Rank{0}) fill_pattern(packet_, pattern_);
      (void)run(1);
    }
    checking_ = false;
    return std::exchange(found_, {});
  }

 private:
  // Size of an empty answer: a word, as in the raw ping-pong on memory.
  static constexpr Bytes kEmptyPacket = 8;

  void check(const Packet& packet, Bytes expected) {
    if (!checking_) return;
    found_.checked += 1 + packet.size;
    found_.errors += packet.size != expected ? 1U : 0U;
    found_.errors += count_differences(packet.bytes.data(), packet.size, pattern_);
  }

  Context context_;
  std::uint64_t seed_;
  std::vector<std::byte> packet_;
  Bytes back_;
  bool checking_ = false;
  std::uint64_t pattern_ = 0;
  Verification found_;
};

}  // namespace

std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings) {
  return std::make_unique<PingPong>(context, settings);
}

}  // namespace gasmeter::networks::ideal::raw
