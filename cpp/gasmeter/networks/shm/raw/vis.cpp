// Transfers of many pieces by loops of the given depth, around the library's own copies of elements.
#include <cstdint>
#include <vector>

#include "gasmeter/base/rows.hpp"
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/numbered_slots.hpp"
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
        here_(layout_.slot_stride() * (memory_.rank() == Rank{0} ? layout_.slots() : 1)),
        there_(memory_.share(1)),
        checking_(layout_, is_put_, memory_.rank()) {
    require_ranks(settings, 2);
    fill_pattern({here_.data(), layout_.extent}, seed_);
    if (memory_.rank() == Rank{1}) fill_pattern({there_, layout_.extent}, seed_);
    for (std::size_t i = 0; i < layout_.counts.size(); ++i) {
      steps_.push_back({layout_.counts[i], layout_.strides[i], layout_.strides[i]});
    }
    use_slot(0);
  }

  [[nodiscard]] bool compares() const override { return memory_.rank() == Rank{is_put_ ? 1U : 0U}; }

  BlockResult run(std::uint64_t iterations) override {
    memory_.barrier();
    BlockResult result;
    if (memory_.rank() == Rank{0}) {
      mutants::begin_window();
      const SimTime start = memory_.host().now();
      if (GASMETER_UNLIKELY(checking_.is_under_way())) {
        move_and_check(iterations);
      } else {
        move_all(iterations);
      }
      result = {memory_.host().now() - start, iterations, {}};
      result.add_bandwidth(size_);
      result.add_rate();
    } else if (checking_.is_under_way() && checking_.is_target()) {
      told_.watch([] {}, [this] { checking_.compare(); });
    }
    memory_.barrier();
    return result;
  }

  Verification verify() override {
    memory_.barrier();
    told_.use(told_line(0));
    std::vector<vis::Sides> slots;
    for (std::uint64_t i = 0; i < layout_.slots(); ++i) slots.push_back(sides(i));
    const Verification verification = checking_.verify(slots, seed_, [this](std::uint64_t count) { (void)run(count); });
    use_slot(0);
    return verification;
  }

 private:
  [[nodiscard]] vis::Sides sides(std::uint64_t slot) const {
    const Bytes offset = slot * layout_.slot_stride();
    return {memory_.rank() == Rank{0} ? here_.data() + offset : here_.data(), there_ + offset};
  }
  void use_slot(std::uint64_t slot) {
    const auto [local_side, remote_side] = sides(slot);
    to_side_ = is_put_ ? remote_side : local_side;
    from_side_ = is_put_ ? local_side : remote_side;
    if (form_ == vis::Form::strided) return;
    to_ = layout_.addresses(to_side_);
    from_ = layout_.addresses(from_side_);
  }
  void move_all(std::uint64_t times) const {
    std::byte* const to = to_side_;
    const std::byte* const from = from_side_;
    for (std::uint64_t i = 0; i < times; ++i) {
      move(to, from);
      spin_step();
    }
  }
  void move_and_check(std::uint64_t slots) {
    if (is_put_) told_.begin([] {});
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
      use_slot(slot);
      move_all(1);
    }
    if (!is_put_) return checking_.compare();
    checking_.overwrite_sources();
    told_.complete();
  }

  void move(std::byte* to, const std::byte* from) const {
    if constexpr (kMutants) return piece_by_piece(to, from);
    switch (form_) {
      case vis::Form::strided:
        return copy_nest(to, from, layout_.piece, steps_);
      case vis::Form::indexed:
        return copy_indexed({to_.data()}, {from_.data()}, layout_.piece, layout_.pieces);
      case vis::Form::vector:
        return by_address();  // each piece has a size of its own
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
  std::byte* there_;
  vis::Checking checking_;
  ToldEnd told_;
  std::byte* to_side_ = nullptr;  // target of the slot in use
  std::byte* from_side_ = nullptr;
  std::vector<void*> to_;
  std::vector<void*> from_;
};

}  // namespace

std::unique_ptr<Program> make_vis(Context context, const Settings& settings) {
  return std::make_unique<Vis>(context, settings);
}

}  // namespace gasmeter::networks::shm::raw
