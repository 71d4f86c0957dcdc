// Calls of conduits in virtual time without core: the test decides what is sent and delivered.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::testing {

class Sink final : public conduit::Delivery {
 public:
  using Handler = std::function<void(const conduit::AmView&)>;
  explicit Sink(Handler handler = [](const conduit::AmView&) {}) : handler_(std::move(handler)) {}
  void arrived(const conduit::AmView& message) override {
    ++messages;
    handler_(message);
  }
  void completed(conduit::OperationId operation) override { done.push_back(operation); }
  unsigned messages = 0;
  std::vector<conduit::OperationId> done;

 private:
  Handler handler_;
};

template <class Done>
void wait(conduit::Conduit& conduit, sim::ModelHost host, Sink& sink, Done done,
          conduit::PollFilter filter = conduit::PollFilter::everything) {
  while (!done()) {
    if (conduit.poll(sink, 16, filter) == 0) host.idle(conduit.next_deadline());
  }
}

inline conduit::AmHeader header_to(unsigned peer, conduit::Category category, unsigned arguments = 0,
                                   bool is_reply = false) {
  return {Rank{peer}, category, is_reply, static_cast<std::uint8_t>(arguments), 0};
}

inline conduit::AmHeader answer_to(const conduit::AmView& request, conduit::Category category, unsigned arguments = 0) {
  conduit::AmHeader header = header_to(index(request.source), category, arguments, true);
  header.cookie = request.cookie;
  return header;
}

// Return the message of the error that a call throws.
template <class Error, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

inline Status try_send(conduit::Conduit& conduit, const conduit::AmHeader& header,
                       std::span<const std::int32_t> arguments = {}, std::span<const std::byte> payload = {},
                       void* destination = nullptr) {
  conduit::AmBuffer buffer;
  const Status status = conduit.prepare(header, nullptr, payload.size(), payload.size(), buffer);
  if (status != Status::ok) return status;
  if (!payload.empty()) std::memcpy(buffer.data, payload.data(), payload.size());
  return conduit.commit(buffer, {HandlerIndex{7}, payload.size(), destination, arguments}, conduit::kNoOperation);
}

// A Short from rank 0 to rank 1 and its reply, in ps from the instant at which the ranks begin.
struct RoundTrip {
  std::int64_t sent = 0;      // by rank 0
  std::int64_t handled = 0;   // by rank 1: its handler begins
  std::int64_t replied = 0;   // rank 1's handler has replied
  std::int64_t answered = 0;  // rank 0's handler begins
  bool operator==(const RoundTrip&) const = default;
};

template <class World>
RoundTrip short_round_trip(World& world) {
  RoundTrip times;
  const SimTime begin[] = {world.host(0).now(), world.host(1).now()};
  world.engine.start(Rank{0}, [&] {
    sim::ModelHost host = world.host(0);
    CHECK(try_send(*world.conduits[0], header_to(1, conduit::Category::short_message)) == Status::ok);
    times.sent = (host.now() - begin[0]).ps;
    Sink sink([&](const conduit::AmView& message) {
      CHECK_FALSE(message.is_request);
      times.answered = (host.now() - begin[0]).ps;
    });
    wait(*world.conduits[0], host, sink, [&] { return sink.messages == 1; });
  });
  world.engine.start(Rank{1}, [&] {
    sim::ModelHost host = world.host(1);
    Sink sink([&](const conduit::AmView& message) {
      times.handled = (host.now() - begin[1]).ps;
      CHECK(message.handler == HandlerIndex{7});
      CHECK(try_send(*world.conduits[1], header_to(0, conduit::Category::short_message, 0, true)) == Status::ok);
    });
    wait(*world.conduits[1], host, sink, [&] { return sink.messages == 1; });
    times.replied = (host.now() - begin[1]).ps;
  });
  world.engine.run();
  return times;
}

}  // namespace gasmeter::testing
