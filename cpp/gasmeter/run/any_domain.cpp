#include <cstring>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/run/any_endpoint.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::run {
namespace {

using core::AtomicOp;
using core::AtomicOps;
using core::AtomicPath;
using core::Event;
using core::Flags;
using core::atomics::ValueType;

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class H, class T>
class DomainOf final : public AnyDomain {
 public:
  DomainOf(core::Endpoint<H>& endpoint, AtomicOps ops) : domain_(endpoint, ops) {}
  [[nodiscard]] AtomicPath path() const override { return domain_.path(); }
  Event nb(AtomicOp op, std::uint64_t* result, Rank rank, void* target, std::uint64_t a, std::uint64_t b,
           Flags flags) override {
    return domain_.nb(op, reinterpret_cast<T*>(result), rank, static_cast<T*>(target), from_bits<T>(a), from_bits<T>(b),
                      flags);
  }

 private:
  core::AtomicDomain<H, T> domain_;
};

}  // namespace

template <class H>
std::unique_ptr<AnyDomain> any_domain(core::Endpoint<H>& endpoint, ValueType type, AtomicOps ops) {
  switch (type) {
    case ValueType::i32:
      return std::make_unique<DomainOf<H, std::int32_t>>(endpoint, ops);
    case ValueType::u32:
      return std::make_unique<DomainOf<H, std::uint32_t>>(endpoint, ops);
    case ValueType::i64:
      return std::make_unique<DomainOf<H, std::int64_t>>(endpoint, ops);
    case ValueType::u64:
      return std::make_unique<DomainOf<H, std::uint64_t>>(endpoint, ops);
    case ValueType::f32:
      return std::make_unique<DomainOf<H, float>>(endpoint, ops);
    case ValueType::f64:
      return std::make_unique<DomainOf<H, double>>(endpoint, ops);
  }
  throw UsageError("atomic domain: a type that does not exist");
}

template std::unique_ptr<AnyDomain> any_domain(core::Endpoint<RealHost>&, ValueType, AtomicOps);
template std::unique_ptr<AnyDomain> any_domain(core::Endpoint<sim::ModelHost>&, ValueType, AtomicOps);

}  // namespace gasmeter::run
