// Memory that a rank exports. Peers store to it, load from it and transfer into it by offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::sci {

class Segment {
 public:
  explicit Segment(Bytes size) : Segment(size, size) {}
  // A segment of several pieces, each in contiguous memory.
  Segment(Bytes size, Bytes piece) : size_(size), piece_(piece) {}
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  virtual ~Segment() = default;

  [[nodiscard]] Bytes size() const { return size_; }
  [[nodiscard]] Bytes piece() const { return piece_; }
  // Store bytes that have arrived. Runs on the owner's node.
  virtual void store(Bytes at, std::span<const std::byte> bytes) = 0;
  virtual void load(Bytes at, std::span<std::byte> into) const = 0;

 private:
  Bytes size_;
  Bytes piece_;
};

// A segment that is one piece of memory.
class MemorySegment final : public Segment {
 public:
  explicit MemorySegment(std::span<std::byte> memory) : Segment(memory.size()), memory_(memory) {}

  [[nodiscard]] std::byte* data() const { return memory_.data(); }
  [[nodiscard]] bool holds(const std::byte* first, Bytes bytes) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.data());
    const auto at = reinterpret_cast<std::uintptr_t>(first);
    return at >= begin && at - begin <= memory_.size() && bytes <= memory_.size() - (at - begin);
  }
  void store(Bytes at, std::span<const std::byte> bytes) override {
    std::memcpy(memory_.data() + at, bytes.data(), bytes.size());
  }
  void load(Bytes at, std::span<std::byte> into) const override {
    std::memcpy(into.data(), memory_.data() + at, into.size());
  }

 private:
  std::span<std::byte> memory_;
};

}  // namespace gasmeter::networks::sci
