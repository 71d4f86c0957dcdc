// Memory as devices know it: runs of whole pages, of which they hold a limited number.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::conduit {

inline constexpr Bytes kPageBytes = 4096;  // what memory is registered by

// By number: the address of the first byte is `first` times the size of a page.
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

// Of memory that begins where a page does: its bytes in whole pages.
[[nodiscard]] constexpr Bytes whole_pages(Bytes bytes, Bytes page = kPageBytes) {
  return (bytes + page - 1) / page * page;
}

// Those that memory lies in; of no bytes: none.
[[nodiscard]] constexpr Pages pages_of(std::uint64_t address, Bytes bytes, Bytes page = kPageBytes) {
  if (bytes == 0) return {address / page, 0};
  const std::uint64_t first = address / page;
  return {first, (address + bytes - 1) / page - first + 1};
}

// What a device can hold at a time. 0: no limit. A page that two regions hold counts twice.
struct PinLimits {
  Bytes page = kPageBytes;
  std::uint64_t pages = 0;
  std::uint64_t regions = 0;
};

// Names memory that is pinned, until it is unpinned.
enum class Pin : std::uint32_t {};

}  // namespace gasmeter::conduit
