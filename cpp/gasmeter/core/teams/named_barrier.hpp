// The barrier of GASNet-1 [G1:Barriers]: for all ranks, in two phases, with a name that must be the same at all ranks.
#pragma once

#include <cstdint>
#include <optional>

#include "gasmeter/core/teams/teams.hpp"

namespace gasmeter::core {

enum class BarrierFlags : std::uint8_t {
  named = 0,
  anonymous = 1,  // matches any name
  mismatch = 2,   // makes all ranks return a mismatch
  unnamed = 5,    // anonymous, and all ranks promise it
};
enum class BarrierResult : std::uint8_t { ok, mismatch };

namespace teams {

// Name that ranks exchange. Merging gives the same result in any order and any number of times.
struct BarrierName {
  enum class State : std::uint32_t { anonymous = 0, named = 1, mismatch = 2 };
  State state = State::anonymous;
  std::int32_t id = 0;  // of State::named

  [[nodiscard]] static BarrierName of(std::int32_t id, BarrierFlags flags);
  [[nodiscard]] BarrierName merged(const BarrierName& other) const;
  bool operator==(const BarrierName&) const = default;
};
// Return the result for a rank that notified with `notified` and waits with `waited`. `all` is the merged name of all
// ranks.
[[nodiscard]] BarrierResult barrier_result(const BarrierName& all, const BarrierName& notified,
                                           const BarrierName& waited);

}  // namespace teams

// A Teams object has one such barrier. Notify and wait alternate. Between them no collective of the primordial team
// may start. Ranks of one neighbourhood meet through its shared lines, others by a reduction to all.
template <class H>
class NamedBarrier {
 public:
  explicit NamedBarrier(Teams<H>& teams);
  NamedBarrier(const NamedBarrier&) = delete;
  NamedBarrier& operator=(const NamedBarrier&) = delete;

  // Announce this rank and return at once. A second call before a wait is refused.
  void notify(std::int32_t id, BarrierFlags flags);
  // Wait until all ranks have notified. Without a notify the call is refused.
  BarrierResult wait(std::int32_t id, BarrierFlags flags);
  // Poll once. Return nothing if not all ranks are known to have notified; then nothing has changed.
  std::optional<BarrierResult> try_wait(std::int32_t id, BarrierFlags flags);
  // Notify and wait.
  BarrierResult barrier(std::int32_t id, BarrierFlags flags) {
    notify(id, flags);
    return wait(id, flags);
  }
  // Return the name of the last barrier that was waited for; nothing if it was anonymous. After a mismatch the value
  // has no meaning.
  [[nodiscard]] std::optional<std::int32_t> result() const {
    return all_.state == teams::BarrierName::State::named ? std::optional(all_.id) : std::nullopt;
  }

 private:
  using Name = teams::BarrierName;
  // Advance as far as neighbours have arrived. Return whether all have.
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
  Name mine_;  // name given to notify()
  Name all_;   // merged so far
  Event event_;
};

}  // namespace gasmeter::core
