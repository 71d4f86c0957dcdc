#include "gasmeter/networks/aries/post_descriptor.hpp"

#include <array>

namespace gasmeter::networks::aries {

const char* name_of(PostType type) {
  static constexpr std::array<const char*, 7> names = {"FMA put",  "FMA put with flag", "FMA get", "AMO",
                                                       "CQ write", "RDMA put",          "RDMA get"};
  return names.at(static_cast<std::size_t>(type));
}

}  // namespace gasmeter::networks::aries
