#include "gasmeter/services/registered_memory.hpp"

#include <algorithm>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::services {

void RegisteredMemory::dismiss(std::span<const std::byte> memory) {
  const auto piece = std::find_if(pieces_.begin(), pieces_.end(), [&](std::span<const std::byte> each) {
    return each.data() == memory.data() && each.size() == memory.size();
  });
  if (piece == pieces_.end()) {
    throw UsageError(std::string(network_) + ": memory is forgotten that was not registered");
  }
  pieces_.erase(piece);
}

void RegisteredMemory::refuse(Bytes bytes, const char* access, Rank by) const {
  throw UsageError(std::string(network_) + ": rank " + std::to_string(index(by)) + "'s " + access + " of " +
                   std::to_string(bytes) + " bytes reaches memory that rank " + std::to_string(index(owner_)) +
                   " has not registered");
}

}  // namespace gasmeter::services
