#include "gasmeter/networks/aries/job_memory.hpp"

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::aries {

namespace {

constexpr Bytes kAtOnce = 3;  // as the released conduit: three Mediums in flight

}  // namespace

MessageRoom message_room(const AriesOptions& options) {
  MessageRoom room;
  room.message = options.medium + kArgumentRoom;
  const Bytes of_message = slots_for(room.message) * kSlot;
  room.area = options.request_area == 0 ? kAtOnce * of_message : options.request_area / kSlot * kSlot;
  if (room.area < of_message) {
    throw UsageError("aries: medium=" + std::to_string(options.medium) + " takes " + std::to_string(of_message) +
                     " B of a request area (" + std::to_string(kArgumentRoom) + " B more, in slots of " +
                     std::to_string(kSlot) + " B), and request_area=" + std::to_string(options.request_area) + " has " +
                     std::to_string(room.area) + ": shorten it, or make the areas larger");
  }
  room.slots = static_cast<unsigned>(room.area / kSlot);
  return room;
}

JobMemory::JobMemory(unsigned ranks, const AriesOptions& options)
    : room_(message_room(options)),
      reply_slots_(options.reply_slots),
      known_(ranks),
      requests_("aries", ranks, blocks()) {}

}  // namespace gasmeter::networks::aries
