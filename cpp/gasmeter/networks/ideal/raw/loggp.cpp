// LogGP's experiments, which measure this network's parameters. o_s is nic_post, o_r is nic_take.
#include <cstdint>
#include <utility>
#include <vector>

#include "gasmeter/bench/loggp_experiments.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/networks/ideal/raw/programs.hpp"

namespace gasmeter::networks::ideal::raw {

using namespace bench;

namespace {

class LogGp final : public Program {
 public:
  LogGp(Context context, const Settings& settings)
      : context_(context),
        seed_(settings.seed),
        packet_(settings.size),
        experiments_(*this, loggp::messages_of(settings)) {
    require_ranks(settings, 2);
    if (settings.op == "am-short") refuse_raw_op(settings, "ideal", "am-medium, am-long");
    require_packet(settings, packet_.size());
    fill_pattern(packet_, seed_);
  }

  [[nodiscard]] bool compares() const override { return index(context_.rank) < 2; }

  BlockResult run(std::uint64_t iterations) override {
    if (context_.rank == Rank{0}) return experiments_.run(iterations);
    if (context_.rank == Rank{1}) {
      const std::uint64_t messages = experiments_.received_by(iterations);
      for (std::uint64_t i = 0; i < messages; ++i) {
        const auto packet = context_.receive();
        check(*packet);
        if (packet->bytes[0] == kLast) send(Rank{0}, true);
      }
    }
    return {};
  }

  Verification verify() override {
    checking_ = true;
    (void)run(2);
    checking_ = false;
    return std::exchange(found_, {});
  }

  sim::ModelHost& host() { return context_.host; }
  void send(bool last) { send(Rank{1}, last); }
  void await(std::uint64_t answers) {
    for (; answers != 0; --answers) check(*context_.receive());
  }
  void look_for(std::uint64_t answers) { await(answers); }

 private:
  // The first byte says whether an answer is wanted. The other bytes are the pattern.
  static constexpr std::byte kLast{1};

  void send(Rank to, bool last) {
    if (checking_) fill_pattern(packet_, seed_ + sent_++);
    packet_[0] = last ? kLast : std::byte{0};
    context_.send(to, packet_);
  }
  // Check a packet. Packets arrive in the order of sending, each with a pattern of its own.
  void check(const Packet& packet) {
    if (!checking_) return;
    found_.checked += packet.size;
    found_.errors += packet.size != packet_.size() ? 1U : 0U;
    found_.errors += count_differences(packet.bytes.data(), packet.size, seed_ + received_++, 1);
  }

  Context context_;
  std::uint64_t seed_;
  std::vector<std::byte> packet_;
  loggp::Experiments<LogGp> experiments_;
  bool checking_ = false;
  std::uint64_t sent_ = 0;      // checked packets that were sent
  std::uint64_t received_ = 0;  // checked packets that were received
  Verification found_;
};

}  // namespace

std::unique_ptr<Program> make_loggp(Context context, const Settings& settings) {
  return std::make_unique<LogGp>(context, settings);
}

}  // namespace gasmeter::networks::ideal::raw
