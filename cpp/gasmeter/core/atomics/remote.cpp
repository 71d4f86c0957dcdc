#include "gasmeter/core/atomics/remote.hpp"

#include <bit>
#include <cstring>
#include <mutex>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/incoming.hpp"
#include "gasmeter/core/reference/extended.hpp"
#include "gasmeter/core/word_halves.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::core {
namespace {

using atomics::ValueType;

constexpr bool is_wide(ValueType type) {
  return type == ValueType::i64 || type == ValueType::u64 || type == ValueType::f64;
}

constexpr bool is_floating(ValueType type) {
  return type == ValueType::f32 || type == ValueType::f64;
}

// Return the number of arguments: code, operation, target; place of the result; operands.
constexpr std::size_t arguments_of(AtomicOp op, bool wide) {
  return 4 + (fetches(op) ? 2 : 0) + operands_of(op) * (wide ? 2U : 1U);
}

OperationKind kind_of(AtomicOp op) {
  if (op == AtomicOp::set) return OperationKind::put;
  return op == AtomicOp::get ? OperationKind::get : OperationKind::rmw;
}

// Arguments in the order of add() calls. Addresses and wide values take two.
class Words {
 public:
  void add(std::int32_t word) { words_[count_++] = word; }
  void add_wide(std::uint64_t value) {
    add(static_cast<std::int32_t>(value & 0xffffffffU));
    add(static_cast<std::int32_t>(value >> 32));
  }
  void add_value(std::uint64_t value, bool wide) {
    if (wide) {
      add_wide(value);
    } else {
      add(static_cast<std::int32_t>(value & 0xffffffffU));
    }
  }
  [[nodiscard]] std::span<const std::int32_t> span() const { return {words_.data(), count_}; }

 private:
  std::array<std::int32_t, conduit::kMaxArguments> words_{};
  std::size_t count_ = 0;
};

class WordReader {
 public:
  explicit WordReader(std::span<const std::int32_t> words) : words_(words) {}
  std::uint64_t narrow() { return static_cast<std::uint32_t>(words_[next_++]); }
  std::uint64_t wide() {
    const std::uint64_t low = narrow();
    return low | (narrow() << 32);
  }
  std::uint64_t value(bool is_wide) { return is_wide ? wide() : narrow(); }

 private:
  std::span<const std::int32_t> words_;
  std::size_t next_ = 0;
};

template <class T>
T value_of(std::uint64_t bits) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits & 0xffffffffU));
  } else {
    return std::bit_cast<T>(bits);
  }
}

template <class T>
std::uint64_t bits_of(T value) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<std::uint32_t>(value);
  } else {
    return std::bit_cast<std::uint64_t>(value);
  }
}

template <AtomicValue T>
std::uint64_t apply_typed(const RemoteAtomic& atomic) {
  T* const target = static_cast<T*>(atomic.target);
  return atomics::with_operation(atomic.op, [&]<AtomicOp Op>() {
    return bits_of(atomics::apply<Op, T>(target, value_of<T>(atomic.a), value_of<T>(atomic.b)));
  });
}

std::uint64_t apply(const RemoteAtomic& atomic) {
  switch (atomic.type) {
    case ValueType::i32:
      return apply_typed<std::int32_t>(atomic);
    case ValueType::u32:
      return apply_typed<std::uint32_t>(atomic);
    case ValueType::i64:
      return apply_typed<std::int64_t>(atomic);
    case ValueType::u64:
      return apply_typed<std::uint64_t>(atomic);
    case ValueType::f32:
      return apply_typed<float>(atomic);
    case ValueType::f64:
      break;
  }
  return apply_typed<double>(atomic);
}

}  // namespace

template <class H>
void RemoteAtomics<H>::on_request(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect(!token.arguments().empty(), "it has no arguments");
  RemoteAtomic atomic;
  const std::uint32_t code = message.word(0);
  message.expect((code & 0xffU) < static_cast<std::uint32_t>(AtomicOp::count_), "there is no such atomic operation");
  message.expect(code >> 8 <= static_cast<std::uint32_t>(ValueType::f64), "atomics have no such type");
  atomic.op = static_cast<AtomicOp>(code & 0xffU);
  atomic.type = static_cast<ValueType>(code >> 8);
  message.expect(!is_bitwise(atomic.op) || !is_floating(atomic.type), "bitwise operations are of integers");
  const bool wide = is_wide(atomic.type);
  message.expect_form(Category::short_message, Incoming<H>::Sent::request, arguments_of(atomic.op, wide));
  WordReader words(token.arguments().subspan(1));
  const auto operation = static_cast<std::int32_t>(words.narrow());
  atomic.target = reinterpret_cast<void*>(words.wide());
  message.expect_in_segment(atomic.target, atomic.bytes());
  message.expect(reinterpret_cast<std::uintptr_t>(atomic.target) % atomic.bytes() == 0,
                 "its target is not naturally aligned");
  const std::uint64_t landing = fetches(atomic.op) ? words.wide() : 0;
  if (operands_of(atomic.op) > 0) atomic.a = words.value(wide);
  if (operands_of(atomic.op) > 1) atomic.b = words.value(wide);
  H& host = token.endpoint().host();
  host.charge_shared(SharedPrice::line_transfer);
  host.synchronise();  // neighbours may access the same word
  const std::uint64_t before = apply(atomic);
  if (!fetches(atomic.op)) {
    (void)token.reply_short(reference::kAcknowledge, operation);
    return;
  }
  if (wide) {
    (void)token.reply_short(atomics::kFetched, operation, low(landing), high(landing), low(before), high(before));
  } else {
    (void)token.reply_short(atomics::kFetched, operation, low(landing), high(landing), low(before));
  }
}

template <class H>
void RemoteAtomics<H>::on_fetched(Token<H>& token) {
  constexpr std::size_t kBefore = 3;  // arguments in front of the value
  const Incoming<H> message(token);
  const bool wide = token.arguments().size() > kBefore + 1;
  message.expect_form(Category::short_message, Incoming<H>::Sent::reply, kBefore + (wide ? 2 : 1));
  const std::span<const std::int32_t> value = token.arguments().subspan(kBefore);
  std::memcpy(message.claim_landing(value.size_bytes()), value.data(), value.size_bytes());
  message.complete_operation();
}

template <class H>
void RemoteAtomics<H>::register_handlers(HandlerTable<H>& handlers) {
  handlers.add({atomics::kRequest, &on_request, nullptr, "atomic"});
  handlers.add({atomics::kFetched, &on_fetched, nullptr, "atomic's result"});
}

template <class H>
std::optional<OperationId> RemoteAtomics<H>::start(Ep& ep, Rank rank, const RemoteAtomic& atomic, Flags flags,
                                                   bool implicit) {
  internals(ep).check_rank(rank);  // before an operation is started
  ImplicitGroup* const group = implicit ? &internals(ep).implicit_group() : nullptr;
  OperationId id{};
  {
    const std::lock_guard guard(internals(ep).operations_lock());
    id = internals(ep).operations().start(kind_of(atomic.op), 0, group);
    internals(ep).operations().await(id, rank, 1);
  }
  const bool wide = is_wide(atomic.type);
  Words words;
  words.add(static_cast<std::int32_t>(static_cast<unsigned>(atomic.op) | static_cast<unsigned>(atomic.type) << 8));
  words.add(static_cast<std::int32_t>(id));
  words.add_wide(reinterpret_cast<std::uint64_t>(atomic.target));
  std::optional<AwaitedData<H>> landing;
  if (fetches(atomic.op)) {
    landing.emplace(ep, Landing{atomic.result, atomic.bytes(), id, rank, atomics::kFetched});
    words.add(landing->place());
    words.add(landing->generation());
  }
  if (operands_of(atomic.op) > 0) words.add_value(atomic.a, wide);
  if (operands_of(atomic.op) > 1) words.add_value(atomic.b, wide);
  const Status status = internals(ep).request_slow(
      rank, {Category::short_message, atomics::kRequest, nullptr, 0, nullptr, words.span()}, flags);
  if (status == Status::ok) {
    if (landing) landing->sent();
    return id;
  }
  const std::lock_guard guard(internals(ep).operations_lock());
  internals(ep).operations().withdraw(id);
  return std::nullopt;
}

template <class H>
bool RemoteAtomics<H>::offloaded(Ep& ep, ValueType type, AtomicOps ops) {
  return internals(ep).conduit() != nullptr && internals(ep).conduit()->offloads(type, ops);
}

template <class H>
std::optional<OperationId> RemoteAtomics<H>::start_offloaded(Ep& ep, Rank rank, const RemoteAtomic& atomic, Flags flags,
                                                             bool implicit) {
  internals(ep).check_rank(rank);  // before an operation is started
  flags = internals(ep).heeded(flags);
  ImplicitGroup* const group = implicit ? &internals(ep).implicit_group() : nullptr;
  OperationId id{};
  {
    const std::lock_guard guard(internals(ep).operations_lock());
    id = internals(ep).operations().start(kind_of(atomic.op), 1, group);
  }
  const auto try_once = [&] {
    const std::lock_guard guard(internals(ep).conduit_lock());
    return internals(ep).conduit()->atomic(rank, atomic, id) == Status::ok;
  };
  if (!is_immediate(flags)) {
    internals(ep).poll_first();
    internals(ep).wait_for(try_once, "atomic", {Waiting::For::transfer, rank});
  } else if (!try_once()) {
    const std::lock_guard guard(internals(ep).operations_lock());
    internals(ep).operations().withdraw(id);
    return std::nullopt;
  }
  return id;
}

template class RemoteAtomics<RealHost>;
template class RemoteAtomics<ThreadedHost>;
template class RemoteAtomics<StampedHost>;
template class RemoteAtomics<sim::ModelHost>;

}  // namespace gasmeter::core
