// To and fro between ranks 0 and 1, a send and a receive on each side; whoever receives has posted the receive before.
#include <algorithm>

#include "gasmeter/kernels/pattern.hpp"
#include "gasmeter/kernels/raw_two_sided/raw_two_sided.hpp"

namespace gasmeter::kernels::raw_two_sided {
namespace {

constexpr Bytes kWord = 8;
constexpr Tag kMessage{kFirstTag};
constexpr std::uint32_t kNumber = kFirstSlot;  // the barrier's sends are numbered by round

template <class H>
class PingPong final : public Program {
 public:
  PingPong(RawTwoSided<H> context, const Settings& settings)
      : mail_(context),
        self_(context.rank),
        peer_{1 - std::min(index(context.rank), 1U)},
        seed_(settings.seed),
        size_(settings.op == "am-short" ? kWord : settings.size),
        memory_(2 * size_) {
    require_ranks(settings, 2);
    if (!settings.op.starts_with("am-")) refuse_raw_op(settings, "mpi", "am-short, am-medium, am-long");
    if (plays()) mail_.post(kFirstSlot, {incoming(), size_}, peer_, kMessage);
  }

  BlockResult run(std::uint64_t iterations) override {
    mail_.barrier();
    BlockResult result;
    const SimTime start = mail_.host().now();
    if (self_ == Rank{0}) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        send();
        (void)receive();
      }
      result = {mail_.host().now() - start, iterations, {}};
      result.add_time_per_operation("round_trip");
    } else if (self_ == Rank{1}) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        (void)receive();
        send();
      }
    }
    mail_.barrier();
    return result;
  }

  Verification verify() override {
    const bool first = self_ == Rank{0};
    fill_pattern(std::span(outgoing(), size_), seed_ + (first ? 1 : 2));
    fill_pattern(std::span(incoming(), size_), seed_ + 3);
    mail_.barrier();
    Verification found;
    if (plays()) {
      if (first) send();
      const Bytes bytes = receive();
      found = {size_ + 1, count_differences(incoming(), size_, seed_ + (first ? 2 : 1)), 0};
      found.errors += bytes != size_ ? 1U : 0U;
      if (!first) send();
    }
    mail_.barrier();
    return found;
  }

 private:
  [[nodiscard]] bool plays() const { return index(self_) < 2; }
  [[nodiscard]] std::byte* outgoing() const { return memory_.data(); }
  [[nodiscard]] std::byte* incoming() const { return memory_.data() + size_; }

  void send() {
    mail_.wait_until([&] { return mail_.done(kNumber); });
    mail_.start(kNumber, peer_, kMessage, std::span(outgoing(), size_));
  }
  // The receive is posted again at once.
  Bytes receive() {
    const Bytes bytes = mail_.receive().bytes;
    mail_.restart(kFirstSlot);
    return bytes;
  }

  Mail<H> mail_;
  Rank self_;
  Rank peer_;
  std::uint64_t seed_;
  Bytes size_;
  AlignedBuffer memory_;  // what goes out, then what comes in
};

}  // namespace

template <class H>
std::unique_ptr<Program> make_ping_pong(RawTwoSided<H> context, const Settings& settings) {
  return std::make_unique<PingPong<H>>(context, settings);
}
template std::unique_ptr<Program> make_ping_pong(RawTwoSided<RealHost> context, const Settings& settings);
template std::unique_ptr<Program> make_ping_pong(RawTwoSided<sim::ModelHost> context, const Settings& settings);

}  // namespace gasmeter::kernels::raw_two_sided
