#include "gasmeter/core/teams/named_barrier.hpp"

#include <atomic>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::core {

namespace teams {

BarrierName BarrierName::of(std::int32_t id, BarrierFlags flags) {
  const auto bits = static_cast<unsigned>(flags);
  if ((bits & static_cast<unsigned>(BarrierFlags::mismatch)) != 0) return {State::mismatch, 0};
  if ((bits & static_cast<unsigned>(BarrierFlags::anonymous)) != 0) return {State::anonymous, 0};
  return {State::named, id};
}

BarrierName BarrierName::merged(const BarrierName& other) const {
  if (state == State::anonymous) return other;
  if (other.state == State::anonymous || *this == other) return *this;
  return {State::mismatch, 0};
}

BarrierResult barrier_result(const BarrierName& all, const BarrierName& notified, const BarrierName& waited) {
  using State = BarrierName::State;
  if (all.state == State::mismatch || waited.state == State::mismatch) return BarrierResult::mismatch;
  // A named wait must match the rank's own notify if that was named, else the barrier's name, if there is one.
  const BarrierName& held_to = notified.state == State::named ? notified : all;
  const bool differs = waited.state == State::named && held_to.state == State::named && waited.id != held_to.id;
  return differs ? BarrierResult::mismatch : BarrierResult::ok;
}

}  // namespace teams

namespace {

// Words 1 and 2 of a line hold names of even and of odd barriers, since the partner may be one barrier ahead, but not
// two. number (30 bits) | state (2) | id (32)
constexpr std::uint32_t kNumbers = (1U << 30) - 1;

std::uint64_t packed(std::uint32_t epoch, const teams::BarrierName& name) {
  return std::uint64_t{epoch & kNumbers} << 34 | std::uint64_t{static_cast<std::uint32_t>(name.state)} << 32 |
         static_cast<std::uint32_t>(name.id);
}
teams::BarrierName name_in(std::uint64_t word) {
  return {static_cast<teams::BarrierName::State>(word >> 32 & 3U),
          static_cast<std::int32_t>(static_cast<std::uint32_t>(word & 0xffffffffU))};
}

void merge_names(const void* left, void* right_and_out, std::size_t count, const void* /*context*/) {
  const auto* const in = static_cast<const teams::BarrierName*>(left);
  auto* const out = static_cast<teams::BarrierName*>(right_and_out);
  for (std::size_t i = 0; i < count; ++i) out[i] = in[i].merged(out[i]);
}

}  // namespace

template <class H>
NamedBarrier<H>::NamedBarrier(Teams<H>& teams)
    : teams_(teams), endpoint_(teams.endpoint()), is_near_(endpoint_.neighbours() == endpoint_.ranks()) {}

template <class H>
std::atomic_ref<std::uint64_t> NamedBarrier<H>::word(std::uint32_t neighbour, std::uint32_t round) const {
  return teams_.barrier_word(neighbour, round, 1 + epoch_ % 2);
}

template <class H>
void NamedBarrier<H>::check_phase(const char* call, bool notified) const {
  teams_.check_call(call);
  if (notified_ == notified) return;
  throw UsageError("rank " + std::to_string(index(endpoint_.rank())) + ": " + call +
                   (notified ? ": no barrier was notified" : ": a barrier was notified and not waited for"));
}

template <class H>
void NamedBarrier<H>::notify(std::int32_t id, BarrierFlags flags) {
  check_phase("barrier notify", false);
  notified_ = true;
  all_ = mine_ = Name::of(id, flags);
  if (is_near_) {
    ++epoch_;
    round_ = 0;
    tell();
  } else {
    event_ = teams_.world().reduce_all_nb(&all_, &mine_, 1, Reduction::user(&merge_names, sizeof(Name)));
  }
}

// Signal the rank 2^k behind this one, in round k.
template <class H>
void NamedBarrier<H>::tell() {
  const std::uint32_t ranks = endpoint_.ranks();
  if (std::uint64_t{1} << round_ >= ranks) return;
  H& host = endpoint_.host();
  const std::uint32_t partner = (index(endpoint_.rank()) + (1U << round_)) % ranks;
  host.charge_shared(SharedPrice::line_store);
  host.synchronise();
  word(partner, round_).store(packed(epoch_, all_), std::memory_order_release);
  host.notify(Rank{partner});
}

template <class H>
bool NamedBarrier<H>::advance_near() {
  H& host = endpoint_.host();
  const std::uint32_t ranks = endpoint_.ranks();
  while (std::uint64_t{1} << round_ < ranks) {
    host.synchronise();
    const std::uint64_t received = word(index(endpoint_.rank()), round_).load(std::memory_order_acquire);
    if (received >> 34 != (epoch_ & kNumbers)) return false;
    host.charge_shared(SharedPrice::line_transfer);
    all_ = all_.merged(name_in(received));
    ++round_;
    tell();
  }
  return true;
}

template <class H>
BarrierResult NamedBarrier<H>::finish(std::int32_t id, BarrierFlags flags) {
  notified_ = false;
  return teams::barrier_result(all_, mine_, Name::of(id, flags));
}

template <class H>
BarrierResult NamedBarrier<H>::wait(std::int32_t id, BarrierFlags flags) {
  check_phase("barrier wait", true);
  if constexpr (kMutants)
    if (internals(endpoint_).faults().leaves_barrier(endpoint_.rank())) return finish(id, flags);
  if (is_near_) {
    endpoint_.wait_until([this] { return advance_near(); });
  } else if (!event_.is_done()) {
    endpoint_.wait(event_);
  }
  return finish(id, flags);
}

template <class H>
std::optional<BarrierResult> NamedBarrier<H>::try_wait(std::int32_t id, BarrierFlags flags) {
  check_phase("barrier try", true);
  (void)endpoint_.poll();
  const bool is_done = is_near_ ? advance_near() : endpoint_.test(event_);
  if (!is_done) return std::nullopt;
  return finish(id, flags);
}

template class NamedBarrier<RealHost>;
template class NamedBarrier<ThreadedHost>;
template class NamedBarrier<StampedHost>;
template class NamedBarrier<sim::ModelHost>;

}  // namespace gasmeter::core
