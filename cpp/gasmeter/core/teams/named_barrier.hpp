// The barrier of GASNet-1 [G1:Barriers]: of all ranks, in two phases, with a name that has to be the same everywhere.
#pragma once

#include <cstdint>
#include <optional>

#include "gasmeter/core/teams/teams.hpp"

namespace gasmeter::core {

enum class BarrierFlags : std::uint8_t {
  named = 0,
  anonymous = 1,  // any name goes with it
  mismatch = 2,   // everybody is to get a mismatch
  unnamed = 5,    // anonymous, and all ranks promise it
};
enum class BarrierResult : std::uint8_t { ok, mismatch };

namespace teams {

// What ranks tell each other; merged in any order, any number of times, it comes out the same.
struct BarrierName {
  enum class State : std::uint32_t { anonymous = 0, named = 1, mismatch = 2 };
  State state = State::anonymous;
  std::int32_t id = 0;  // of a name

  [[nodiscard]] static BarrierName of(std::int32_t id, BarrierFlags flags);
  [[nodiscard]] BarrierName merged(const BarrierName& other) const;
  bool operator==(const BarrierName&) const = default;
};
// What a rank gets that notified with `notified` and waits with `waited`, when `all` is everybody's merged.
[[nodiscard]] BarrierResult barrier_result(const BarrierName& all, const BarrierName& notified,
                                           const BarrierName& waited);

}  // namespace teams

// One per Teams. Notify and wait alternate; between the two no collective of the primordial team may start. Ranks of
// one neighbourhood meet through its shared lines, others by a reduction to all.
template <class H>
class NamedBarrier {
 public:
  explicit NamedBarrier(Teams<H>& teams);
  NamedBarrier(const NamedBarrier&) = delete;
  NamedBarrier& operator=(const NamedBarrier&) = delete;

  // Tells that this rank is here, and returns at once. A second one before a wait is refused.
  void notify(std::int32_t id, BarrierFlags flags);
  // Waits until all ranks have notified. Without a notify it is refused.
  BarrierResult wait(std::int32_t id, BarrierFlags flags);
  // Polls once; nothing: not all ranks are known to be here, and nothing has changed.
  std::optional<BarrierResult> try_wait(std::int32_t id, BarrierFlags flags);
  // Both.
  BarrierResult barrier(std::int32_t id, BarrierFlags flags) {
    notify(id, flags);
    return wait(id, flags);
  }
  // The name of the last barrier that was waited for; nothing: it was anonymous. After a mismatch anything.
  [[nodiscard]] std::optional<std::int32_t> result() const {
    return all_.state == teams::BarrierName::State::named ? std::optional(all_.id) : std::nullopt;
  }

 private:
  using Name = teams::BarrierName;
  // Goes on as far as neighbours have come; true: all are here.
  bool advance_near();
  void tell();
  [[nodiscard]] std::atomic_ref<std::uint64_t> word(std::uint32_t neighbour, std::uint32_t round) const;
  [[nodiscard]] BarrierResult finish(std::int32_t id, BarrierFlags flags);
  void check_phase(const char* call, bool notified) const;

  Teams<H>& teams_;
  Endpoint<H>& endpoint_;
  bool is_near_;
  std::uint32_t epoch_ = 0;
  std::uint32_t round_ = 0;
  bool notified_ = false;
  Name mine_;  // as notified
  Name all_;   // merged so far
  Event event_;
};

}  // namespace gasmeter::core
