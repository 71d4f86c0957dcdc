// Output of each stressmark's run, as DIS wants it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "gasmeter/bench/dis/field.hpp"
#include "gasmeter/bench/dis/neighborhood.hpp"
#include "gasmeter/bench/dis/pointer.hpp"

namespace gasmeter::kernels::dis {

// Digest of an array, piece by piece: 64-bit FNV-1a of its bytes.
class Digest {
 public:
  template <class T>
  void add(std::span<const T> values) {
    for (const std::byte byte : std::as_bytes(values)) {
      value_ = (value_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
    }
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

struct PointerOutput {
  struct Chain {
    std::uint32_t rank = 0;
    bench::dis::ChainEnd end;
  };

  std::vector<Chain> chains;  // by rank that follows a chain
};

struct UpdateOutput {
  bench::dis::ChainEnd end;
  std::uint64_t digest = 0;  // over all words, behind the last put
};

struct NeighborhoodOutput {
  struct Pairs {
    std::uint64_t distance = 0;
    std::uint32_t degrees = 0;
    bench::dis::Descriptors descriptors;
  };

  std::vector<Pairs> pairs;  // by distance, then by direction
};

struct FieldOutput {
  std::vector<bench::dis::TokenResult> tokens;
  std::uint64_t digest = 0;  // over the field, behind the last token
};

using Output = std::variant<std::monostate, PointerOutput, UpdateOutput, NeighborhoodOutput, FieldOutput>;

}  // namespace gasmeter::kernels::dis
