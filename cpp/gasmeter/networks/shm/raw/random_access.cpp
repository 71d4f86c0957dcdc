// Atomic exclusive-or on the memory itself, without the library.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/random_access_check.hpp"
#include "gasmeter/bench/random_access_in_place.hpp"
#include "gasmeter/bench/random_access_stream.hpp"
#include "gasmeter/bench/random_access_table.hpp"
#include "gasmeter/networks/shm/raw/programs.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"

namespace gasmeter::networks::shm::raw {

using namespace bench;

namespace {

using namespace random_access;

// A rank's share is its part of the table.
class RandomAccess final : public Program {
 public:
  RandomAccess(Context context, const Settings& settings)
      : memory_(context.memory), table_(distribution_of(settings)), stream_(table_, index(memory_.rank())) {
    require_packed(settings, "shm");
    for (std::uint32_t rank = 0; rank < memory_.ranks(); ++rank) {
      shares_.push_back(reinterpret_cast<std::uint64_t*>(memory_.share(rank)));
    }
    initialise(local(), first(), count());
  }

  [[nodiscard]] bool compares() const override { return count() != 0; }

  BlockResult run(std::uint64_t iterations) override {
    memory_.barrier();
    const SimTime start = memory_.host().now();
    update(iterations);
    memory_.barrier();
    BlockResult result{memory_.host().now() - start, iterations * memory_.ranks(), {}};
    add_gups(result);
    return result;
  }

  Verification verify() override {
    return verifier_.verify(
        local(), table_, index(memory_.rank()), memory_.ranks(), stream_,
        [this](std::uint64_t count) { update(count); }, [this] { memory_.barrier(); });
  }

 private:
  [[nodiscard]] std::uint64_t first() const { return table_.first_of(index(memory_.rank())); }
  [[nodiscard]] std::uint64_t count() const { return table_.count_of(index(memory_.rank())); }
  [[nodiscard]] std::uint64_t* local() const { return shares_[index(memory_.rank())]; }
  void update(std::uint64_t updates) { update_in_place(stream_, updates, table_, shares_); }

  SharedMemory& memory_;
  Distribution table_;
  Stream stream_;
  std::vector<std::uint64_t*> shares_;
  Verifier verifier_;
};

}  // namespace

std::unique_ptr<Program> make_random_access(Context context, const Settings& settings) {
  return std::make_unique<RandomAccess>(context, settings);
}

}  // namespace gasmeter::networks::shm::raw
