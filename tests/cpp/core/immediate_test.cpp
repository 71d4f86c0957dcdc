// Immediate calls of one thread while another thread has a message prepared: they are refused at once, whatever the
// other waits for.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/negotiated.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::core::immediate_test {
namespace {

using testing::Mapping;
using testing::ThreadWorld;
using Ep = Endpoint<ThreadedHost>;

TEST_CASE("immediate_calls_do_not_wait_for_a_message_that_another_thread_prepares") {
  ThreadWorld world(testing::layout_of(2, 16 * 1024, 4096), Mapping::one);
  Ep sender(ThreadedHost(WaitMode::yield), world.view(0));
  Ep receiver(ThreadedHost(WaitMode::yield), world.view(1));
  unsigned arrived = 0;
  std::array<HandlerEntry<ThreadedHost>, 1> entries{
      {{{}, [](Token<ThreadedHost>& token) { ++token.context_as<unsigned>(); }, &arrived, "count"}}};
  receiver.register_handlers(entries);
  const HandlerIndex count = entries[0].index;
  const std::array<std::uint64_t, 4> payload{};
  void* const remote = sender.segment(Rank{1}).address;
  const std::vector<std::function<bool()>> calls{
      [&] { return sender.request_short(Rank{1}, count, Flags::immediate) == Status::ok; },
      [&] { return sender.request_medium(Rank{1}, count, payload.data(), 32, Flags::immediate) == Status::ok; },
      [&] { return sender.request_long(Rank{1}, count, payload.data(), 32, remote, Flags::immediate) == Status::ok; },
      [&] {
        Prepared<ThreadedHost> other =
            sender.prepare_medium(Rank{1}, nullptr, 8, 8, 0, LocalCompletion::now(), Flags::immediate);
        return other && other.commit(count, 8, Flags::immediate) == Status::ok;
      },
      [&] {
        Prepared<ThreadedHost> other =
            sender.prepare_long(Rank{1}, nullptr, 8, 8, remote, 0, LocalCompletion::now(), Flags::immediate);
        return other && other.commit_long(count, 8, remote, Flags::immediate) == Status::ok;
      },
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    CAPTURE(i);
    Prepared<ThreadedHost> held = sender.prepare_medium(Rank{1}, nullptr, 8, 8, 0);
    REQUIRE(static_cast<bool>(held));
    std::future<bool> other = std::async(std::launch::async, calls[i]);
    const bool is_back = other.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
    CHECK(is_back);
    held.cancel();  // a call that waits for the prepared message can end now
    CHECK_FALSE(other.get());
    CHECK(calls[i]());
  }
  receiver.wait_until([&] { return arrived == calls.size(); });
}

}  // namespace
}  // namespace gasmeter::core::immediate_test
