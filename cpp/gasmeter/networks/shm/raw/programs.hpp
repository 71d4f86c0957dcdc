// Raw programs on the computer's own memory, the lower bound for smp.
#pragma once

#include <memory>

#include "gasmeter/networks/network.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"

namespace gasmeter::networks::shm::raw {

// Context that a raw program runs in: the shared memory.
struct Context {
  SharedMemory& memory;
};

// Shares are bytes of each rank. Kernels fetch-add, vis and random-access have their share_of() in bench. Kernel
// barrier needs none.
[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
[[nodiscard]] Bytes share_of_ping_pong(const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(Context context, const Settings& settings);
[[nodiscard]] Bytes share_of_flood(const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_fetch_add(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_vis(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_barrier(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_random_access(Context context, const Settings& settings);

// Raw programs, one for each kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::shm::raw
