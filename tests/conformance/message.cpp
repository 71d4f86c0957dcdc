#include "message.hpp"

#include <utility>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::conformance {
namespace {

// Call f with `arguments` as separate arguments.
template <std::size_t N = 0, class F>
Status spread(std::span<const std::int32_t> arguments, F&& f) {
  if constexpr (N <= conduit::kMaxArguments) {
    if (arguments.size() != N) return spread<N + 1>(arguments, std::forward<F>(f));
    return
        [&]<std::size_t... I>(std::index_sequence<I...>) { return f(arguments[I]...); }(std::make_index_sequence<N>());
  } else {
    throw UsageError("conformance: too many arguments");
  }
}

}  // namespace

template <class H>
Status send_request(core::Endpoint<H>& endpoint, Rank to, const Message& m) {
  return spread(m.arguments, [&](auto... arguments) {
    switch (m.category) {
      case Category::short_message:
        return endpoint.request_short(to, m.handler, m.flags, arguments...);
      case Category::medium:
        return endpoint.request_medium(to, m.handler, m.from, m.bytes, m.flags, arguments...);
      case Category::long_message:
        break;
    }
    return endpoint.request_long(to, m.handler, m.from, m.bytes, m.destination, m.flags, arguments...);
  });
}

template <class H>
Status send_reply(core::Token<H>& token, const Message& m) {
  return spread(m.arguments, [&](auto... arguments) {
    switch (m.category) {
      case Category::short_message:
        return token.reply_short(m.handler, arguments...);
      case Category::medium:
        return token.reply_medium(m.handler, m.from, m.bytes, arguments...);
      case Category::long_message:
        break;
    }
    return token.reply_long(m.handler, m.from, m.bytes, m.destination, arguments...);
  });
}

template Status send_request(core::Endpoint<RealHost>&, Rank, const Message&);
template Status send_request(core::Endpoint<ThreadedHost>&, Rank, const Message&);
template Status send_request(core::Endpoint<sim::ModelHost>&, Rank, const Message&);
template Status send_reply(core::Token<RealHost>&, const Message&);
template Status send_reply(core::Token<ThreadedHost>&, const Message&);
template Status send_reply(core::Token<sim::ModelHost>&, const Message&);

}  // namespace gasmeter::conformance
