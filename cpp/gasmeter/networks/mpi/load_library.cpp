#include "gasmeter/networks/mpi/load_library.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/version.hpp"

namespace gasmeter::networks::mpi {
namespace {

constexpr std::array kNames{"openmpi", "mpich"};

std::filesystem::path file_of(const std::string& name) {
  return std::filesystem::path(plugin_folder()) / ("gasmeter-mpi-" + name + ".so");
}

}  // namespace

std::string plugin_folder() {
  if (const char* const folder = std::getenv("GASMETER_MPI_PLUGINS"); folder != nullptr) return folder;
  std::error_code code;
  return std::filesystem::read_symlink("/proc/self/exe", code).parent_path().string();
}

std::vector<std::string> available_mpis() {
  std::vector<std::string> available;
  std::error_code code;
  for (const char* const name : kNames) {
    if (std::filesystem::exists(file_of(name), code)) available.emplace_back(name);
  }
  return available;
}

Library& load_library(const std::string& name) {
  const std::string file = file_of(name).string();
  // Lazy binding: symbols that this MPI does not use may be missing. RTLD_LOCAL keeps its symbols apart from others.
  void* const handle = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    throw ResourceError("mpi: " + std::string(::dlerror()) + "; install the MPI that gasmeter was built with (" + name +
                        "), or build again");
  }
  const auto entry = reinterpret_cast<PluginEntry>(::dlsym(handle, kPluginEntry));
  Library* const library = entry == nullptr ? nullptr : entry((std::string(kVersion) + " " + kCompiler).c_str());
  if (library == nullptr) throw ResourceError("mpi: " + file + " belongs to another build of gasmeter; reinstall it");
  return *library;
}

}  // namespace gasmeter::networks::mpi
