#include "gasmeter/launch/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

namespace gasmeter::launch {
namespace {

constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max();

// Return the number after `key` in a file of lines `key number ...`.
std::optional<Bytes> keyed_number(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    Bytes value = 0;
    if (words >> name && name == key && words >> value) return value;
  }
  return std::nullopt;
}

std::optional<Bytes> only_number(const std::string& path) {
  std::ifstream file(path);
  Bytes value = 0;
  if (file >> value) return value;
  return std::nullopt;  // absent, or the word "max"
}

struct GroupFiles {
  const char* mount;
  const char* limit;
  const char* usage;
  const char* inactive;
  const char* active;
};
constexpr GroupFiles kVersion1{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file", "total_active_file"};
constexpr GroupFiles kVersion2{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file", "active_file"};

Bytes room_of_group(const std::string& folder, const GroupFiles& files) {
  const auto limit = only_number(folder + "/" + files.limit);
  const auto usage = only_number(folder + "/" + files.usage);
  if (!limit || !usage) return kUnlimited;
  // Cached file pages are given back under pressure; shared memory is counted elsewhere.
  const Bytes cached = keyed_number(folder + "/memory.stat", files.inactive).value_or(0) +
                       keyed_number(folder + "/memory.stat", files.active).value_or(0);
  const Bytes taken = *usage - std::min(cached, *usage);
  return *limit - std::min(taken, *limit);
}

// Return the room in the group named in /proc/self/cgroup and in all groups above it. Inside a container the path may
// not exist, but its root does.
Bytes room_of_groups(const std::string& root, std::string path, const GroupFiles& files) {
  const std::string mount = root + files.mount;
  Bytes room = room_of_group(mount, files);
  while (!path.empty() && path != "/") {
    room = std::min(room, room_of_group(mount + path, files));
    path.resize(path.rfind('/'));
  }
  return room;
}

}  // namespace

Bytes available_memory(const std::string& root) {
  Bytes available = kUnlimited;
  if (const auto kibibytes = keyed_number(root + "/proc/meminfo", "MemAvailable:")) available = *kibibytes * 1024;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // hierarchy:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos || line[second + 1] != '/') continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controllers == "memory")
      available = std::min(available, room_of_groups(root, line.substr(second + 1), kVersion1));
    else if (controllers.empty())
      available = std::min(available, room_of_groups(root, line.substr(second + 1), kVersion2));
  }
  return available;
}

}  // namespace gasmeter::launch
