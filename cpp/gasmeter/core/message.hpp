// A message whose category and number of arguments are known at run time only, for clients that forward calls.
// Endpoint::request, Token::reply and Prepared::commit take one.
#pragma once

#include <cstdint>
#include <span>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"

namespace gasmeter::core {

// The payload is ready at `from`; a Short has none. `destination` of a Long is the owner's address.
struct Message {
  conduit::Category category = conduit::Category::short_message;
  HandlerIndex handler{};
  const void* from = nullptr;
  Bytes bytes = 0;
  void* destination = nullptr;
  std::span<const std::int32_t> arguments;
};

// Throw UsageError for too many arguments.
void check_arguments(const Message& message);

}  // namespace gasmeter::core
