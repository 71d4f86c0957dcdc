// The contract between the two-sided layer and a modelled device. A device carries messages of head and payload, in
// order between two ranks, and puts into memory that the receiver has opened. Each device's folder has an adaptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"

namespace gasmeter::services {

// Memory that a sender may put into, described for the receiver's device.
struct PutWindow {
  std::uint64_t address = 0;
  std::uint32_t key = 0;      // key of the memory, if the device has one
  std::uint32_t receive = 0;  // number of the receive, reported when the put arrives
};

// Header of a message.
struct MessageHead {
  enum class Kind : std::uint8_t {
    eager,    // a message whose `bytes` bytes follow
    request,  // a message whose `bytes` bytes wait at their sender
    clear,    // permission to put the bytes into `window`
  };
  Kind kind{};
  std::uint32_t tag = 0;
  std::uint32_t bytes = 0;
  std::uint32_t number = 0;  // request, clear: the sender's number
  PutWindow window;

  // Return how many bytes of a head are sent, from the first on.
  [[nodiscard]] static constexpr Bytes size_of(Kind kind) {
    return kind == Kind::clear ? sizeof(MessageHead) : sizeof(MessageHead) - sizeof(PutWindow);
  }
  [[nodiscard]] Bytes size() const { return size_of(kind); }
  [[nodiscard]] Bytes payload() const { return kind == Kind::eager ? bytes : 0; }
};
static_assert(sizeof(MessageHead) == 32);

// A rank's device. Calls charge their work on the rank's core to its host. Calls never wait: work for which the device
// has no room continues in progress().
class MessageDevice : public conduit::ReservesMemory {
 public:
  // Number of a send whose completion is not to be reported
  static constexpr std::uint32_t kUntold = ~std::uint32_t{0};

  // Receiver of the events that progress() finds. Its functions may call the device.
  class Sink {
   public:
    struct Landing {
      std::byte* to = nullptr;
      std::uint32_t which = 0;  // passed back to ended()
    };
    // Return the destination of a message that begins to arrive. The device copies the payload there.
    virtual Landing begun(Rank source, const MessageHead& head) = 0;
    // A message has arrived.
    virtual void ended(Rank source, std::uint32_t which) = 0;
    // The payload of a message or of a put may change.
    virtual void sent(std::uint32_t number) = 0;
    // A put has arrived.
    virtual void landed(Rank source, std::uint32_t receive) = 0;

   protected:
    ~Sink() = default;
  };

  MessageDevice() = default;
  MessageDevice(const MessageDevice&) = delete;
  MessageDevice& operator=(const MessageDevice&) = delete;
  virtual ~MessageDevice() = default;

  // Send a message. Messages to one rank begin to arrive in the order of their sends. Return true if the payload may
  // change already; then sent() is not called. Otherwise the payload must stay until sent(number).
  virtual bool send(Rank to, const MessageHead& head, std::span<const std::byte> payload, std::uint32_t number) = 0;
  // Tell whether puts access programs' memory in place. Then that memory must be declared by admit() before, and may
  // be dismissed as often as it was admitted. The caller pays for the registration.
  [[nodiscard]] virtual bool reaches_programs() const { return true; }
  virtual void admit(std::span<std::byte> /*memory*/) {}
  virtual void dismiss(std::span<std::byte> /*memory*/) {}
  // Open memory for one put of its whole size by `from`. The windows of a rank are used in the order of the messages
  // that carry them.
  [[nodiscard]] virtual PutWindow open(Rank from, std::span<std::byte> memory, std::uint32_t receive) = 0;
  virtual void put(Rank to, const PutWindow& window, std::span<const std::byte> payload, std::uint32_t number) = 0;

  // Report one event to the sink; return false if there is none.
  virtual bool progress(Sink& sink) = 0;
};

}  // namespace gasmeter::services
