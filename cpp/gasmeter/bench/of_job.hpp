// Objects that the ranks of a job share, where all ranks live in this process, as in virtual time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace gasmeter::bench {

// Return the object of a job, which is identified by the address of something that lives as long. It is made for the
// first caller, for `ranks` ranks, and goes with its last owner.
template <class T>
[[nodiscard]] std::shared_ptr<T> of_job(const void* job, std::uint32_t ranks) {
  static std::mutex lock;
  static std::map<const void*, std::weak_ptr<T>> objects;
  const std::lock_guard guard(lock);
  std::erase_if(objects, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<T>& entry = objects[job];
  std::shared_ptr<T> object = entry.lock();
  if (object == nullptr) entry = object = std::make_shared<T>(ranks);
  return object;
}

}  // namespace gasmeter::bench
