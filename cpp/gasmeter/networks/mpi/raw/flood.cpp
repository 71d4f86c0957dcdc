// A stream of messages from rank 0 to rank 1, `window` at a time (64 where none is given) into receives that are
// posted, each window answered by 8 bytes: what the OSU benchmarks do for bandwidth and message rate. 8 bytes each for
// Shorts, else the size.
#include <algorithm>
#include <string>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/networks/mpi/mpi_library.hpp"
#include "gasmeter/networks/mpi/raw/programs.hpp"

namespace gasmeter::networks::mpi::raw {

using namespace bench;

namespace {

constexpr Bytes kWord = 8;
constexpr std::uint32_t kWindow = 64;
constexpr std::int64_t kMostWindow = 65536;

std::uint32_t receives_of(const Settings& settings) {
  const std::int64_t window = settings.integer("window");
  if (window > kMostWindow) {
    throw UsageError("kernel flood on raw@mpi: option 'window=" + settings.text("window") + "': it posts at most " +
                     std::to_string(kMostWindow) + " receives");
  }
  return window == 0 ? kWindow : static_cast<std::uint32_t>(window);
}

class Flood final : public Program {
 public:
  Flood(Context context, const Settings& settings)
      : context_(context),
        seed_(settings.seed),
        is_short_(settings.op == "am-short"),
        size_(is_short_ ? kWord : settings.size),
        window_(receives_of(settings)),
        buffer_(std::max(size_, kWord)) {
    require_ranks(settings, 2);
    if (settings.op == "get") refuse_raw_op(settings, "mpi", "am-short, am-medium, am-long, put");
    require_raw_defaults(settings, "mpi", {{"local", "outside"}, {"offset", "0"}});
    fill_pattern({buffer_.data(), size_}, seed_);
  }

  BlockResult run(std::uint64_t iterations) override {
    context_.messages.barrier();
    BlockResult result;
    if (context_.rank == Rank{0}) {
      const SimTime start = context_.host.now();
      exchange(iterations, true);
      result = {context_.host.now() - start, iterations, {}};
      if (!is_short_) result.add_bandwidth(size_);
      result.add_rate();
    } else if (context_.rank == Rank{1}) {
      exchange(iterations, false);
    }
    context_.messages.barrier();
    return result;
  }

  Verification verify() override {
    Verification verification;
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      if (context_.rank == Rank{0}) fill_pattern({buffer_.data(), size_}, seed_ + round);
      (void)run(round == 1 ? 3 : 1);
      if (context_.rank != Rank{1}) continue;
      verification.checked += size_;
      verification.errors += count_differences(buffer_.data(), size_, seed_ + round);
    }
    context_.messages.barrier();
    return verification;
  }

 private:
  void exchange(std::uint64_t left, bool sends) {
    RawMessages& mpi = context_.messages;
    std::uint64_t word = 0;
    while (left != 0) {
      const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, window_));
      for (std::uint32_t i = 0; i < count; ++i) {
        sends ? start_send(i) : mpi.start_receive(i, Rank{0}, buffer_.data(), size_, kTag);
      }
      mpi.wait_for_all(count);
      left -= count;
      sends ? (void)mpi.receive(Rank{1}, &word, sizeof word, kTag) : mpi.send(Rank{0}, &word, sizeof word, kTag);
    }
  }

  void start_send(std::uint32_t number) {
    mutants::message(buffer_.data(), size_,
                     [&](const void* data) { context_.messages.start_send(number, Rank{1}, data, size_, kTag); });
  }

  Context context_;
  std::uint64_t seed_;
  bool is_short_;
  Bytes size_;
  std::uint32_t window_;
  AlignedBuffer buffer_;
};

}  // namespace

std::unique_ptr<Program> make_flood(Context context, const Settings& settings) {
  return std::make_unique<Flood>(context, settings);
}

}  // namespace gasmeter::networks::mpi::raw
