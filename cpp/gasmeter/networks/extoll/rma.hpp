// Units of remote memory access. A node has one set, which its ranks share.
#pragma once

#include <vector>

#include "gasmeter/networks/extoll/host_link.hpp"
#include "gasmeter/networks/extoll/notification.hpp"
#include "gasmeter/networks/extoll/outlet.hpp"
#include "gasmeter/networks/extoll/packet.hpp"
#include "gasmeter/networks/extoll/unit.hpp"

namespace gasmeter::networks::extoll {

class ExtollNic;
class RmaStreams;

// A transfer that a requester or a responder has to send.
struct RmaTransfer {
  PacketKind kind{};
  Notify notify = Notify::none;
  Rank owner{};                     // rank of this node that gave the command, or whose memory a get reads
  Rank peer{};                      // rank at the other side
  const std::byte* from = nullptr;  // read at this side; of a get request: at the other side
  std::byte* to = nullptr;          // written at the other side; of a get request: at this side
  Bytes bytes = 0;
  SimTime ready;  // when the transfer is in the unit
};

// A requester or a responder. Both read host memory and send it in packets, in order.
class RmaReader {
 public:
  // `busy`: time for each packet. `done`: kind of its notifications. `asked`: the bit that asks for them.
  RmaReader(ExtollNic& nic, SimTime busy, Notification::Kind done, Notify asked);

  void accept(const RmaTransfer& transfer);
  void departed(SimTime end);

  // --- for RmaStreams
  [[nodiscard]] NodeId node() const;
  // The transfer that the unit sends now, and the bytes of it that it has begun.
  [[nodiscard]] const RmaTransfer& transfer() const { return transfers_[first_]; }
  [[nodiscard]] bool has_transfer() const { return first_ != transfers_.size(); }
  [[nodiscard]] Bytes sent() const { return sent_; }
  [[nodiscard]] const sim::Action& reading() const { return reading_.action(); }
  [[nodiscard]] const sim::Action& late() const { return passage_.action(); }
  [[nodiscard]] const sim::Action& outlet() const { return outlet_.action(); }
  void walk(sim::StateWalk& walk, Bytes limit);

 private:
  static constexpr unsigned kAhead = 8;  // packets that are begun and whose last byte has not left the node

  void begin(SimTime now);
  void tell_length();
  void answered(RmaPacket& packet, SimTime now);
  void read(RmaPacket& packet, SimTime now);
  void finish(const RmaPacket& packet, SimTime now);

  ExtollNic& nic_;
  SimTime busy_;
  Notification::Kind done_;
  Notify asked_;
  FifoServer engine_;
  FifoServer answers_;                  // host memory answers reads as fast as the link to the card
  std::vector<RmaTransfer> transfers_;  // from first_ on
  std::size_t first_ = 0;
  Bytes sent_ = 0;  // bytes of the first transfer
  unsigned under_way_ = 0;
  bool is_long_ = false;  // the first transfer has many packets left
  Pipeline<RmaPacket, RmaReader, &RmaReader::answered> reading_;
  Passage<RmaPacket, RmaReader, &RmaReader::read> passage_;
  Outlet outlet_;
};

// Unit that writes arriving data into host memory.
class RmaCompleter {
 public:
  explicit RmaCompleter(ExtollNic& nic);

  // Take a packet, all of whose bytes are in the card at `in_card`.
  void arrived(RmaPacket& packet, SimTime in_card);
  // Take a get's request, which is in the card at `in_card`. The get is served when all earlier data are in memory,
  // since a read does not pass the writes before it (HyperTransport's order).
  void passed_by(RmaPacket& request, SimTime in_card);

  // --- for RmaStreams
  [[nodiscard]] const sim::Action& writing() const { return writing_.action(); }
  [[nodiscard]] const sim::Action& late() const { return passage_.action(); }
  void walk(sim::StateWalk& walk);

 private:
  void done(RmaPacket& packet, SimTime now);
  void write(RmaPacket& packet, SimTime now);

  ExtollNic& nic_;
  FifoServer engine_;
  Pipeline<RmaPacket, RmaCompleter, &RmaCompleter::done> writing_;
  Passage<RmaPacket, RmaCompleter, &RmaCompleter::write> passage_;
};

}  // namespace gasmeter::networks::extoll
