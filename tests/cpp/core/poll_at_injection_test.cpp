// Endpoints that poll before each injection: the calls that poll, and the messages handled when they return.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/message.hpp"
#include "gasmeter/core/negotiated.hpp"
#include "support/model_world.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::core::poll_at_injection_test {
namespace {

using gasmeter::testing::layout_of;
using gasmeter::testing::Mapping;
using gasmeter::testing::ModelWorld;
using gasmeter::testing::ThreadWorld;

// A rank that sends to itself: only a poll handles waiting messages.
template <class H>
class Sender {
 public:
  explicit Sender(Endpoint<H>& endpoint) : endpoint_(endpoint) {
    std::array<HandlerEntry<H>, 1> entry{{{{}, &on_message, this, "waiting"}}};
    endpoint.register_handlers(entry);
    handler_ = entry[0].index;
  }

  // Return how many messages are handled within a call that sends one more.
  template <class Send>
  unsigned during(Send send) {
    const unsigned before = handled_;
    send(endpoint_, endpoint_.rank(), handler_);
    return handled_ - before;
  }
  void send_short(Flags flags = Flags::none) {
    REQUIRE(endpoint_.request_short(endpoint_.rank(), handler_, flags) == Status::ok);
  }

 private:
  static void on_message(Token<H>& token) { ++token.template context_as<Sender>().handled_; }

  Endpoint<H>& endpoint_;
  HandlerIndex handler_{};
  unsigned handled_ = 0;
};

template <class H>
void check_every_call(Endpoint<H>& endpoint) {
  Sender<H> sender(endpoint);
  std::array<std::byte, 64> data{};
  void* const destination = endpoint.segment().address;
  const auto request_short = [](auto& ep, Rank to, HandlerIndex handler) {
    REQUIRE(ep.request_short(to, handler, Flags::none) == Status::ok);
  };
  const auto immediate_short = [](auto& ep, Rank to, HandlerIndex handler) {
    REQUIRE(ep.request_short(to, handler, Flags::immediate) == Status::ok);
  };
  const auto request_medium = [&](auto& ep, Rank to, HandlerIndex handler) {
    REQUIRE(ep.request_medium(to, handler, data.data(), data.size(), Flags::none, 1) == Status::ok);
  };
  const auto request_long = [&](auto& ep, Rank to, HandlerIndex handler) {
    REQUIRE(ep.request_long(to, handler, data.data(), data.size(), destination, Flags::none) == Status::ok);
  };
  const auto of_run_time = [](auto& ep, Rank to, HandlerIndex handler) {
    REQUIRE(ep.request(to, {Category::short_message, handler, nullptr, 0, nullptr, {}}, Flags::none) == Status::ok);
  };
  const auto negotiated = [](auto& ep, Rank to, HandlerIndex handler) {
    Prepared<H> prepared = ep.prepare_medium(to, nullptr, 8, 8, 0);
    REQUIRE(prepared.commit(handler, 8, Flags::none) == Status::ok);
  };
  const auto put = [&](auto& ep, Rank to, HandlerIndex /*handler*/) {
    ep.put(to, destination, data.data(), data.size());
  };

  for (const bool on : {false, true, false}) {
    CAPTURE(on);
    const unsigned polled = on ? 1 : 0;
    endpoint.poll_at_injection(on);
    sender.send_short();  // one message waits from here on
    CHECK(sender.during(request_short) == polled);
    CHECK(sender.during(request_medium) == (on ? 1 : 0));
    CHECK(sender.during(request_long) == polled);
    CHECK(sender.during(of_run_time) == polled);
    CHECK(sender.during(negotiated) == polled);
    CHECK(sender.during(immediate_short) == 0);
    CHECK(sender.during(request_short) == 2 * polled);  // that of the immediate call, too
    CHECK(sender.during(put) == 0);                     // a store into a neighbour's memory
    while (endpoint.poll() != 0) continue;
  }
}

TEST_CASE("injections_poll_first_where_it_is_asked_for_and_no_others") {
  const ThreadWorld world(layout_of(1, 16 * 1024, 4096), Mapping::one);
  SUBCASE("real") {
    Endpoint<RealHost> endpoint(RealHost(), world.view(0));
    check_every_call(endpoint);
  }
  SUBCASE("real with threads") {
    Endpoint<ThreadedHost> endpoint(ThreadedHost(), world.view(0));
    check_every_call(endpoint);
  }
  SUBCASE("modelled") {
    ModelWorld modelled({.ranks = 1, .nodes = 1, .neighbourhood = true});
    modelled.run([](Endpoint<sim::ModelHost>& endpoint) { check_every_call(endpoint); });
  }
}

}  // namespace
}  // namespace gasmeter::core::poll_at_injection_test
