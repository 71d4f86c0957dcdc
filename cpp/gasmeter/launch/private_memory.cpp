#include "gasmeter/launch/private_memory.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace gasmeter::launch {

Bytes private_memory() {
  std::ifstream file("/proc/self/smaps_rollup");
  Bytes sum = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    Bytes kibibytes = 0;
    if (words >> name >> kibibytes && (name == "Private_Clean:" || name == "Private_Dirty:")) sum += kibibytes * 1024;
  }
  return sum;
}

}  // namespace gasmeter::launch
