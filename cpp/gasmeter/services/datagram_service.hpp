// The contract between the udp conduit and a network that carries datagrams: real sockets, or a model of them.
//
// A datagram arrives whole or not at all. It may be lost, doubled, late, out of order, or a stranger's.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::services {

// Largest payload of a datagram over IPv4: 65535 bytes less the headers of IP and UDP.
inline constexpr Bytes kLargestDatagram = 65507;

struct DatagramLimits {
  Bytes largest = 0;             // payload of the largest datagram that no hop fragments
  unsigned most_per_send = 1;    // datagrams to one destination that one call sends
  bool segmentation = false;     // the network cuts a buffer into datagrams (UDP_SEGMENT)
  bool receive_offload = false;  // the network delivers several datagrams of one sender in one buffer (UDP_GRO)
  Bytes receive_buffer = 0;      // bytes buffered for a receiver that is late; datagrams beyond are lost
};

// Destination of receive(). The contents are valid until the next receive() into the same inbox.
class Inbox {
 public:
  struct Datagram {
    std::byte* data;  // aligned to 16
    Bytes bytes;
    bool landed;  // the payload behind the first landing.at bytes lies at landing.to, and not at `data`
  };
  // Destination for the payload of the next datagram behind its first `at` bytes, if may_land() agrees: at most
  // `bytes` bytes at `to`. The landing holds for one receive().
  struct Landing {
    Bytes at = 0;
    std::byte* to = nullptr;
    Bytes bytes = 0;
  };

  // Needs room for one buffer of offloaded datagrams, plus 16 bytes for each of them. Datagrams without room are lost.
  explicit Inbox(Bytes bytes)
      : size_(bytes), data_(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{kAlignment}))) {}

  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] Bytes size() const { return size_; }

  Landing landing;
  // Decide by the first landing.at bytes whether a datagram of `bytes` bytes may land. A shorter datagram is passed
  // whole. Until then no byte of it is outside the inbox. An empty function forbids all landing.
  std::function<bool(std::span<const std::byte> head, Bytes bytes)> may_land;
  std::vector<Datagram> datagrams;

 private:
  static constexpr std::size_t kAlignment = 64;
  struct Free {
    void operator()(std::byte* data) const { ::operator delete(data, std::align_val_t{kAlignment}); }
  };
  Bytes size_;
  std::unique_ptr<std::byte, Free> data_;
};

class DatagramService {
 public:
  DatagramService() = default;
  DatagramService(const DatagramService&) = delete;
  DatagramService& operator=(const DatagramService&) = delete;
  virtual ~DatagramService() = default;

  [[nodiscard]] virtual const DatagramLimits& limits() const = 0;
  // Send the datagrams that result from cutting `parts` every `segment` bytes, the last one possibly shorter; at most
  // limits().most_per_send. Return how many, from the first on, the network has taken. Those are copied when the call
  // returns.
  virtual unsigned send(Rank to, std::span<const iovec> parts, Bytes segment) = 0;
  // Fill inbox.datagrams with arrived datagrams, without waiting. Return false if none has arrived.
  virtual bool receive(Inbox& inbox) = 0;
  // FIONREAD, for programs that take datagrams one by one: return the bytes of the datagram that receive() would
  // deliver next, or 0 if none is there. In virtual time a call that sees a datagram is charged. After a call that
  // sees none, the caller pays look_price() or a missed poll. A provider that cannot tell returns the largest size
  // possible.
  [[nodiscard]] virtual Bytes bytes_waiting() { return limits().largest; }
  [[nodiscard]] virtual SimTime look_price() const { return {}; }
  // Return the next instant at which receive() has work even if nothing arrives. In virtual time a rank must ask for
  // it.
  [[nodiscard]] virtual SimTime next_deadline() const { return kNever; }

  // See conduit::ReservesMemory. Modelled providers override this.
  [[nodiscard]] virtual Bytes reserved_bytes() const { return 0; }
};

}  // namespace gasmeter::services
