// Steps of a trace: what a rank or a network spends the time of an operation on.
#pragma once

#include <cstdint>

#include "gasmeter/conduit/host.hpp"

namespace gasmeter::sim {

enum class Step : std::uint8_t {
  inject,        // entering the library
  header,        // packing header and arguments
  copy,          // payload from memory to memory, and the loops around pieces of it
  doorbell,      // telling the device, or the neighbour's ring
  driver,        // the operating system's share, on the rank's core or elsewhere
  system_call,   // entering the kernel
  lock,          //
  registration,  // pinning memory
  two_sided,     // request objects and envelopes of a two-sided layer
  match,         // matching of a two-sided layer
  check,         // asking a device whether what was stored has gone
  flag,          // telling another rank by a word in memory
  scan,          // looking through the words by which other ranks tell
  search,        // finding a table's entry for an address or a message
  translate,     // an address of one rank into one of another, or of a device
  poll,          // looking for arrivals, and taking them
  dispatch,      // finding and calling the handler
  handler,       // a handler's own work, without its reply
  device,        // units of a network interface
  queue,         // waiting for a link, a buffer, a credit or a unit
  wire,          // bytes on a wire
  hop,           // a router and its link: the head's latency
  timer,         // until a deadline of the protocol
  stall,         // a core that waits for its own store or load
  work,          // the rank's own work, which interrupts and messages make longer
  unknown,       // nobody named it
  count_
};

[[nodiscard]] constexpr Step step_of(conduit::PrivatePrice price) {
  switch (price) {
    case conduit::PrivatePrice::call:
    case conduit::PrivatePrice::inject:
    case conduit::PrivatePrice::temporary:
    case conduit::PrivatePrice::describe:
      return Step::inject;
    case conduit::PrivatePrice::header_build:
      return Step::header;
    case conduit::PrivatePrice::dispatch:
    case conduit::PrivatePrice::deliver:
      return Step::dispatch;
    case conduit::PrivatePrice::poll_miss:
      return Step::poll;
    case conduit::PrivatePrice::update:
      return Step::handler;
    case conduit::PrivatePrice::system_call:
      return Step::system_call;
    case conduit::PrivatePrice::own_lock:
      return Step::lock;
    case conduit::PrivatePrice::two_sided:
      return Step::two_sided;
    case conduit::PrivatePrice::match:
      return Step::match;
    case conduit::PrivatePrice::piece_copy:
    case conduit::PrivatePrice::loop_turn:
    case conduit::PrivatePrice::loop_level:
      return Step::copy;
    case conduit::PrivatePrice::translation:
    case conduit::PrivatePrice::shared_access:
    case conduit::PrivatePrice::handle_translation:
    case conduit::PrivatePrice::address_look_up:
      return Step::translate;
    case conduit::PrivatePrice::clock_read:
      return Step::timer;
    case conduit::PrivatePrice::generate:
    case conduit::PrivatePrice::instruction:
      return Step::work;
    default:
      return Step::unknown;
  }
}

[[nodiscard]] constexpr Step step_of(conduit::SharedPrice price) {
  switch (price) {
    case conduit::SharedPrice::line_store:
    case conduit::SharedPrice::nic_post:
    case conduit::SharedPrice::pio_store:
      return Step::doorbell;
    case conduit::SharedPrice::line_transfer:
    case conduit::SharedPrice::nic_take:
    case conduit::SharedPrice::device_read:
      return Step::poll;
    case conduit::SharedPrice::lock:
      return Step::lock;
    case conduit::SharedPrice::registration:
    case conduit::SharedPrice::deregistration:
      return Step::registration;
    default:
      return Step::unknown;
  }
}

[[nodiscard]] const char* name_of(Step step);

}  // namespace gasmeter::sim
