// Faults planted below an endpoint's interface, counted by rank; base/mutants.hpp names them.
// Counted are a client's calls (request, reply, put, get, atomic, transfer of pieces, collective), and messages by
// which collectives and shared spaces do their work. Other messages of the library, and the barriers between blocks,
// have no faults.
//
// Builds without GASMETER_MUTANTS have NoFaults in the place of Faults, and no hooks: their machine code does not
// change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "gasmeter/base/mutants.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/status.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/atomic.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/core/event.hpp"
#include "gasmeter/core/message.hpp"
#include "gasmeter/core/operation_table.hpp"

namespace gasmeter::core {

template <class H>
class Endpoint;
template <class H>
class Token;

// The call that starts a transfer.
enum class Asked : std::uint8_t { put, get, put_nb, get_nb, put_nbi, get_nbi };
[[nodiscard]] constexpr bool is_put(Asked asked) {
  return asked == Asked::put || asked == Asked::put_nb || asked == Asked::put_nbi;
}

// The planted faults of one endpoint. The endpoint calls each hook before the operation. A hook that returns a value
// has done the call. A single thread at a time may call the endpoint.
template <class H>
class Faults {
 public:
  using E = Endpoint<H>;

  void plan(const MutantPlan& plan) { plan_ = plan; }

  std::optional<Event> transfer(E& endpoint, Asked asked, Rank rank, void* to, const void* from, Bytes bytes,
                                LocalCompletion local = LocalCompletion::defer());
  std::optional<Status> request(E& endpoint, Rank to, const Message& message, Flags flags);
  std::optional<Status> reply(Token<H>& token, const Message& message, Flags flags);
  // Change the payload of a prepared message in place, or cancel the message. `client` is the client's own buffer, or
  // null.
  template <class Prepared>
  std::optional<Status> commit(E& endpoint, Prepared& prepared, const void* client, bool is_request, Rank peer,
                               const Message& message, Flags flags);
  // Return the fault of an atomic. Plain loads and stores (get, set) have none.
  [[nodiscard]] Mutant atomic(E& endpoint, conduit::AtomicOp op);
  [[nodiscard]] Mutant pieces(E& endpoint);
  // Return the event of a collective that begins; done if it is reported early.
  [[nodiscard]] Event collective(Event event, bool is_barrier);

  // Note that the rank waits or polls: sources that are read late are read now.
  void sync(E& endpoint) {
    if (paused_ != 0) return;
    in_window_ = 0;
    read_late(endpoint);
  }
  // Read the sources that are read late. Also called when a message is prepared.
  void read_late(E& endpoint);
  // Note that the rank enters a barrier: late effects happen now.
  void enter_barrier(E& endpoint);
  // Tell whether the rank's current barrier does not hold it.
  [[nodiscard]] bool lets_go() const { return lets_go_; }
  // Count a barrier that has no enter_barrier(); return whether it does not hold the rank.
  [[nodiscard]] bool leaves_barrier(Rank rank);
  // Return the group of implicit operations that were already reported complete; null: the caller's own group.
  [[nodiscard]] ImplicitGroup* hidden_group() { return hides_ ? &hidden_ : nullptr; }

  // Scope in which operations belong to the faults themselves, and get none.
  class Pause {
   public:
    explicit Pause(Faults& faults) : faults_(faults) { ++faults_.paused_; }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    ~Pause() { --faults_.paused_; }

   private:
    Faults& faults_;
  };
  // Start an implicit operation that no wait of the client names.
  template <class Start>
  void hide(Start&& start) {
    const Pause pause(*this);
    hides_ = true;
    start();
    hides_ = false;
  }
  // Tell whether memory is a local variable of a function that calls the endpoint. A late get must not write such a
  // variable, which may be gone.
  [[nodiscard]] GASMETER_NOINLINE static bool is_local_variable(const void* memory) {
    constexpr std::uintptr_t kFrames = 16 * 1024;  // bytes of stack that the callers' frames may take
    const std::byte frame{};
    return reinterpret_cast<std::uintptr_t>(memory) - reinterpret_cast<std::uintptr_t>(&frame) < kFrames;
  }
  // Put off an operation until the rank's next barrier.
  void hold(std::function<void()> operation) { held_.push_back(std::move(operation)); }
  // Return memory that is reused only after many more calls.
  [[nodiscard]] std::vector<std::byte>& kept() { return kept_[next_kept_++ % kept_.size()]; }
  [[nodiscard]] std::uint64_t* result_word() { return &result_word_; }

 private:
  static constexpr unsigned bit(Mutant mutant) { return 1U << static_cast<unsigned>(mutant); }
  template <class... Mutants>
  static constexpr unsigned bits(Mutants... mutants) {
    return (0U | ... | bit(mutants));
  }
  // Return the fault of an operation that can have the faults in `befall`.
  [[nodiscard]] Mutant next(unsigned befall);
  [[nodiscard]] static bool counts(HandlerIndex handler);
  [[nodiscard]] static unsigned befall(const Message& message);
  // Return the message to send instead: with another payload or, for a Short, with other arguments.
  [[nodiscard]] Message changed(E& endpoint, Mutant mutant, Rank peer, const Message& message);
  [[nodiscard]] const std::byte* landing_zone(E& endpoint, Rank peer, const Message& message) const;
  void remember(const Message& message);

  MutantPlan plan_ = MutantPlan::of_process();
  std::uint64_t count_ = 0;
  std::uint64_t in_window_ = 0;
  std::uint64_t barriers_ = 0;
  unsigned paused_ = 0;
  bool hides_ = false;
  bool lets_go_ = false;
  ImplicitGroup hidden_;
  std::vector<std::function<void()>> late_;  // run at the next call
  std::vector<std::function<void()>> held_;  // run at the next barrier
  std::vector<Event> held_events_;
  std::deque<std::vector<std::byte>> late_variables_;  // destinations of late gets in place of local variables
  std::vector<std::byte> last_payload_;
  std::array<std::int32_t, conduit::kMaxArguments> words_{};
  std::array<std::vector<std::byte>, 64> kept_;
  std::size_t next_kept_ = 0;
  std::uint64_t result_word_ = 0;  // result of atomics that are reported complete without one
};

// Stands for Faults in builds that plant none.
struct NoFaults {};

template <class H>
using PlantedFaults = std::conditional_t<kMutants, Faults<H>, NoFaults>;

}  // namespace gasmeter::core
