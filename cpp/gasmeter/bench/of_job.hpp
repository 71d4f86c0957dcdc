// What the ranks of a job have in common whose ranks all live in this process, as in virtual time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace gasmeter::bench {

// That of a job, which is known by the address of something that lives as long; made, of so many ranks, for the first
// who asks, and gone with the last who has it.
template <class T>
[[nodiscard]] std::shared_ptr<T> of_job(const void* job, std::uint32_t ranks) {
  static std::mutex lock;
  static std::map<const void*, std::weak_ptr<T>> known;
  const std::lock_guard guard(lock);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<T>& entry = known[job];
  std::shared_ptr<T> own = entry.lock();
  if (own == nullptr) entry = own = std::make_shared<T>(ranks);
  return own;
}

}  // namespace gasmeter::bench
