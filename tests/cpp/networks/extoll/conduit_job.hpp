// Conduits without core: what is sent and handed over is up to the test.
#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gasmeter/networks/extoll/extoll_conduit.hpp"
#include "support/pattern.hpp"
#include "world.hpp"

namespace gasmeter::networks::extoll::testing {

inline const ExtollParameters kRoomy{.mailbox_slots = 512, .read_pointer_update = 16};

inline AmOptions with_memory(AmOptions options, bool node_by_memory) {
  options.node_by_memory = node_by_memory;
  return options;
}
inline const std::array<AmOptions, 4> kAllWays{AmOptions::improved(), AmOptions::early(),
                                               with_memory(AmOptions::improved(), false),
                                               with_memory(AmOptions::early(), false)};

struct Job : World {
  explicit Job(const Shape& shape = {}, const ExtollParameters& parameters = kRoomy, const AmOptions& options = {})
      : World(shape, parameters), segments(shape.ranks) {
    for (unsigned i = 0; i < shape.ranks; ++i) {
      conduits.push_back(std::make_unique<ExtollConduit>(network, host(i), Rank{i}, options));
    }
  }
  // Memory of a rank that Longs may go to.
  std::byte* segment(unsigned rank, Bytes bytes) {
    segments[rank].resize(bytes);
    conduits[rank]->attach(segments[rank]);
    return segments[rank].data();
  }
  std::vector<std::unique_ptr<ExtollConduit>> conduits;
  std::vector<std::vector<std::byte>> segments;
};

class Sink final : public conduit::Delivery {
 public:
  using Handler = std::function<void(const conduit::AmView&)>;
  explicit Sink(Handler handler = [](const conduit::AmView&) {}) : handler_(std::move(handler)) {}
  void arrived(const conduit::AmView& message) override {
    ++messages;
    handler_(message);
  }
  void completed(conduit::OperationId operation) override { done.push_back(operation); }
  unsigned messages = 0;
  std::vector<conduit::OperationId> done;

 private:
  Handler handler_;
};

template <class Done>
void wait(conduit::Conduit& conduit, sim::ModelHost host, Sink& sink, Done done) {
  while (!done()) {
    if (conduit.poll(sink, 16, conduit::PollFilter::everything) == 0) host.idle(conduit.next_deadline());
  }
}

inline conduit::AmHeader header_to(unsigned peer, conduit::Category category, unsigned arguments = 0,
                                   bool is_reply = false) {
  return {Rank{peer}, category, is_reply, static_cast<std::uint8_t>(arguments), 0};
}

inline Status try_send(conduit::Conduit& conduit, const conduit::AmHeader& header,
                       std::span<const std::int32_t> arguments = {}, std::span<const std::byte> payload = {},
                       void* destination = nullptr) {
  conduit::AmBuffer buffer;
  const Status status = conduit.prepare(header, nullptr, payload.size(), payload.size(), buffer);
  if (status != Status::ok) return status;
  if (!payload.empty()) std::memcpy(buffer.data, payload.data(), payload.size());
  return conduit.commit(buffer, {HandlerIndex{7}, payload.size(), destination, arguments}, conduit::kNoOperation);
}

// Takes what arrives until there is room.
inline void send_am(conduit::Conduit& conduit, sim::ModelHost host, Sink& sink, const conduit::AmHeader& header,
                    std::span<const std::int32_t> arguments = {}, std::span<const std::byte> payload = {},
                    void* destination = nullptr) {
  wait(conduit, host, sink, [&] { return try_send(conduit, header, arguments, payload, destination) == Status::ok; });
}

inline std::vector<std::byte> patterned(Bytes size, std::uint64_t seed) {
  std::vector<std::byte> bytes(size);
  gasmeter::testing::write_pattern(bytes.data(), size, seed);
  return bytes;
}

}  // namespace gasmeter::networks::extoll::testing
