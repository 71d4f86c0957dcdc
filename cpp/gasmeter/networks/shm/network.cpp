// Registration of shared memory: the conduit smp, which is a neighbourhood of all ranks, and raw programs.
#include <memory>
#include <utility>

#include "gasmeter/launch/reservation.hpp"
#include "gasmeter/launch/wait_mode.hpp"
#include "gasmeter/networks/registry.hpp"
#include "gasmeter/networks/shm/raw/programs.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"

namespace gasmeter::networks {
namespace shm {
namespace {

// Shared memory for raw programs. Conduits use the memory itself, as neighbours do.
class RealShm final : public RealNetwork {
 public:
  explicit RealShm(const RealJob& job)
      : link_(job.link), settings_(job.settings), reservation_(job.link, job.id, launch::GiveBack::with_object) {}

  std::byte* memory(Bytes bytes, Bytes /*segment*/) override { return reservation_.take(bytes); }
  conduit::Conduit* connect(std::span<std::byte> /*segment*/) override { return nullptr; }
  std::unique_ptr<Program> make_raw() override {
    const Bytes each = share(raw::programs(), settings_);
    std::byte* const block = memory(SharedMemory::footprint(link_.size(), each), 0);
    memory_ = std::make_unique<SharedMemory>(block, link_.rank(), link_.size(), each, launch::wait_mode(link_));
    return networks::make_raw<raw::Context>(raw::programs(), {*memory_}, settings_);
  }

 private:
  launch::RankLink& link_;
  Settings settings_;
  launch::Reservation reservation_;
  std::unique_ptr<SharedMemory> memory_;
};

}  // namespace
}  // namespace shm

void register_shm(Registry& registry) {
  using namespace shm;
  RealEntry entry;
  entry.info = {
      .name = "shm",
      .summary = "the memory itself, without the library",
      .conduits =
          {{"smp",
            "a neighbourhood of all ranks over POSIX shared memory",
            {{"debug_spin",
              "float",
              "0",
              "ratio",
              {},
              "debug: handlers spin so that an active message's round trip takes this share longer, to test "
              "guards with"},
             {"threads", "bool", "false", "", {}, "an endpoint that several threads may call (locks on every path)"}}}},
      .raw_options = {},
      .raw = listed(raw::programs())};
  entry.shares_memory = true;
  entry.open = [](const RealJob& job) -> std::unique_ptr<RealNetwork> { return std::make_unique<RealShm>(job); };
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks
