// A queue pair with reliable connection: one rank's end of it, as its adapter handles it.
//
// Work requests leave in the order of posting, packet by packet, and are kept until the peer acknowledges them. The
// peer refuses a send that finds no receive. The sender then sends it and all later work requests again after a while.
// The peer takes packets in order only, so that each work request is carried out once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gasmeter/networks/ibv/packet.hpp"
#include "gasmeter/networks/ibv/work.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/fabric/unit.hpp"

namespace gasmeter::networks::ibv {

class IbvContext;
class IbvHca;

class QueuePair {
 public:
  QueuePair(IbvHca& hca, IbvContext& owner, Rank peer, std::uint8_t number, unsigned depth);
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  [[nodiscard]] Rank peer() const { return peer_; }
  // Bytes of its send queue. The receive queue is shared and not included.
  [[nodiscard]] Bytes reserved_bytes() const;

  // ---- software's side; the rank is synchronised
  // Work requests that fit the send queue. A place is free again when software has polled the completion of its work
  // request or of a later one.
  [[nodiscard]] unsigned room() const { return static_cast<unsigned>(ring_.size() - (end_ - freed_)); }
  void post(const WorkRequest& request, SimTime now);
  void polled(std::uint64_t message) { freed_ = message + 1; }

  // ---- the adapter's side
  void arrived(const IbPacket& packet, SimTime now);
  void departed(PacketKind kind, SimTime end);
  // The unit for atomics has finished the atomic of the first answer.
  void do_atomic(SimTime now);

 private:
  static constexpr unsigned kAhead = 4;  // packets begun whose last byte has not left the node

  struct Work {
    WorkRequest request;
    SimTime ready;
    std::vector<std::byte> bytes;  // of an inlined work request
  };
  struct Response {
    PacketKind kind{};
    std::uint64_t message = 0;
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    Bytes bytes = 0;
    std::uint64_t operand = 0;  // of a pending atomic; then its result
    std::uint64_t compare = 0;
    Rank by{};
  };
  struct Timer : sim::Action {
    explicit Timer(QueuePair& of) : sim::Action(&Timer::on_due), pair(of) {}
    static void on_due(sim::Action& self, SimTime now);
    QueuePair& pair;
  };

  [[nodiscard]] Work& work(std::uint64_t message) { return ring_[message % ring_.size()]; }
  IbPacket& make_packet(PacketKind kind, std::uint64_t message);
  void begin_requests(SimTime now);
  void begin_responses(SimTime now);
  void leave(IbPacket& packet, SimTime now);
  void respond(const Response& response, SimTime now);
  void take_request(const IbPacket& packet, SimTime now);
  [[nodiscard]] bool take_send(const IbPacket& packet, SimTime now);
  void acknowledged(std::uint64_t messages, SimTime now);
  void refused(std::uint64_t message, SimTime now);

  IbvHca& hca_;
  IbvContext& owner_;
  Rank peer_;
  std::uint8_t number_;

  // The send queue: a ring of work requests, by number.
  std::vector<Work> ring_;
  std::uint64_t freed_ = 0;  // places before this number are free
  std::uint64_t first_ = 0;  // the first that is not acknowledged
  std::uint64_t next_ = 0;   // the next to send
  std::uint64_t end_ = 0;
  Bytes sent_ = 0;  // of the next one
  unsigned requests_under_way_ = 0;
  bool waits_ = false;  // the peer was not ready
  sim::FifoServer engine_;
  sim::Pipeline<IbPacket, QueuePair, &QueuePair::leave> requests_;
  Timer timer_;

  // Traffic from the peer.
  std::uint64_t expected_ = 0;
  Bytes received_ = 0;               // of the expected message
  Receive receive_;                  // receive of the expected message
  std::vector<Response> responses_;  // from first_response_ on
  std::size_t first_response_ = 0;
  Bytes responded_ = 0;        // of the first one
  bool is_at_atomic_ = false;  // the unit for atomics works on the first one
  unsigned responses_under_way_ = 0;
  sim::Pipeline<IbPacket, QueuePair, &QueuePair::leave> answers_;
};

}  // namespace gasmeter::networks::ibv
