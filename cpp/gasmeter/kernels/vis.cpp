// Vector, indexed and strided transfers from rank 0 to rank 1: bandwidth of payload by size of the pieces, density and
// number of levels of the description. Raw on the memory itself: nested loops around memcpy.
//
// Layout as in testvisperf of GASNet: a piece of `piece` bytes every piece / density bytes, at both sides. A
// description of L levels takes, for each level but the last, the largest divisor f of the pieces that are left with
// f <= left / (2 (L - level)), and the rest for the last: all levels together walk through the same pieces, and fold
// into one. With foldable=false each level keeps a piece's distance from what lies below.
#include "gasmeter/core/vis/vis.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/mutants.hpp"
#include "gasmeter/kernels/pattern.hpp"
#include "gasmeter/kernels/resolved.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"

namespace gasmeter::kernels {
namespace {

using core::vis::Implementation;
using core::vis::Mechanism;

enum class Form : std::uint8_t { strided, indexed, vector };

constexpr Bytes kMostOptionLevels = 32;
constexpr std::byte kGap{0x5a};

// What all programs of this kernel move.
struct Layout {
  explicit Layout(const Settings& settings)
      : piece(static_cast<Bytes>(settings.integer("piece"))), pieces(settings.size / piece) {
    const auto distance = static_cast<Bytes>(std::llround(static_cast<double>(piece) / settings.number("density")));
    const auto levels = static_cast<Bytes>(settings.integer("levels"));
    const bool foldable = settings.flag("foldable");
    Bytes left = pieces;
    Bytes stride = distance;
    for (Bytes level = 1; level <= levels; ++level) {
      Bytes count = left;
      if (level < levels) {
        count = 1;
        for (Bytes f = left / (2 * (levels - level)); f > 1; --f) {
          if (left % f != 0) continue;
          count = f;
          break;
        }
      }
      counts.push_back(count);
      strides.push_back(static_cast<std::ptrdiff_t>(stride));
      left /= count;
      stride = stride * count + (foldable || count == 1 ? 0 : distance);
    }
    for (std::size_t i = 0; i < counts.size(); ++i) extent += (counts[i] - 1) * static_cast<Bytes>(strides[i]);
    extent += piece;
  }

  // f(offset) for every piece, in order.
  template <class F>
  void for_pieces(F&& f) const {
    std::vector<Bytes> digit(counts.size());
    std::ptrdiff_t offset = 0;
    for (Bytes i = 0; i < pieces; ++i) {
      f(offset);
      for (std::size_t level = 0; level < counts.size(); ++level) {
        offset += strides[level];
        if (++digit[level] < counts[level]) break;
        offset -= static_cast<std::ptrdiff_t>(counts[level]) * strides[level];
        digit[level] = 0;
      }
    }
  }
  [[nodiscard]] std::vector<void*> addresses(std::byte* base) const {
    std::vector<void*> all;
    for_pieces([&](std::ptrdiff_t offset) { all.push_back(base + offset); });
    return all;
  }
  // Bytes of `moved` are those of the pattern in pieces, and between them those that were there, kGap.
  void check(Verification& found, const std::byte* moved, std::uint64_t seed) const {
    std::vector<std::byte> expected(extent, kGap);
    for_pieces([&](std::ptrdiff_t offset) {
      for (Bytes i = 0; i < piece; ++i) {
        const Bytes at = static_cast<Bytes>(offset) + i;
        expected[at] = pattern_byte(seed, at);
      }
    });
    found.checked += extent;
    for (Bytes i = 0; i < extent; ++i) found.errors += moved[i] != expected[i] ? 1U : 0U;
  }

  Bytes piece;
  Bytes pieces;
  std::vector<Bytes> counts;
  std::vector<std::ptrdiff_t> strides;
  Bytes extent = 0;
};

void check(const Settings& settings) {
  const std::int64_t piece = settings.integer("piece");
  const double density = settings.number("density");
  const std::int64_t levels = settings.integer("levels");
  const auto refuse = [&](const std::string& what) { throw UsageError("kernel vis: " + what); };
  if (piece < 1) refuse("piece=" + settings.text("piece") + "; at least 1 B");
  if (!(density > 0.0 && density <= 1.0)) refuse("density=" + settings.text("density") + "; above 0, at most 1");
  if (levels < 1 || levels > static_cast<std::int64_t>(kMostOptionLevels)) {
    refuse("levels=" + settings.text("levels") + "; 1 to 32 are allowed");
  }
  if (settings.size == 0 || settings.size % static_cast<Bytes>(piece) != 0) {
    refuse("size " + std::to_string(settings.size) + " B is no whole number of pieces of " + std::to_string(piece) +
           " B");
  }
}

Form parse_form(const std::string& op) {
  if (op.starts_with("strided")) return Form::strided;
  return op.starts_with("indexed") ? Form::indexed : Form::vector;
}

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
        form_(parse_form(settings.op)),
        is_put_(settings.op.ends_with("put")),
        size_(settings.size),
        seed_(settings.seed),
        here_(layout_.extent) {
    require_ranks(settings, 2);
    fill_pattern(here_, seed_);
    there_ = endpoint.segment(Rank{1}).address;
    if (endpoint.rank() == Rank{1}) fill_pattern({there_, layout_.extent}, seed_);
    if (form_ == Form::strided) return;
    addresses_here_ = layout_.addresses(here_.data());
    addresses_there_ = layout_.addresses(there_);
    if (form_ == Form::indexed) return;
    for (void* const at : addresses_here_) pieces_here_.push_back({at, layout_.piece});
    for (void* const at : addresses_there_) pieces_there_.push_back({at, layout_.piece});
  }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    BlockResult result;
    if (endpoint_.rank() == Rank{0}) {
      const SimTime start = endpoint_.host().now();
      for (std::uint64_t i = 0; i < iterations; ++i) {
        start_one();
        spin_step();
      }
      endpoint_.wait_nbi();
      result = {endpoint_.host().now() - start, iterations, {}};
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
    const std::vector<std::byte> before(moved, moved + (checks ? layout_.extent : 0));
    Verification found;
    for (std::uint64_t round = 0; round < kCheckedRounds; ++round) {
      if (checks) std::memset(moved, std::to_integer<int>(kGap), layout_.extent);
      (void)run(1);
      if (checks) layout_.check(found, moved, seed_);
    }
    std::copy(before.begin(), before.end(), moved);
    return found;
  }

  // Rank 0 moves.
  [[nodiscard]] Resolved resolved() override {
    const Mechanism last = vis_.last().mechanism;
    return last == Mechanism::automatic ? Resolved{} : Resolved{{"mechanism", core::vis::name_of(last)}};
  }

 private:
  void start_one() {
    switch (form_) {
      case Form::strided:
        move(core::vis::Strided{to(here_.data(), there_), layout_.strides, to(there_, here_.data()), layout_.strides,
                                layout_.piece, layout_.counts});
        return;
      case Form::indexed: {
        const auto& from = is_put_ ? addresses_here_ : addresses_there_;
        const auto& at = is_put_ ? addresses_there_ : addresses_here_;
        move(core::vis::Indexed{at, layout_.piece, from, layout_.piece});
        return;
      }
      case Form::vector:
        move(core::vis::Vector{is_put_ ? pieces_there_ : pieces_here_, is_put_ ? pieces_here_ : pieces_there_});
    }
  }
  // Of a get's and a put's address the one that holds.
  [[nodiscard]] std::byte* to(std::byte* of_get, std::byte* of_put) const { return is_put_ ? of_put : of_get; }
  // Planted: the first piece is changed where this rank has it, for as long as it leaves or once it has come.
  template <class T>
  void move(const T& transfer) {
    const Mutant mutant = mutants::next();
    if (mutant == Mutant::drop) return;
    const bool changes = mutant == Mutant::misplace || mutant == Mutant::corrupt;
    std::byte* const first = here_.data();
    if (changes && is_put_) change(mutant, first);
    start(transfer);
    if (!changes) return;
    endpoint_.wait_nbi();
    change(mutant, first);
  }
  static void change(Mutant mutant, std::byte* first) {
    mutant == Mutant::corrupt ? void(*first ^= std::byte{1}) : std::swap(first[0], first[1]);
  }
  template <class T>
  void start(const T& transfer) {
    (void)(is_put_ ? vis_.put_nbi(Rank{1}, transfer) : vis_.get_nbi(Rank{1}, transfer));
  }

  core::Endpoint<H>& endpoint_;
  core::Vis<H> vis_;
  Layout layout_;
  Form form_;
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

// The same by loops of the depth that is given, and one memcpy per piece.
class RawVis final : public Program {
 public:
  RawVis(RawShm context, const Settings& settings)
      : memory_(context.memory),
        layout_(settings),
        form_(parse_form(settings.op)),
        is_put_(settings.op.ends_with("put")),
        size_(settings.size),
        seed_(settings.seed),
        here_(layout_.extent) {
    require_ranks(settings, 2);
    fill_pattern(here_, seed_);
    there_ = memory_.share(1);
    if (memory_.rank() == Rank{1}) fill_pattern({there_, layout_.extent}, seed_);
    if (form_ == Form::strided) return;
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
        if (form_ == Form::strided) {
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
    const std::vector<std::byte> before(moved, moved + (checks ? layout_.extent : 0));
    Verification found;
    for (std::uint64_t round = 0; round < kCheckedRounds; ++round) {
      if (checks) std::memset(moved, std::to_integer<int>(kGap), layout_.extent);
      (void)run(1);
      if (checks) layout_.check(found, moved, seed_);
    }
    std::copy(before.begin(), before.end(), moved);
    return found;
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

  networks::shm::SharedMemory& memory_;
  Layout layout_;
  Form form_;
  bool is_put_;
  Bytes size_;
  std::uint64_t seed_;
  AlignedBuffer here_;
  std::byte* there_ = nullptr;
  std::vector<void*> to_;
  std::vector<void*> from_;
};

}  // namespace

void register_vis(Registry& registry) {
  const MetricInfo put_bandwidth{"bandwidth", "B/s", "payload of non-blocking puts, all remotely complete"};
  const MetricInfo get_bandwidth{"bandwidth", "B/s", "payload of non-blocking gets, all at the initiator"};
  const MetricInfo rate{"rate", "1/s", "operations, all complete"};
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
      [](const Settings& settings) {
        check(settings);
        return Layout(settings).extent;
      });
  kernel.check = &check;
  kernel.raw_plan = kernel.plan;
  kernel.make_raw_shm = [](RawShm context, const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<RawVis>(context, settings);
  };
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
