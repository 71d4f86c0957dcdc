// Messages and puts of the two-sided layer on InfiniBand verbs: sends between registered buffers, and RDMA writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/networks/ibv/ibv_context.hpp"
#include "gasmeter/services/message_device.hpp"

namespace gasmeter::networks::ibv {

// Limits of the adaptor. Estimates: libraries of the time had some hundred buffers of either kind.
struct IbvMessageLimits {
  unsigned receives = 256;   // buffers that all peers share
  unsigned all_sends = 256;  // send buffers
  unsigned peer_sends = 64;  // work requests to a rank whose completion has not been polled
};

// Message device of one rank. No other object uses its context.
class IbvMessages final : public services::MessageDevice {
 public:
  // `eager`: the largest payload of a message. Throws UsageError for limits that could not carry a message.
  IbvMessages(IbvContext& context, sim::ModelHost host, unsigned ranks, Bytes eager,
              const IbvMessageLimits& limits = {});

  bool send(Rank to, const services::MessageHead& head, std::span<const std::byte> payload,
            std::uint32_t number) override;
  void admit(std::span<std::byte> memory) override { context_.admit(memory); }
  void dismiss(std::span<std::byte> memory) override { context_.dismiss(memory); }
  [[nodiscard]] services::PutWindow open(Rank from, std::span<std::byte> memory, std::uint32_t receive) override;
  void put(Rank to, const services::PutWindow& window, std::span<const std::byte> payload,
           std::uint32_t number) override;
  bool progress(Sink& sink) override;
  [[nodiscard]] Bytes reserved_bytes() const override {
    return context_.reserved_bytes() + sends_.memory().size() + receives_.memory().size();
  }

 private:
  // A message that is not posted yet, or a put and the empty send that announces it.
  struct Outgoing {
    std::uint32_t number;
    bool is_put = false;
    services::MessageHead head;  // of a put: with its window
    std::span<const std::byte> payload;
  };
  struct Peer {
    std::deque<Outgoing> waiting;
    unsigned sends = 0;  // work requests in the send queue to the peer
  };
  // State of a send buffer whose completion is awaited.
  struct Posted {
    Rank peer{};
    unsigned sends = 1;                                       // work requests that the completion ends
    std::uint32_t number = services::MessageDevice::kUntold;  // of a put
  };

  bool start(Rank to, const Outgoing& message);
  [[nodiscard]] bool post(Rank to, const Outgoing& message);
  void post_message(Rank to, std::uint32_t which, const Outgoing& message);
  void post_put(Rank to, std::uint32_t which, const Outgoing& message);
  void post(Rank to, const WorkRequest& request);
  void push_waiting();
  [[nodiscard]] std::uint32_t finish(const WorkCompletion& completion);
  void take(const WorkCompletion& completion, Sink& sink);

  IbvContext& context_;
  sim::ModelHost host_;
  IbvMessageLimits limits_;
  Bytes stride_;  // of a buffer
  BufferPool sends_;
  BufferPool receives_;
  std::vector<Posted> posted_;  // by number of the buffer
  std::vector<Peer> peers_;
  std::vector<Rank> refused_;       // peers with waiting messages, in the order in which they were refused
  std::deque<std::uint32_t> gone_;  // numbers of sent messages that are not reported yet
};

}  // namespace gasmeter::networks::ibv
