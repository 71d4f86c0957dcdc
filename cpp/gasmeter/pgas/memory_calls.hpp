// Copies and fills of ranges of shared objects [UPC: upc_memcpy, upc_memset]. upc_memget and upc_memput are get() and
// put() of a space, and of a SharedArray by elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "gasmeter/pgas/space.hpp"

namespace gasmeter::pgas {

// Bytes of an owner's part, from `offset` on.
struct SharedBytes {
  Handle object;
  Rank owner{};
  Bytes offset = 0;
};

// Copy from one part to another, through this rank. The ranges must not overlap. The call returns at local completion.
template <class H>
void copy(SharedSpace<H>& space, const SharedBytes& to, const SharedBytes& from, Bytes bytes) {
  constexpr Bytes kPiece = Bytes{256} * 1024;
  std::vector<std::byte> buffer(std::min(bytes, kPiece));
  for (Bytes done = 0; done < bytes;) {
    const Bytes piece = std::min(kPiece, bytes - done);
    space.get(from.object, from.owner, from.offset + done, buffer.data(), piece);
    space.put(to.object, to.owner, to.offset + done, buffer.data(), piece);
    done += piece;
  }
  space.endpoint().forget(buffer);
}

// Set every byte to `value`. The call returns at local completion.
template <class H>
void fill(SharedSpace<H>& space, const SharedBytes& to, std::byte value, Bytes bytes) {
  constexpr Bytes kPiece = Bytes{256} * 1024;
  std::vector<std::byte> buffer(std::min(bytes, kPiece), value);
  for (Bytes done = 0; done < bytes;) {
    const Bytes piece = std::min(kPiece, bytes - done);
    space.put(to.object, to.owner, to.offset + done, buffer.data(), piece);
    done += piece;
  }
  space.endpoint().forget(buffer);
}

}  // namespace gasmeter::pgas
