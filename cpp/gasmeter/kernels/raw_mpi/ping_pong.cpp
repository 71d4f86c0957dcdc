// MPI_Send and MPI_Recv to and fro: 8 bytes for Shorts, else the size. A put is the data one way and 8 bytes back
// (ping-ack), a get 8 bytes one way and the data back.
#include <algorithm>

#include "gasmeter/kernels/pattern.hpp"
#include "gasmeter/kernels/raw_mpi/raw_mpi.hpp"
#include "gasmeter/networks/mpi/mpi_library.hpp"

namespace gasmeter::kernels::raw_mpi {
namespace {

constexpr Bytes kWord = 8;
constexpr std::uint32_t kTag = 1;

class PingPong final : public Program {
 public:
  PingPong(RawMpi context, const Settings& settings)
      : context_(context),
        seed_(settings.seed),
        size_(std::max(settings.op == "am-short" ? 0 : settings.size, kWord)),
        buffer_(size_) {
    require_ranks(settings, 2);
    if (settings.op == "call") refuse_raw_op(settings, "mpi", "am-short, am-medium, am-long, put, get");
    is_am_ = settings.op.starts_with("am-");
    there_ = settings.op == "get" ? kWord : size_;
    back_ = settings.op == "put" ? kWord : size_;
    fill_pattern({buffer_.data(), size_}, seed_);
  }

  BlockResult run(std::uint64_t iterations) override {
    context_.messages.barrier();
    BlockResult result;
    if (context_.rank == Rank{0}) {
      const SimTime start = context_.host.now();
      for (std::uint64_t i = 0; i < iterations; ++i) {
        context_.messages.send(Rank{1}, buffer_.data(), there_, kTag);
        (void)context_.messages.receive(Rank{1}, buffer_.data(), back_, kTag);
      }
      result = {context_.host.now() - start, iterations, {}};
      result.add_time_per_operation(is_am_ ? "round_trip" : "latency");
    } else if (context_.rank == Rank{1}) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        (void)context_.messages.receive(Rank{0}, buffer_.data(), there_, kTag);
        context_.messages.send(Rank{0}, buffer_.data(), back_, kTag);
      }
    }
    context_.messages.barrier();
    return result;
  }

  Verification verify() override {
    Verification found;
    const bool first = context_.rank == Rank{0};
    // What arrives must be what the other side sent, not what was there.
    std::fill_n(buffer_.data(), size_, std::byte{0});
    if (first) {
      fill_pattern({buffer_.data(), there_}, seed_ + 1);
      context_.messages.send(Rank{1}, buffer_.data(), there_, kTag);
      const Bytes bytes = context_.messages.receive(Rank{1}, buffer_.data(), back_, kTag).bytes;
      found = {back_ + 1, count_differences(buffer_.data(), back_, seed_ + 2) + (bytes != back_ ? 1U : 0U), 0};
    } else if (context_.rank == Rank{1}) {
      const Bytes bytes = context_.messages.receive(Rank{0}, buffer_.data(), there_, kTag).bytes;
      found = {there_ + 1, count_differences(buffer_.data(), there_, seed_ + 1) + (bytes != there_ ? 1U : 0U), 0};
      fill_pattern({buffer_.data(), back_}, seed_ + 2);
      context_.messages.send(Rank{0}, buffer_.data(), back_, kTag);
    }
    context_.messages.barrier();
    return found;
  }

 private:
  RawMpi context_;
  std::uint64_t seed_;
  Bytes size_;
  Bytes there_ = 0;
  Bytes back_ = 0;
  bool is_am_ = false;
  AlignedBuffer buffer_;
};

}  // namespace

std::unique_ptr<Program> make_ping_pong(RawMpi context, const Settings& settings) {
  return std::make_unique<PingPong>(context, settings);
}

}  // namespace gasmeter::kernels::raw_mpi
