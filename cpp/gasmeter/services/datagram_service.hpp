// What the udp conduit needs of a network that carries datagrams: real sockets, or a model of them.
//
// A datagram arrives whole or not at all; it may be lost, come twice, late or in another order, and be anybody's.
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
  Bytes largest = 0;             // payload of the largest datagram that no hop cuts into fragments
  unsigned most_per_send = 1;    // datagrams of one destination that one call hands over
  bool segmentation = false;     // the network cuts one buffer into datagrams (UDP_SEGMENT)
  bool receive_offload = false;  // the network hands over datagrams of one sender in one buffer (UDP_GRO)
  Bytes receive_buffer = 0;      // bytes that wait for a receiver who is late; more is lost
};

// Where receive() puts what has arrived; valid until the next receive() into the same inbox.
class Inbox {
 public:
  struct Datagram {
    std::byte* data;  // aligned to 16
    Bytes bytes;
    bool landed;  // what is behind landing.at lies in the landing; its place at `data` is a hole
  };
  // What is behind the first `at` bytes of the next datagram goes to `to` if may_land() says so, at most `bytes`. Holds
  // for one receive().
  struct Landing {
    Bytes at = 0;
    std::byte* to = nullptr;
    Bytes bytes = 0;
  };

  // Room for one buffer of offloaded datagrams and 16 bytes more for each of them; what has no room is lost.
  explicit Inbox(Bytes bytes)
      : size_(bytes), data_(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{kAlignment}))) {}

  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] Bytes size() const { return size_; }

  Landing landing;
  // Judges a datagram of `bytes` by its first landing.at (all of them, if it is shorter): until it has, no byte of it
  // is anywhere but in the inbox. Empty: nothing may land.
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
  // Hands over the datagrams that `parts` make when cut every `segment` bytes (the last one is what is left); at most
  // limits().most_per_send of them. Returns how many were taken, from the first on; those are copied when it returns.
  virtual unsigned send(Rank to, std::span<const iovec> parts, Bytes segment) = 0;
  // Fills inbox.datagrams with what has arrived, never waits; false: nothing there.
  virtual bool receive(Inbox& inbox) = 0;
  // FIONREAD, for programs that take datagrams one by one: bytes of the datagram that receive() would hand over next;
  // 0: nothing is there. In virtual time a look that sees one is charged; who sees none pays look_price(), or a poll
  // that finds nothing. Who cannot tell says the most that may come.
  [[nodiscard]] virtual Bytes bytes_waiting() { return limits().largest; }
  [[nodiscard]] virtual SimTime look_price() const { return {}; }
  // The next instant at which receive() has work even if nothing arrives; in virtual time somebody has to ask.
  [[nodiscard]] virtual SimTime next_deadline() const { return kNever; }

  // As conduit::ReservesMemory has it; of a modelled provider.
  [[nodiscard]] virtual Bytes reserved_bytes() const { return 0; }
};

}  // namespace gasmeter::services
