#include "gasmeter/networks/udp/real_udp.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>

#include "gasmeter/base/error.hpp"
#include "support/one_rank.hpp"

namespace gasmeter::networks::udp::real_udp_test {
namespace {

using gasmeter::testing::OneRank;
using launch::FrameKind;

TEST_CASE("real_udp_that_fails_on_another_rank_leaves_no_servant_behind") {
  for (const char* protocol : {"window", "amudp"}) {
    CAPTURE(protocol);
    Settings settings;
    settings.ranks = 2;
    for (const OptionInfo& option : RealUdp::options()) settings.options[option.name] = option.default_value;
    settings.options["protocol"] = protocol;
    OneRank test;
    std::thread launcher([&] {
      const std::string memory = test.hear().payload;
      test.tell_exchanged(memory, memory);
      const std::string address = test.hear().payload;
      const std::size_t port = address.rfind(':');
      test.tell_exchanged(address.substr(0, port) + ":9", address);
      test.tell_exchanged("ResourceError\nno conduit", test.hear().payload);
    });
    {
      RealUdp network({*test.link, "1", settings});
      std::byte* const memory = network.memory(4096, 4096);
      CHECK_THROWS_WITH_AS((void)network.connect({memory, 4096}), "rank 0: no conduit", ResourceError);
    }
    launcher.join();
    test.tell(FrameKind::command, "next");
    CHECK(test.link->next_command() == "next");  // a sanitizer reports a conduit that is served after its end
  }
}

}  // namespace
}  // namespace gasmeter::networks::udp::real_udp_test
