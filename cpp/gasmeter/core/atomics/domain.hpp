// Atomic domains [EX:Atomic Domains]: one type, a set of operations, and the path that does them. The path is chosen
// for the whole set when the domain is created.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/core/atomics/operation.hpp"
#include "gasmeter/core/atomics/remote.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/internals.hpp"

namespace gasmeter::core {

// Path of all operations of a domain. Either a processor at the target does all of them, or the network does.
// Operations of neighbours and of distant ranks are therefore atomic with each other.
enum class AtomicPath : std::uint8_t {
  direct,    // every rank is a neighbour: this rank's own processor does the operation, at once
  mixed,     // neighbours directly, other ranks by active messages
  messages,  // this rank directly, all other ranks by active messages
  network,   // the network does all operations, even at this rank and at neighbours
  to_all,    // all ranks by active messages, as AtomicForm::messages requires
};
[[nodiscard]] constexpr const char* name_of(AtomicPath path) {
  switch (path) {
    case AtomicPath::direct:
      return "direct";
    case AtomicPath::mixed:
      return "direct+messages";
    case AtomicPath::messages:
      break;
    case AtomicPath::network:
      return "network";
    case AtomicPath::to_all:
      return "messages to all";
  }
  return "messages";
}

// All ranks create the same domains in the same order. A rank destroys a domain only when all its operations are
// synchronised. Neither call communicates. Operations of one domain are atomic with each other and with nothing else.
// target: naturally aligned, in the target's segment, as its owner sees it
// result: written when the operation is complete, by fetching operations only; the others ignore it
template <class H, AtomicValue T>
class AtomicDomain {
 public:
  AtomicDomain(Endpoint<H>& endpoint, AtomicOps ops) : endpoint_(endpoint), ops_(ops) {
    if constexpr (!std::is_integral_v<T>) {
      for (unsigned op = static_cast<unsigned>(AtomicOp::bit_and); op < static_cast<unsigned>(AtomicOp::count_); ++op) {
        if (ops.holds(static_cast<AtomicOp>(op))) {
          throw UsageError("atomic domain: and, or and xor are for integers, not for floating point");
        }
      }
    }
    path_ = choose(endpoint, ops);
    const auto& near = internals(endpoint).near();
    if (near.is_aligned() && loads_and_stores()) {
      plain_first_ = index(near.first());
      plain_count_ = near.ranks();
    }
  }
  AtomicDomain(const AtomicDomain&) = delete;
  AtomicDomain& operator=(const AtomicDomain&) = delete;

  [[nodiscard]] AtomicOps ops() const { return ops_; }
  [[nodiscard]] AtomicPath path() const { return path_; }

  // Start an operation. Event::no_op() is returned only with Flags::immediate, if there is no room.
  template <AtomicOp Op>
  GASMETER_INLINE Event nb(T* result, Rank rank, T* target, T a = {}, T b = {}, Flags flags = Flags::none) {
    check<Op>(rank, target, flags);
    if constexpr (kMutants) {
      if (done_wrongly<Op>(result, rank, target, a, b)) return Event::done();
    }
    if (GASMETER_LIKELY(is_plain(rank))) {
      [[maybe_unused]] const T before = do_at<Op>(target, a, b);
      if constexpr (fetches(Op)) *result = before;
      return Event::done();
    }
    return nb_elsewhere<Op>(result, rank, target, a, b, flags);
  }
  // Start an implicit operation: it is synchronised as a put (set), a get (get) or EventSet::rmw (all others).
  template <AtomicOp Op>
  GASMETER_INLINE Status nbi(T* result, Rank rank, T* target, T a = {}, T b = {}, Flags flags = Flags::none) {
    check<Op>(rank, target, flags);
    if constexpr (kMutants) {
      if (done_wrongly<Op>(result, rank, target, a, b)) return Status::ok;
    }
    if (GASMETER_LIKELY(is_plain(rank))) {
      [[maybe_unused]] const T before = do_at<Op>(target, a, b);
      if constexpr (fetches(Op)) *result = before;
      return Status::ok;
    }
    return nbi_elsewhere<Op>(result, rank, target, a, b, flags);
  }
  // Do an operation and wait; return op0 of a fetching operation.
  template <AtomicOp Op>
  GASMETER_INLINE T wait(Rank rank, T* target, T a = {}, T b = {}) {
    check<Op>(rank, target, Flags::none);
    if constexpr (kMutants) {
      T nothing{};
      if (done_wrongly<Op>(&nothing, rank, target, a, b)) return nothing;
    }
    if (GASMETER_LIKELY(is_plain(rank))) return do_at<Op>(target, a, b);
    T result{};
    Event event = nb_elsewhere<Op>(&result, rank, target, a, b, Flags::none);
    if (!event.is_done()) endpoint_.wait(event);
    return result;
  }

  // The same calls with an operation chosen at run time.
  Event nb(AtomicOp op, T* result, Rank rank, T* target, T a = {}, T b = {}, Flags flags = Flags::none) {
    return atomics::with_operation(
        op, [&]<AtomicOp Op>() { return this->template nb<Op>(result, rank, target, a, b, flags); });
  }
  Status nbi(AtomicOp op, T* result, Rank rank, T* target, T a = {}, T b = {}, Flags flags = Flags::none) {
    return atomics::with_operation(
        op, [&]<AtomicOp Op>() { return this->template nbi<Op>(result, rank, target, a, b, flags); });
  }

 private:
  [[nodiscard]] static AtomicPath choose(Endpoint<H>& endpoint, AtomicOps ops) {
    const AtomicForm form = endpoint.forms().atomics;
    const std::uint32_t neighbours = endpoint.neighbours();
    if (form == AtomicForm::messages) return AtomicPath::to_all;
    if (neighbours == endpoint.ranks()) return AtomicPath::direct;
    const bool may_offload = form == AtomicForm::specialised;
    if (may_offload && RemoteAtomics<H>::offloaded(endpoint, atomics::value_type<T>(), ops)) return AtomicPath::network;
    return neighbours > 1 ? AtomicPath::mixed : AtomicPath::messages;
  }
  // Tell whether loads and stores do the operations at this rank and at neighbours.
  [[nodiscard]] bool loads_and_stores() const { return path_ != AtomicPath::network && path_ != AtomicPath::to_all; }
  // Tell whether the rank is a neighbour that has the same addresses as this rank, so that none is translated.
  [[nodiscard]] GASMETER_INLINE bool is_plain(Rank rank) const { return index(rank) - plain_first_ < plain_count_; }
  template <AtomicOp Op>
  GASMETER_INLINE T do_at(T* word, T a, T b) {
    H& host = endpoint_.host();
    host.charge(PrivatePrice::call);
    host.charge_shared(SharedPrice::line_transfer);
    host.synchronise();
    return atomics::apply<Op, T>(word, a, b);
  }
  // Plant a fault: do the operation wrongly or later, and without its result. Return false if the caller must still do
  // it.
  template <AtomicOp Op>
  bool done_wrongly(T* result, Rank rank, T* target, T& a, T b) {
    auto& faults = internals(endpoint_).faults();
    const Mutant mutant = faults.atomic(endpoint_, Op);
    if (mutant == Mutant::none) return false;
    auto* const elsewhere = reinterpret_cast<T*>(faults.result_word());
    switch (mutant) {
      case Mutant::repeat: {
        const typename std::remove_reference_t<decltype(faults)>::Pause pause(faults);
        *elsewhere = wait<Op>(rank, target, a, b);
        return false;
      }
      case Mutant::misplace:
        a = static_cast<T>(a + T{16});
        return false;
      case Mutant::corrupt:
        a = static_cast<T>(a + T{1});
        return false;
      case Mutant::early:
        if (H::kModelled && endpoint_.map(rank, target) == nullptr) {
          faults.hide([&] { (void)this->template nbi<Op>(elsewhere, rank, target, a, b); });
        } else {
          faults.hold([this, rank, target, a, b] { (void)this->template wait<Op>(rank, target, a, b); });
        }
        break;
      default:
        break;
    }
    if (result != nullptr) *result = T{};
    return true;
  }
  // Slow paths of the calls above.
  template <AtomicOp Op>
  GASMETER_NOINLINE Event nb_elsewhere(T* result, Rank rank, T* target, T a, T b, Flags flags) {
    if (do_mapped<Op>(result, rank, target, a, b)) return Event::done();
    const auto id = start<Op>(result, rank, target, a, b, flags, false);
    return id ? RemoteAtomics<H>::event_of(endpoint_, *id) : Event::no_op();
  }
  template <AtomicOp Op>
  GASMETER_NOINLINE Status nbi_elsewhere(T* result, Rank rank, T* target, T a, T b, Flags flags) {
    if (do_mapped<Op>(result, rank, target, a, b)) return Status::ok;
    return start<Op>(result, rank, target, a, b, flags, true) ? Status::ok : Status::no_resource;
  }
  template <AtomicOp Op>
  std::optional<OperationId> start(T* result, Rank rank, T* target, T a, T b, Flags flags, bool implicit) {
    const RemoteAtomic atomic = far<Op>(result, target, a, b);
    return path_ == AtomicPath::network ? RemoteAtomics<H>::start_offloaded(endpoint_, rank, atomic, flags, implicit)
                                        : RemoteAtomics<H>::start(endpoint_, rank, atomic, flags, implicit);
  }
  template <AtomicOp Op>
  bool do_mapped(T* result, Rank rank, T* target, T a, T b) {
    void* const word = loads_and_stores() ? endpoint_.map(rank, target) : nullptr;
    if (word == nullptr) return false;
    [[maybe_unused]] const T before = do_at<Op>(static_cast<T*>(word), a, b);
    if constexpr (fetches(Op)) *result = before;
    return true;
  }
  template <AtomicOp Op>
  static RemoteAtomic far(T* result, T* target, T a, T b) {
    return {atomics::value_type<T>(), Op, bits(a), bits(b), target, result};
  }
  static std::uint64_t bits(T value) {
    if constexpr (sizeof(T) == 4) {
      return std::bit_cast<std::uint32_t>(value);
    } else {
      return std::bit_cast<std::uint64_t>(value);
    }
  }

  template <AtomicOp Op>
  GASMETER_INLINE void check([[maybe_unused]] Rank rank, [[maybe_unused]] const T* target,
                             [[maybe_unused]] Flags flags) const {
    if constexpr (kChecked) {
      internals(endpoint_).check_call("atomic");
      if (!ops_.holds(Op)) refuse("this operation is not in the domain's set");
      if (reinterpret_cast<std::uintptr_t>(target) % sizeof(T) != 0) refuse("the target is not naturally aligned");
      if (index(rank) < endpoint_.ranks() && !endpoint_.segment(rank).holds(target, sizeof(T))) {
        refuse("the target is outside the rank's segment");
      }
      if (has(flags, Flags::my_rank) && rank != endpoint_.rank()) {
        refuse("Flags::my_rank promises this rank's own memory");
      }
      if (has(flags, Flags::my_neighbourhood) && endpoint_.map(rank, target) == nullptr) {
        refuse("Flags::my_neighbourhood promises a neighbour's memory");
      }
    }
  }
  [[noreturn]] void refuse(const char* why) const {
    throw UsageError("rank " + std::to_string(index(endpoint_.rank())) + ": atomic: " + why);
  }

  Endpoint<H>& endpoint_;
  // Read by every operation. The domain has its own copy, so that the endpoint's tables are not read.
  std::uint32_t plain_first_ = 0;
  std::uint32_t plain_count_ = 0;
  AtomicOps ops_;
  AtomicPath path_{};
};

}  // namespace gasmeter::core
