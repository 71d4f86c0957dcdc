// Transfers of many pieces by loops of the depth that is given, and one memcpy per piece.
#include <cstdint>
#include <vector>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/vis_layout.hpp"
#include "gasmeter/networks/shm/raw/programs.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"

namespace gasmeter::networks::shm::raw {

using namespace bench;

namespace {

class Vis final : public Program {
 public:
  Vis(Context context, const Settings& settings)
      : memory_(context.memory),
        layout_(settings),
        form_(vis::parse_form(settings.op)),
        is_put_(settings.op.ends_with("put")),
        size_(settings.size),
        seed_(settings.seed),
        here_(layout_.extent) {
    require_ranks(settings, 2);
    fill_pattern(here_, seed_);
    there_ = memory_.share(1);
    if (memory_.rank() == Rank{1}) fill_pattern({there_, layout_.extent}, seed_);
    if (form_ == vis::Form::strided) return;
    to_ = layout_.addresses(is_put_ ? there_ : here_.data());
    from_ = layout_.addresses(is_put_ ? here_.data() : there_);
  }

  BlockResult run(std::uint64_t iterations) override {
    memory_.barrier();
    BlockResult result;
    if (memory_.rank() == Rank{0}) {
      const SimTime start = memory_.host().now();
      std::byte* const to = is_put_ ? there_ : here_.data();
      const std::byte* const from = is_put_ ? here_.data() : there_;
      for (std::uint64_t i = 0; i < iterations; ++i) {
        if (form_ == vis::Form::strided) {
          loops(layout_.counts.size(), to, from);
        } else {
          for (Bytes piece = 0; piece < layout_.pieces; ++piece) mutants::copy(to_[piece], from_[piece], layout_.piece);
        }
        spin_step();
      }
      result = {memory_.host().now() - start, iterations, {}};
      result.add_bandwidth(size_);
      result.add_rate();
    }
    memory_.barrier();
    return result;
  }

  Verification verify() override {
    memory_.barrier();
    const bool checks = memory_.rank() == Rank{is_put_ ? 1U : 0U};
    std::byte* const moved = is_put_ ? there_ : here_.data();
    return vis::verify(layout_, checks ? moved : nullptr, seed_, [this] { (void)run(1); });
  }

 private:
  void loops(std::size_t levels, std::byte* to, const std::byte* from) const {
    const Bytes count = layout_.counts[levels - 1];
    const std::ptrdiff_t stride = layout_.strides[levels - 1];
    if (levels == 1) {
      for (Bytes i = 0; i < count; ++i, to += stride, from += stride) mutants::copy(to, from, layout_.piece);
      return;
    }
    for (Bytes i = 0; i < count; ++i, to += stride, from += stride) loops(levels - 1, to, from);
  }

  SharedMemory& memory_;
  vis::Layout layout_;
  vis::Form form_;
  bool is_put_;
  Bytes size_;
  std::uint64_t seed_;
  AlignedBuffer here_;
  std::byte* there_ = nullptr;
  std::vector<void*> to_;
  std::vector<void*> from_;
};

}  // namespace

std::unique_ptr<Program> make_vis(Context context, const Settings& settings) {
  return std::make_unique<Vis>(context, settings);
}

}  // namespace gasmeter::networks::shm::raw
