// Transfers of many pieces by loops of the depth that is given around the copies of elements that the library has, too.
#include <cstdint>
#include <vector>

#include "gasmeter/base/rows.hpp"
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
    for (std::size_t i = 0; i < layout_.counts.size(); ++i) {
      steps_.push_back({layout_.counts[i], layout_.strides[i], layout_.strides[i]});
    }
    if (form_ == vis::Form::strided) return;
    to_ = layout_.addresses(is_put_ ? there_ : here_.data());
    from_ = layout_.addresses(is_put_ ? here_.data() : there_);
  }

  BlockResult run(std::uint64_t iterations) override {
    memory_.barrier();
    BlockResult result;
    if (memory_.rank() == Rank{0}) {
      mutants::begin_window();
      const SimTime start = memory_.host().now();
      std::byte* const to = is_put_ ? there_ : here_.data();
      const std::byte* const from = is_put_ ? here_.data() : there_;
      for (std::uint64_t i = 0; i < iterations; ++i) {
        move(to, from);
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
  void move(std::byte* to, const std::byte* from) const {
    if constexpr (kMutants) return piece_by_piece(to, from);
    switch (form_) {
      case vis::Form::strided:
        return copy_nest(to, from, layout_.piece, steps_);
      case vis::Form::indexed:
        return copy_indexed({to_.data()}, {from_.data()}, layout_.piece, layout_.pieces);
      case vis::Form::vector:
        return by_address();  // a piece of a size of its own each
    }
  }
  void by_address() const {
    for (Bytes piece = 0; piece < layout_.pieces; ++piece) mutants::copy(to_[piece], from_[piece], layout_.piece);
  }
  void piece_by_piece(std::byte* to, const std::byte* from) const {
    if (form_ != vis::Form::strided) return by_address();
    layout_.for_pieces([&](std::ptrdiff_t offset) { mutants::copy(to + offset, from + offset, layout_.piece); });
  }

  SharedMemory& memory_;
  vis::Layout layout_;
  vis::Form form_;
  bool is_put_;
  Bytes size_;
  std::uint64_t seed_;
  AlignedBuffer here_;
  std::vector<RowStep> steps_;
  std::byte* there_ = nullptr;
  std::vector<void*> to_;
  std::vector<void*> from_;
};

}  // namespace

std::unique_ptr<Program> make_vis(Context context, const Settings& settings) {
  return std::make_unique<Vis>(context, settings);
}

}  // namespace gasmeter::networks::shm::raw
