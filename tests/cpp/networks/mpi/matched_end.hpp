// Conduit of a rank over matched messages in memory, and the messages it has handed over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "support/memory_matching.hpp"

namespace gasmeter::networks::mpi::testing {

template <class C>
struct MatchedEnd : conduit::Delivery {
  // `more` are the conduit's arguments behind host and service.
  template <class... More>
  MatchedEnd(gasmeter::testing::MemoryMatching& network, std::uint32_t self, More&&... more)
      : port(network.port(self)), conduit(RealHost{}, port, std::forward<More>(more)...) {
    conduit.attach({static_cast<std::byte*>(nullptr), kMostBytes});  // all memory, until a test attaches less
  }

  void arrived(const conduit::AmView& message) override {
    numbers.push_back(message.arguments.empty() ? -1 : message.arguments[0]);
    if (on_message) on_message(message);
  }
  void completed(conduit::OperationId operation) override { done.push_back(static_cast<std::uint32_t>(operation)); }
  unsigned poll(conduit::PollFilter filter = conduit::PollFilter::everything) {
    return conduit.poll(*this, 64, filter);
  }

  gasmeter::testing::MemoryMatching::Port& port;
  C conduit;
  std::vector<std::int32_t> numbers;
  std::vector<std::uint32_t> done;
  std::function<void(const conduit::AmView&)> on_message;
};

// World of two ranks.
template <class End>
struct MatchedWorld {
  // `more` are the ends' arguments behind their number.
  template <class... More>
  explicit MatchedWorld(const gasmeter::testing::MatchingOptions& options, const More&... more)
      : network(2, options), a(network, 0, more...), b(network, 1, more...) {}
  void settle() {
    for (int i = 0; i < 50; ++i) {
      (void)a.poll();
      (void)b.poll();
    }
  }
  gasmeter::testing::MemoryMatching network;
  End a;
  End b;
};

// Send a message with `number` as its only argument.
template <class C>
Status try_send(MatchedEnd<C>& from, std::uint32_t to, conduit::Category category, std::int32_t number,
                std::span<const std::byte> payload = {}, void* destination = nullptr, bool is_reply = false) {
  conduit::AmBuffer buffer;
  const Status status =
      from.conduit.prepare({Rank{to}, category, is_reply, 1, 0}, nullptr, payload.size(), payload.size(), buffer);
  if (status != Status::ok) return status;
  if (!payload.empty()) std::memcpy(buffer.data, payload.data(), payload.size());
  const Status sent = from.conduit.commit(
      buffer, {HandlerIndex{200}, payload.size(), destination, std::span(&number, 1)}, conduit::kNoOperation);
  if (sent != Status::ok) from.conduit.cancel(buffer);
  return sent;
}

// Memory of a rank that attaches all of it except its ends.
struct FencedMemory {
  FencedMemory() : all(2 * kFence + kSegment, std::byte{0x5a}) {}
  [[nodiscard]] std::span<std::byte> segment() { return std::span(all).subspan(kFence, kSegment); }
  [[nodiscard]] bool is_untouched() const {
    return std::all_of(all.begin(), all.end(), [](std::byte each) { return each == std::byte{0x5a}; });
  }
  // Return addresses for `bytes` bytes that lie partly or wholly outside the segment.
  [[nodiscard]] std::vector<std::byte*> outside(Bytes bytes) {
    std::byte* const begin = segment().data();
    return {begin - 1, begin - bytes, begin + kSegment - bytes + 1, begin + kSegment,
            reinterpret_cast<std::byte*>(~std::uintptr_t{0} - 3)};
  }

  static constexpr Bytes kFence = 128 * 1024;
  static constexpr Bytes kSegment = 64 * 1024;
  std::vector<std::byte> all;
};

// Poll until the end refuses a message. Return the error's line, or an empty string.
template <class C>
std::string refusal(MatchedEnd<C>& from, MatchedEnd<C>& to) {
  try {
    for (int i = 0; i < 50; ++i) {
      (void)from.poll();
      (void)to.poll();
    }
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

inline std::vector<std::int32_t> count_up(std::int32_t end) {
  std::vector<std::int32_t> result(static_cast<std::size_t>(end));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

}  // namespace gasmeter::networks::mpi::testing
