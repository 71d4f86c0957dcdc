// The four stressmarks on a rank: their space, their computation, and what a kernel asks of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/told.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/kernels/dis/output.hpp"
#include "gasmeter/pgas/shared_array.hpp"

namespace gasmeter::kernels::dis {

// Computation between accesses, which a rank owes until its next access that involves other ranks. In virtual time it
// is then paid at once: as work that a message may interrupt where the conduit's handlers do, and in which nothing is
// polled. Real ranks have already done it.
template <class H>
class OwedWork {
 public:
  explicit OwedWork(core::Endpoint<H>& endpoint) : endpoint_(endpoint) {}

  void owe([[maybe_unused]] std::uint64_t instructions) {
    if constexpr (H::kModelled) owed_ += instructions;
  }
  void pay() {
    if constexpr (H::kModelled) {
      if (owed_ == 0) return;
      endpoint_.compute(endpoint_.host().owed(conduit::PrivatePrice::instruction, std::exchange(owed_, 0)));
    }
  }

 private:
  core::Endpoint<H>& endpoint_;
  std::uint64_t owed_ = 0;
};

// Function object by which the programs of bench/dis owe computation.
template <class H>
struct Owing {
  OwedWork<H>* work;
  void operator()(std::uint64_t instructions) const { work->owe(instructions); }
};

// A shared array, as the programs of bench/dis see it.
template <class H, class T>
class MarkArray {
 public:
  MarkArray(pgas::SharedArray<H, T> array, OwedWork<H>& work, Rank self)
      : array_(array), work_(&work), own_(array.local()), self_(self) {}

  [[nodiscard]] T get(std::uint64_t i) const {
    if (array_.owner(i) != self_) work_->pay();
    return array_.get(i);
  }
  void put(std::uint64_t i, T value) const {
    if (array_.owner(i) != self_) work_->pay();
    array_.put(i, value);
  }
  [[nodiscard]] const pgas::SharedArray<H, T>& shared() const { return array_; }
  [[nodiscard]] std::span<T> own() const { return own_; }
  // Return the digest of all elements, which this rank gets, one rank's part at a time.
  [[nodiscard]] std::uint64_t digest() const {
    Digest digest;
    std::vector<T> part;
    for (std::uint64_t at = 0; at < array_.size(); at += part.size()) {
      part.resize(std::min(array_.layout().run(at), array_.size() - at));
      array_.get(at, part.data(), part.size());
      digest.add(std::span<const T>(part));
    }
    return digest.value();
  }

 private:
  pgas::SharedArray<H, T> array_;
  OwedWork<H>* work_;
  std::span<T> own_;
  Rank self_;
};

// Objects of its rank that a mark needs.
template <class H>
struct MarkContext {
  core::Endpoint<H>& endpoint;
  pgas::SharedSpace<H>& space;
  OwedWork<H>& work;

  [[nodiscard]] std::uint32_t self() const { return index(endpoint.rank()); }
  void barrier() const {
    work.pay();
    space.barrier();
  }
};

// A stressmark on one rank. All calls but verify() are collective.
class Mark {
 public:
  Mark() = default;
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  virtual ~Mark() = default;

  // Make the shared arrays, once.
  virtual void make() = 0;
  // Restore the input.
  virtual void restore() = 0;
  // Fill the cache before a first timed run with what it would have learnt in longer runs.
  virtual void fill_cache() {}
  // Run the timed part, up to its last barrier; return how many operations this rank has done.
  virtual std::uint64_t run(std::uint64_t iterations) = 0;
  // Return the time of one operation of the last run, at rank 0, for marks where the time of the whole run depends on
  // its length.
  [[nodiscard]] virtual std::optional<SimTime> taken_by_one() { return std::nullopt; }
  // Compare this rank's share of the last run's output with that of the program of one process.
  virtual bench::Verification verify() = 0;
  // Check, untimed, what the output of a run may not show. The array must be restored afterwards. `line`: where rank 0
  // tells rank 1 that a put is complete, or null.
  [[nodiscard]] virtual bench::Verification check(bench::ToldLine* /*line*/) { return {}; }
  // Tell whether runs also meet in a barrier of the mark itself, beside the space's.
  [[nodiscard]] virtual bool has_barrier() const { return false; }
  virtual void meet() {}
  // Tell whether this rank has a share of the output to compare, once the last run is verified.
  [[nodiscard]] virtual bool compares() const = 0;
  // Return the output of the last run, as DIS wants it: all of it at rank 0, nothing elsewhere.
  [[nodiscard]] virtual Output output() = 0;
  // Count the last run's accesses to this rank's memory that did not use the space.
  [[nodiscard]] virtual std::uint64_t own_accesses() const { return 0; }
};

}  // namespace gasmeter::kernels::dis
