#include "gasmeter/run/udp_job.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>

#include "gasmeter/base/error.hpp"
#include "gasmeter/run/request.hpp"
#include "support/one_rank.hpp"

namespace gasmeter::run {
namespace {

using launch::FrameKind;
using testing::OneRank;

TEST_CASE("udp_job_that_fails_on_another_rank_leaves_no_servant_behind") {
  const kernels::Registry registry = kernels::Registry::with_all_kernels();
  for (const char* protocol : {"window", "amudp"}) {
    CAPTURE(protocol);
    const Request request = Request::check(registry, "ping-pong", "put", "udp", "", 8, 1, 2, {{"protocol", protocol}});
    OneRank test;
    std::thread launcher([&] {
      const std::string own = test.hear().payload;
      const std::size_t port = own.rfind(':');
      test.tell_exchanged(own.substr(0, port) + ":9", own);
      test.tell_exchanged("no conduit", test.hear().payload);
    });
    CHECK_THROWS_WITH_AS(UdpJob(*test.link, request.settings, 4096), "rank 0: no conduit", ResourceError);
    launcher.join();
    test.tell(FrameKind::command, "next");
    CHECK(test.link->next_command() == "next");  // a sanitizer sees a conduit that is served after its end
  }
}

}  // namespace
}  // namespace gasmeter::run
