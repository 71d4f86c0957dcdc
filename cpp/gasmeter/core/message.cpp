#include "gasmeter/core/message.hpp"

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/internals.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

// Name of the call with as many arguments in the program's text. Each run-time call does the same, at the same price
// in virtual time.
namespace gasmeter::core {
namespace {

const char* call_of(const Message& message, bool is_request) {
  switch (message.category) {
    case Category::short_message:
      return is_request ? "request_short" : "reply_short";
    case Category::medium:
      return is_request ? "request_medium" : "reply_medium";
    case Category::long_message:
      return is_request ? "request_long" : "reply_long";
  }
  return "message";
}

template <class H>
bool fits_near(const Endpoint<H>& endpoint, const Message& message) {
  return message.category == Category::short_message ||
         message.bytes <= (message.category == Category::medium ? endpoint.max_medium() : endpoint.max_long());
}

}  // namespace

void check_arguments(const Message& message) {
  if (message.arguments.size() <= conduit::kMaxArguments) return;
  throw UsageError("a message of " + std::to_string(message.arguments.size()) + " arguments; at most " +
                   std::to_string(conduit::kMaxArguments));
}

template <class H>
Status Endpoint<H>::request(Rank to, const Message& message, Flags flags) {
  check_arguments(message);
  const char* const call = call_of(message, true);
  check_call(call);
  if (message.category == Category::long_message) check_target(call, to, message.destination, message.bytes);
  if constexpr (kMutants)
    if (const auto planted = faults_.request(*this, to, message, flags)) return *planted;
  Link* const link = near_.link_at_once(to);
  if (link != nullptr && fits_near(*this, message) && try_near(*link, Outgoing::request, message)) return Status::ok;
  return request_slow(to, message, flags);
}

template <class H>
Status Token<H>::reply(const Message& message, Flags flags) {
  check_arguments(message);
  const auto e = internals(endpoint_);
  const char* const call = call_of(message, false);
  if (message.category == Category::long_message) {
    e.check_target(call, message_.source, message.destination, message.bytes);
  }
  take_reply(call);
  if constexpr (kMutants)
    if (const auto planted = e.faults().reply(*this, message, flags)) return *planted;
  auto* const link = e.near().link(message_.source);
  if (link != nullptr && fits_near(endpoint_, message) && e.try_near(*link, Internals<H>::Outgoing::reply, message)) {
    return Status::ok;
  }
  return e.reply(*this, message, flags);
}

template Status Endpoint<RealHost>::request(Rank, const Message&, Flags);
template Status Endpoint<ThreadedHost>::request(Rank, const Message&, Flags);
template Status Endpoint<StampedHost>::request(Rank, const Message&, Flags);
template Status Endpoint<sim::ModelHost>::request(Rank, const Message&, Flags);
template Status Token<RealHost>::reply(const Message&, Flags);
template Status Token<ThreadedHost>::reply(const Message&, Flags);
template Status Token<StampedHost>::reply(const Message&, Flags);
template Status Token<sim::ModelHost>::reply(const Message&, Flags);

}  // namespace gasmeter::core
