// Vector, indexed and strided transfers from rank 0 to rank 1: bandwidth of payload by size of the pieces, density and
// number of levels of the description.
#include "gasmeter/core/vis/vis.hpp"

#include <optional>
#include <string>
#include <vector>

#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/resolved.hpp"
#include "gasmeter/bench/vis_layout.hpp"
#include "gasmeter/kernels/completion_check.hpp"
#include "gasmeter/kernels/kernel.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

using core::vis::Implementation;
using core::vis::Mechanism;

Mechanism parse_mechanism(const std::string& text) {
  if (text == "direct") return Mechanism::direct;
  if (text == "pack") return Mechanism::pack;
  return text == "pieces" ? Mechanism::pieces : Mechanism::automatic;
}

// Segment: a side of the layout for each slot, the first of which timed blocks use.
template <class H>
class VisKernel final : public Program, public Resolves {
 public:
  VisKernel(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        vis_(endpoint, {settings.text("implementation") == "gasnet1" ? Implementation::gasnet1 : Implementation::ex,
                        parse_mechanism(settings.text("mechanism"))}),
        layout_(settings),
        form_(vis::parse_form(settings.op)),
        is_put_(settings.op.ends_with("put")),
        size_(settings.size),
        seed_(settings.seed),
        here_(layout_.extent),
        there_(endpoint.segment(Rank{1}).address),
        checking_(layout_, is_put_, endpoint.rank()),
        completion_(endpoint) {
    require_ranks(settings, 2);
    fill_pattern(here_, seed_);
    if (endpoint.rank() == Rank{1}) fill_pattern({there_, layout_.extent}, seed_);
    add_transfer({here_.data(), there_});
  }

  [[nodiscard]] bool compares() const override { return endpoint_.rank() == Rank{is_put_ ? 1U : 0U}; }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    BlockResult result;
    if (endpoint_.rank() == Rank{0}) {
      if (checking_.is_under_way() && is_put_) completion_.begin();
      const SimTime start = endpoint_.host().read_clock();
      const Transfer* transfer = transfers_.data();
      const std::ptrdiff_t step = checking_.is_under_way() ? 1 : 0;
      for (std::uint64_t i = 0; i < iterations; ++i) {
        start_one(*transfer);
        transfer += step;
        spin_step();
      }
      endpoint_.wait_nbi();
      result = {endpoint_.host().read_clock() - start, iterations, {}};
      result.add_bandwidth(size_);
      result.add_rate();
      if (checking_.is_under_way()) check_completion();
    } else if (checking_.is_under_way() && checking_.is_target()) {
      completion_.watch([this] { checking_.compare(); });
    }
    endpoint_.barrier();
    return result;
  }

  Verification verify() override {
    endpoint_.barrier();
    completion_.tell_by(told_line(0));
    if (!blocks_follow()) add_slots();
    const std::size_t slots = blocks_follow() ? 1 : transfers_.size();
    std::vector<vis::Sides> sides;
    for (std::size_t i = 0; i < slots; ++i) sides.push_back(transfers_[i].sides);
    return checking_.verify(sides, seed_, [this](std::uint64_t count) { (void)run(count); });
  }

  // Report the mechanism that rank 0, which moves the data, has used last.
  [[nodiscard]] Resolved resolved() override {
    const Mechanism last = vis_.last().mechanism;
    return last == Mechanism::automatic ? Resolved{} : Resolved{{"mechanism", core::vis::name_of(last)}};
  }

 private:
  // The description of the transfer of a slot.
  struct Transfer {
    vis::Sides sides;
    std::vector<void*> here;
    std::vector<void*> there;
    std::vector<core::vis::Piece> pieces_here;
    std::vector<core::vis::Piece> pieces_there;
  };

  void add_transfer(vis::Sides sides) {
    Transfer& transfer = transfers_.emplace_back();
    transfer.sides = sides;
    if (form_ == vis::Form::strided) return;
    transfer.here = layout_.addresses(sides.here);
    transfer.there = layout_.addresses(sides.there);
    if (form_ == vis::Form::indexed) return;
    for (void* const at : transfer.here) transfer.pieces_here.push_back({at, layout_.piece});
    for (void* const at : transfer.there) transfer.pieces_there.push_back({at, layout_.piece});
  }
  void add_slots() {
    const std::uint64_t slots = layout_.slots();
    if (transfers_.size() == slots) return;
    slots_here_.emplace(endpoint_.rank() == Rank{0} ? slots * layout_.slot_stride() : 0);
    for (std::uint64_t i = 1; i < slots; ++i) {
      const Bytes offset = i * layout_.slot_stride();
      add_transfer({slots_here_->size() != 0 ? slots_here_->data() + offset : nullptr, there_ + offset});
    }
  }

  // Check the transfers of a checking block, which are complete.
  GASMETER_NOINLINE void check_completion() {
    if (!is_put_) return checking_.compare();
    checking_.overwrite_sources();
    completion_.complete([this] { checking_.compare(); });
  }

  void start_one(const Transfer& transfer) {
    const auto [here, there] = transfer.sides;
    switch (form_) {
      case vis::Form::strided:
        move(core::vis::Strided{to(here, there), layout_.strides, to(there, here), layout_.strides, layout_.piece,
                                layout_.counts});
        return;
      case vis::Form::indexed: {
        const auto& from = is_put_ ? transfer.here : transfer.there;
        const auto& at = is_put_ ? transfer.there : transfer.here;
        move(core::vis::Indexed{at, layout_.piece, from, layout_.piece});
        return;
      }
      case vis::Form::vector:
        move(core::vis::Vector{is_put_ ? transfer.pieces_there : transfer.pieces_here,
                               is_put_ ? transfer.pieces_here : transfer.pieces_there});
    }
  }
  // Choose between the address of a get and that of a put.
  [[nodiscard]] std::byte* to(std::byte* of_get, std::byte* of_put) const { return is_put_ ? of_put : of_get; }
  template <class T>
  void move(const T& transfer) {
    (void)(is_put_ ? vis_.put_nbi(Rank{1}, transfer) : vis_.get_nbi(Rank{1}, transfer));
  }

  core::Endpoint<H>& endpoint_;
  core::Vis<H> vis_;
  vis::Layout layout_;
  vis::Form form_;
  bool is_put_;
  Bytes size_;
  std::uint64_t seed_;
  AlignedBuffer here_;
  std::optional<AlignedBuffer> slots_here_;  // the first slot's is here_
  std::byte* there_;
  std::vector<Transfer> transfers_;  // by slot
  vis::Checking checking_;
  CompletionCheck<H> completion_;
};

}  // namespace

void register_vis(Registry& registry) {
  const MetricInfo put_bandwidth{"bandwidth", "payload of non-blocking puts, all remotely complete"};
  const MetricInfo get_bandwidth{"bandwidth", "payload of non-blocking gets, all at the initiator"};
  const MetricInfo rate{"rate", "operations, all complete"};
  Kernel kernel = kernel_of<VisKernel>(
      {.name = "vis",
       .summary = "transfers of many pieces from rank 0 to rank 1: vector, indexed, strided; size = payload",
       .ops = {{"strided-put", "pieces at regular distances, put", {put_bandwidth, rate}},
               {"strided-get", "pieces at regular distances, got", {get_bandwidth, rate}},
               {"indexed-put", "a list of addresses, pieces of one size, put", {put_bandwidth, rate}},
               {"indexed-get", "a list of addresses, pieces of one size, got", {get_bandwidth, rate}},
               {"vector-put", "a list of addresses and sizes, put", {put_bandwidth, rate}},
               {"vector-get", "a list of addresses and sizes, got", {get_bandwidth, rate}}},
       .variants = {},
       .options = {{"piece", "size", "8", "B", {}, "contiguous bytes"},
                   {"density", "float", "0.5", "ratio", {}, "pieces over pieces and gaps, at both sides"},
                   {"levels", "int", "1", "", {}, "levels of a strided description, 1 to 32"},
                   {"foldable", "bool", "true", "", {}, "the levels walk through the same line and are really one"},
                   {"implementation",
                    "choice",
                    "ex",
                    "",
                    {"ex", "gasnet1"},
                    "stride optimiser and negotiated payload, or what GASNet-1 did (core/vis/README.md)"},
                   {"mechanism",
                    "choice",
                    "auto",
                    "",
                    {"auto", "direct", "pack", "pieces"},
                    "stores of this rank (neighbours alone), pieces packed into messages, an operation per piece"}}},
      &vis::share_of);
  kernel.check = &vis::check_options;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
