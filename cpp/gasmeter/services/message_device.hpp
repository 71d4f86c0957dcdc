// What the two-sided layer needs of a modelled device: messages of a head and a payload, in order between two ranks,
// and puts into memory that a receiver has opened. Each device's folder has an adaptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"

namespace gasmeter::services {

// Memory that a sender may put into, in the words of the receiver's device.
struct PutWindow {
  std::uint64_t address = 0;
  std::uint32_t key = 0;      // if the device has one
  std::uint32_t receive = 0;  // whose it is: of the put's arrival
};

// What goes before a message's payload.
struct MessageHead {
  enum class Kind : std::uint8_t {
    eager,    // a message of `bytes`, which follow
    request,  // a message of `bytes`, which wait at their sender
    clear,    // they may go into `window`
  };
  Kind kind{};
  std::uint32_t tag = 0;
  std::uint32_t bytes = 0;
  std::uint32_t number = 0;  // request, clear: the sender's
  PutWindow window;

  // How many of its bytes are sent, from the first on.
  [[nodiscard]] static constexpr Bytes size_of(Kind kind) {
    return kind == Kind::clear ? sizeof(MessageHead) : sizeof(MessageHead) - sizeof(PutWindow);
  }
  [[nodiscard]] Bytes size() const { return size_of(kind); }
  [[nodiscard]] Bytes payload() const { return kind == Kind::eager ? bytes : 0; }
};
static_assert(sizeof(MessageHead) == 32);

// One rank's. What its calls do on the rank's core they charge to its host. They never wait: what the device has no
// room for goes on in progress().
class MessageDevice : public conduit::ReservesMemory {
 public:
  static constexpr std::uint32_t kUntold = ~std::uint32_t{0};  // a number of which nobody wants to hear

  // What progress() finds. All of it may call the device.
  class Sink {
   public:
    struct Landing {
      std::byte* to = nullptr;
      std::uint32_t which = 0;  // to be handed back
    };
    // A message begins to arrive: where its payload goes. The device copies it there.
    virtual Landing begun(Rank source, const MessageHead& head) = 0;
    // It is there.
    virtual void ended(Rank source, std::uint32_t which) = 0;
    // The payload of a message or of a put may change.
    virtual void sent(std::uint32_t number) = 0;
    // A put is there.
    virtual void landed(Rank source, std::uint32_t receive) = 0;

   protected:
    ~Sink() = default;
  };

  MessageDevice() = default;
  MessageDevice(const MessageDevice&) = delete;
  MessageDevice& operator=(const MessageDevice&) = delete;
  virtual ~MessageDevice() = default;

  // Messages to a rank begin to arrive in the order in which they were sent. True: the payload may change already and
  // nobody will be told; else it stays until sent(number).
  virtual bool send(Rank to, const MessageHead& head, std::span<const std::byte> payload, std::uint32_t number) = 0;
  // Whether puts read and write programs' memory, where it lies: then that is made known to the device before, and may
  // be forgotten after, as often as it was made known. Whoever does so has paid for it.
  [[nodiscard]] virtual bool reaches_programs() const { return true; }
  virtual void admit(std::span<std::byte> /*memory*/) {}
  virtual void dismiss(std::span<std::byte> /*memory*/) {}
  // Opens memory for one put of all of it by `from`; windows of a rank are used in the order of the messages
  // that carry them.
  [[nodiscard]] virtual PutWindow open(Rank from, std::span<std::byte> memory, std::uint32_t receive) = 0;
  virtual void put(Rank to, const PutWindow& window, std::span<const std::byte> payload, std::uint32_t number) = 0;

  // Tells of one thing that has happened; false: of none.
  virtual bool progress(Sink& sink) = 0;
};

}  // namespace gasmeter::services
