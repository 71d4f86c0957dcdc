#include "gasmeter/networks/extoll/message_store.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace gasmeter::networks::extoll {

void Message::append(std::span<const std::byte> bytes) {
  const Bytes of_arguments = std::min(arguments_missing, bytes.size());
  if (of_arguments != 0) {
    std::byte* const all = reinterpret_cast<std::byte*>(arguments.data());
    std::memcpy(all + header.argument_bytes() - arguments_missing, bytes.data(), of_arguments);
    arguments_missing -= of_arguments;
  }
  const std::span<const std::byte> rest = bytes.subspan(of_arguments);
  if (rest.empty()) return;
  std::memcpy(data() + header.data_bytes() - data_missing, rest.data(), rest.size());
  data_missing -= rest.size();
}

Message& MessageStore::take(Bytes bytes) {
  std::size_t size_class = 0;
  while (kRoom[size_class] < bytes) ++size_class;
  if (GASMETER_UNLIKELY(spare_[size_class] == nullptr)) refill(size_class);
  Message& message = *spare_[size_class];
  spare_[size_class] = message.next;
  return message;
}

// Add memory for one message at first, later for half as many as there are.
void MessageStore::refill(std::size_t size_class) {
  const Bytes each = sizeof(Message) + kRoom[size_class];
  const std::size_t count = std::clamp<std::size_t>(made_[size_class] / 2, 1, 64 * 1024 / each + 1);
  auto& slab = slabs_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(count * each));
  for (std::size_t i = 0; i < count; ++i) {
    auto* const message = ::new (slab.get() + i * each) Message;
    message->size_class = static_cast<std::uint8_t>(size_class);
    give(*message);
  }
  made_[size_class] += count;
  held_ += count * each;
}

}  // namespace gasmeter::networks::extoll
