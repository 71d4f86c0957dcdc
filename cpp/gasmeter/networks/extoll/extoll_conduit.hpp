// GASNet's Core API over VELO packets alone: try hooks and nothing else, so that core's reference implementations do
// the rest.
//
// A message is a header of 8 bytes, 4 an argument, a Long's destination, and the payload, cut into VELO packets. Every
// rank may fill its share of every other's mailbox and gets the slots back as credits, in headers or in packets of
// their own, so that none is ever dropped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/networks/extoll/extoll_port.hpp"

namespace gasmeter::networks::extoll {

// One rank's. Lives no longer than the network.
class ExtollConduit final : public conduit::Conduit {
 public:
  // Of Mediums and Longs; less where half of a share of a mailbox holds less.
  static constexpr Bytes kMostPayload = 512;

  // Throws UsageError where the share of a mailbox holds no message.
  ExtollConduit(ExtollNetwork& network, sim::ModelHost host, Rank rank);
  ~ExtollConduit() override;

  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return capabilities_; }
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override;
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message, conduit::OperationId local) override;
  void cancel(const conduit::AmBuffer& buffer) override;
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override;

 private:
  struct Message;
  struct Peer {
    unsigned credits = 0;        // packets that its mailbox takes of this rank
    unsigned owed = 0;           // slots that its packets have left here and it does not know of
    bool listed = false;         // in debts_
    Message* partial = nullptr;  // the message whose packets are coming
  };

  [[nodiscard]] unsigned packets_of(const conduit::AmHeader& header, Bytes bytes) const;
  void send_packets(Rank to, const std::byte* head, Bytes head_bytes, const std::byte* payload, Bytes bytes);
  void send_one(Rank to, std::span<const std::byte> bytes, std::uint8_t tag);
  void give_back(const conduit::AmBuffer& buffer, unsigned packets);
  [[nodiscard]] Message* accept(const VeloPacket& packet);
  void begin(Message& message, const VeloPacket& packet, Peer& from);
  void deliver(conduit::Delivery& sink, Message& message);
  void pay_debts();
  void refuse_drops();
  [[nodiscard]] Message& take_message();

  sim::ModelHost host_;
  ExtollPort& port_;
  Bytes per_packet_;
  unsigned share_ = 0;  // packets with parts of messages
  conduit::Capabilities capabilities_;
  std::vector<Peer> peers_;
  unsigned reserved_ = 0;             // packets of prepared messages
  bool news_ = false;                 // credits have come
  std::vector<std::uint32_t> debts_;  // peers that are owed half of their share
  conduit::LocalCompletions local_done_;
  std::deque<Message*> deferred_;  // requests that arrived while only replies were wanted
  std::deque<Message> messages_;   // all there are
  std::vector<Message*> spare_;
};

}  // namespace gasmeter::networks::extoll
