#include "gasmeter/launch/address_window.hpp"

#include <sys/mman.h>

namespace gasmeter::launch {

AddressWindow AddressWindow::set_aside() {
  constexpr Bytes kSize = Bytes{1} << 38;  // 256 GiB: more memory than one job of one host maps
  void* address = ::mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return address == MAP_FAILED ? AddressWindow{} : AddressWindow{static_cast<std::byte*>(address), kSize};
}

}  // namespace gasmeter::launch
