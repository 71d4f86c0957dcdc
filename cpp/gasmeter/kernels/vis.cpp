// Vector, indexed and strided transfers from rank 0 to rank 1: bandwidth of payload by size of the pieces, density and
// number of levels of the description.
#include "gasmeter/core/vis/vis.hpp"

#include <string>
#include <vector>

#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/resolved.hpp"
#include "gasmeter/bench/vis_layout.hpp"
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

// Segment: one side of the layout.
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
        here_(layout_.extent) {
    require_ranks(settings, 2);
    fill_pattern(here_, seed_);
    there_ = endpoint.segment(Rank{1}).address;
    if (endpoint.rank() == Rank{1}) fill_pattern({there_, layout_.extent}, seed_);
    if (form_ == vis::Form::strided) return;
    addresses_here_ = layout_.addresses(here_.data());
    addresses_there_ = layout_.addresses(there_);
    if (form_ == vis::Form::indexed) return;
    for (void* const at : addresses_here_) pieces_here_.push_back({at, layout_.piece});
    for (void* const at : addresses_there_) pieces_there_.push_back({at, layout_.piece});
  }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    BlockResult result;
    if (endpoint_.rank() == Rank{0}) {
      const SimTime start = endpoint_.host().read_clock();
      for (std::uint64_t i = 0; i < iterations; ++i) {
        start_one();
        spin_step();
      }
      endpoint_.wait_nbi();
      result = {endpoint_.host().read_clock() - start, iterations, {}};
      result.add_bandwidth(size_);
      result.add_rate();
    }
    endpoint_.barrier();
    return result;
  }

  Verification verify() override {
    endpoint_.barrier();
    const bool checks = endpoint_.rank() == Rank{is_put_ ? 1U : 0U};
    std::byte* const moved = is_put_ ? there_ : here_.data();
    return vis::verify(layout_, checks ? moved : nullptr, seed_, [this] { (void)run(1); });
  }

  // Rank 0 moves.
  [[nodiscard]] Resolved resolved() override {
    const Mechanism last = vis_.last().mechanism;
    return last == Mechanism::automatic ? Resolved{} : Resolved{{"mechanism", core::vis::name_of(last)}};
  }

 private:
  void start_one() {
    switch (form_) {
      case vis::Form::strided:
        move(core::vis::Strided{to(here_.data(), there_), layout_.strides, to(there_, here_.data()), layout_.strides,
                                layout_.piece, layout_.counts});
        return;
      case vis::Form::indexed: {
        const auto& from = is_put_ ? addresses_here_ : addresses_there_;
        const auto& at = is_put_ ? addresses_there_ : addresses_here_;
        move(core::vis::Indexed{at, layout_.piece, from, layout_.piece});
        return;
      }
      case vis::Form::vector:
        move(core::vis::Vector{is_put_ ? pieces_there_ : pieces_here_, is_put_ ? pieces_here_ : pieces_there_});
    }
  }
  // Of a get's and a put's address the one that holds.
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
  std::byte* there_ = nullptr;
  std::vector<void*> addresses_here_;
  std::vector<void*> addresses_there_;
  std::vector<core::vis::Piece> pieces_here_;
  std::vector<core::vis::Piece> pieces_there_;
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
