#include "gasmeter/base/clock_identity.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "gasmeter/base/keyed_hash.hpp"

namespace gasmeter {

std::uint64_t monotonic_clock_identity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string source;
  if (!std::getline(file, source) || source.empty()) return 0;
  std::error_code none;  // kernels before 5.6 have no time namespaces
  source += std::filesystem::read_symlink("/proc/self/ns/time", none).string();
  KeyedHash hash({});
  hash.bytes(source.data(), source.size());
  const std::uint64_t identity = hash.finish();
  return identity != 0 ? identity : 1;
}

}  // namespace gasmeter
