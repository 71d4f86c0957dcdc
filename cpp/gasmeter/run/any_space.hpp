// A shared space of an endpoint whose kind of time is only known at run time. Semantics are those of pgas::SharedSpace;
// elements are named by their number, as in pgas::SharedArray.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/settings.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/kernels/dis/output.hpp"
#include "gasmeter/pgas/counters.hpp"
#include "gasmeter/pgas/directory/handle.hpp"
#include "gasmeter/pgas/layout.hpp"
#include "gasmeter/pgas/options.hpp"

namespace gasmeter::run {

// A shared array of elements of any type: dealt to all ranks, or only at its home.
struct AnyArray {
  static constexpr std::uint32_t kEverywhere = 0xffffffffU;

  pgas::Handle object;
  pgas::Layout layout;
  std::uint32_t home = kEverywhere;

  [[nodiscard]] bool is_at_home() const { return home != kEverywhere; }
};

class AnySpace {
 public:
  AnySpace() = default;
  AnySpace(const AnySpace&) = delete;
  AnySpace& operator=(const AnySpace&) = delete;
  virtual ~AnySpace() = default;

  [[nodiscard]] virtual pgas::Handle all_alloc(const pgas::Layout& layout) = 0;  // collective
  [[nodiscard]] virtual pgas::Handle global_alloc(const pgas::Layout& layout) = 0;
  [[nodiscard]] virtual pgas::Handle alloc(Bytes bytes) = 0;
  virtual void all_free(pgas::Handle object) = 0;  // collective
  virtual void free(pgas::Handle object) = 0;

  // Copy `many` elements from the i-th on, wherever they lie.
  virtual void get(const AnyArray& array, std::uint64_t i, std::uint64_t many, std::byte* to) = 0;
  virtual void put(const AnyArray& array, std::uint64_t i, std::uint64_t many, const std::byte* from) = 0;
  // Return the address of element i in its owner's segment, for operations of the endpoint; `owner` receives the owner.
  [[nodiscard]] virtual std::byte* place(const AnyArray& array, std::uint64_t i, Rank& owner) = 0;
  virtual void fence() = 0;
  // Return this rank's part; empty if it has none.
  [[nodiscard]] virtual std::span<std::byte> local(const AnyArray& array) = 0;

  virtual void lock(pgas::Handle lock) = 0;
  [[nodiscard]] virtual bool try_lock(pgas::Handle lock) = 0;
  virtual void unlock(pgas::Handle lock) = 0;

  // Run a stressmark from its input on, for `length` hops, columns or tokens, and return its output. Collective, once.
  // `settings`: those of kernel stressmark, checked; the space keeps its options.
  [[nodiscard]] virtual kernels::dis::Output stressmark(const bench::Settings& settings, std::uint64_t length) = 0;

  [[nodiscard]] virtual const pgas::SpaceOptions& options() const = 0;
  [[nodiscard]] virtual const pgas::SpaceCounters& counters() const = 0;
  [[nodiscard]] virtual std::uint64_t entries() const = 0;  // in use in the cache
  [[nodiscard]] virtual std::uint64_t pins() const = 0;     // in use in the table of pinned memory
};

// Make the space of an endpoint, which outlives it and has one in its life. For RealHost and sim::ModelHost.
template <class H>
[[nodiscard]] std::unique_ptr<AnySpace> any_space(core::Endpoint<H>& endpoint, const pgas::SpaceOptions& options);

}  // namespace gasmeter::run
