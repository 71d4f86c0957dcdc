// Inputs of a stressmark, and the results that the program of one process computes from them. A reference belongs to
// one rank, or to all ranks that live in this process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "gasmeter/bench/of_job.hpp"

namespace gasmeter::kernels::dis {

// References by seed, since ranks may use different seeds.
template <class Reference>
class References {
 public:
  explicit References(std::uint32_t /*ranks*/) {}

  template <class Make>
  [[nodiscard]] std::shared_ptr<Reference> of(std::uint64_t seed, Make make) {
    const std::lock_guard guard(lock_);
    std::shared_ptr<Reference>& reference = by_seed_[seed];
    if (reference == nullptr) reference = make();
    return reference;
  }

 private:
  std::mutex lock_;
  std::map<std::uint64_t, std::shared_ptr<Reference>> by_seed_;
};

// Return a reference. make() returns a shared pointer to a new one. It is kept as long as a rank keeps `kept`.
template <class Reference, class H, class Make>
[[nodiscard]] std::shared_ptr<Reference> reference_of(H& host, std::uint32_t ranks, std::uint64_t seed,
                                                      std::shared_ptr<References<Reference>>& kept, Make make) {
  if constexpr (H::kModelled) {
    kept = bench::of_job<References<Reference>>(&host.engine(), ranks);
    return kept->of(seed, make);
  } else {
    return make();
  }
}

// An output that is computed once for each length of a run; the last one is kept.
template <class Output>
class Outputs {
 public:
  template <class Make>
  [[nodiscard]] std::shared_ptr<const Output> of(std::uint64_t length, Make make) {
    const std::lock_guard guard(lock_);
    if (output_ == nullptr || length_ != length) {
      output_ = std::make_shared<const Output>(make());
      length_ = length;
    }
    return output_;
  }

 private:
  std::mutex lock_;
  std::uint64_t length_ = 0;
  std::shared_ptr<const Output> output_;
};

}  // namespace gasmeter::kernels::dis
