// Memory as devices see it: runs of whole pages, of which a device holds a limited number.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::conduit {

inline constexpr Bytes kPageBytes = 4096;  // unit of registration

// Pages by number: the address of the first byte is `first` times the size of a page.
struct Pages {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  [[nodiscard]] constexpr std::uint64_t end() const { return first + count; }
  [[nodiscard]] constexpr bool holds(const Pages& others) const {
    return first <= others.first && others.end() <= end();
  }
  [[nodiscard]] constexpr bool overlaps(const Pages& others) const {
    return first < others.end() && others.first < end();
  }
  constexpr bool operator==(const Pages&) const = default;
};

// Return the size of the whole pages that hold `bytes` bytes. The memory begins at a page.
[[nodiscard]] constexpr Bytes whole_pages(Bytes bytes, Bytes page = kPageBytes) {
  return (bytes + page - 1) / page * page;
}

// Return the pages that the memory lies in; no pages for 0 bytes.
[[nodiscard]] constexpr Pages pages_of(std::uint64_t address, Bytes bytes, Bytes page = kPageBytes) {
  if (bytes == 0) return {address / page, 0};
  const std::uint64_t first = address / page;
  return {first, (address + bytes - 1) / page - first + 1};
}

// Limits of pinned memory that a device holds at a time. 0: no limit. A page in two regions counts twice.
struct PinLimits {
  Bytes page = kPageBytes;
  std::uint64_t pages = 0;
  std::uint64_t regions = 0;
};

// Identifies pinned memory until it is unpinned.
enum class Pin : std::uint32_t {};

}  // namespace gasmeter::conduit
