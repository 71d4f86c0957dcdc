#include "gasmeter/run/model_ranks.hpp"

#include <sys/mman.h>

#include <span>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/counting_conduit.hpp"
#include "gasmeter/launch/available_memory.hpp"
#include "gasmeter/run/setup.hpp"

namespace gasmeter::run {

using core::NeighbourhoodLayout;

namespace {
constexpr Bytes kHuge = 4 * 1024 * 1024;
}

// Map memory from the operating system. calloc() would write zeros over used memory, a hundred KiB for each rank.
ModelRanks::Block::Block(Bytes bytes) : memory_(nullptr, Free{bytes}) {
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    throw ResourceError("virtual ranks: no memory for " + std::to_string(bytes) + " bytes of segments and rings");
  }
  // Blocks of many ranks lie side by side: huge pages would be touched all over.
  if (bytes < kHuge) (void)::madvise(mapped, bytes, MADV_NOHUGEPAGE);
  memory_.reset(static_cast<std::byte*>(mapped));
}

void ModelRanks::Block::Free::operator()(std::byte* memory) const {
  ::munmap(memory, bytes);
}

ModelRanks::ModelRanks(const Request& request)
    : request_(request),
      machine_(machine_of(request)),
      engine_(engine_options()),
      network_(std::make_unique<ComposedNetwork>(request, *machine_, engine_)) {}

// Return the engine's options. A trace needs one thread; results do not depend on the number of threads.
sim::EngineOptions ModelRanks::engine_options() const {
  sim::EngineOptions options = machine_->engine_options();
  if (request_.trace) options.threads = 1;
  return options;
}

Bytes ModelRanks::largest_segment() const {
  return run::largest_segment(request_, *machine_);
}

ModelRanks::~ModelRanks() {
  engine_.cancel();
}

void ModelRanks::make_endpoints(Bytes segment_bytes, const Wrap& wrap, Setup* setup) {
  const bool shared = request_.settings.flag("neighbourhood");
  constexpr Bytes kLooked = Bytes{64} << 20U;  // the memory of the machine stands in a dozen files
  if (const Bytes free = segment_bytes < kLooked ? kLooked : launch::available_memory(); segment_bytes > free) {
    throw ResourceError("virtual ranks: a segment of " + std::to_string(segment_bytes) + " bytes; " +
                        std::to_string(free) + " bytes are free; use a smaller size");
  }
  std::vector<core::JobView> views;
  for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
    const std::span<const Rank> node = engine_.ranks_of(engine_.node_of(Rank{rank}));
    if (shared && index(node.back()) - index(node.front()) + 1 != node.size()) {
      throw UsageError("option 'neighbourhood=true': the placement puts ranks on node " +
                       std::to_string(index(engine_.node_of(Rank{rank}))) + " that do not follow one another");
    }
    const std::uint32_t first = shared ? index(node.front()) : rank;
    const auto layout = NeighbourhoodLayout::of(shared ? static_cast<std::uint32_t>(node.size()) : 1, segment_bytes);
    if (rank == first) blocks_.emplace_back(layout.total());
    std::byte* block = blocks_.back().data();
    segments_.push_back({block + layout.segment_at(rank - first), segment_bytes});
    views.push_back({Rank{rank}, engine_.ranks(), Rank{first}, layout, block, {}});
  }
  for (core::JobView& view : views) {
    view.segments = segments_;
    const sim::ModelHost host = engine_.host(view.rank);
    conduits_.push_back(network_->make_conduit(host));
    if (conduits_.back() != nullptr) count(*conduits_.back());
    if (wrap) {
      auto wrapped = wrap(view.rank, *conduits_.back());
      conduits_.push_back(std::move(wrapped));
    }
    endpoints_.push_back(std::make_unique<Endpoint>(host, view, conduits_.back().get()));
    endpoints_.back()->poll_at_injection(request_.polls_at_injection());
    endpoints_.back()->use(request_.forms());
    if (setup != nullptr) setup->made(index(view.rank));
  }
}

// Put a counting conduit in front of a conduit that does not count itself.
void ModelRanks::count(conduit::Conduit& made) {
  reserving_.push_back(dynamic_cast<const conduit::ReservesMemory*>(&made));
  telling_.push_back(dynamic_cast<const conduit::TellsHoldings*>(&made));
  counting_.push_back(dynamic_cast<const conduit::CountsItself*>(&made));
  if (counting_.back() != nullptr) return;
  auto counting = std::make_unique<conduit::CountingConduit>(made);
  counting_.back() = counting.get();
  conduits_.push_back(std::move(counting));
}

Bytes ModelRanks::reserved_bytes() const {
  Bytes sum = 0;
  for (const conduit::ReservesMemory* each : reserving_) {
    if (each == nullptr) {
      throw UsageError("conduit " + request_.conduit->name +
                       " does not say what memory it reserves; let it be a conduit::ReservesMemory");
    }
    sum += each->reserved_bytes();
  }
  return sum;
}

std::vector<conduit::Holding> ModelRanks::holdings(Rank rank) const {
  if (index(rank) >= telling_.size() || telling_[index(rank)] == nullptr) {
    throw UsageError("conduit " + request_.conduit->name + " does not tell what rank " + std::to_string(index(rank)) +
                     " holds; let it be a conduit::TellsHoldings");
  }
  return telling_[index(rank)]->holdings();
}

void ModelRanks::add_to(conduit::Counts& counts) const {
  for (const conduit::CountsItself* each : counting_) each->add_to(counts);
  for (const auto& endpoint : endpoints_) endpoint->add_to(counts);
  network_->add_to(counts);
}

}  // namespace gasmeter::run
