// Raw programs on modelled Portals, as requests ask for them.
#include <doctest/doctest.h>

#include <string>

#include "support/asked_job.hpp"

namespace gasmeter::run::portals_job_test {
namespace {

struct Asked {
  std::string kernel = "flood";
  std::string op = "am-long";
  std::string variant = "";
  Bytes size = 8;
  std::uint32_t ranks = 2;
  std::string conduit = "raw@portals";
  std::string placement = "one-per-node";
  std::uint64_t iterations = 50;
};

// A checked Long is compared when its target is told of it. A message behind a put may be handed over before the last
// bytes of a put of 16 KiB land.
TEST_CASE("portals_raw_longs_are_told_when_their_last_byte_has_landed") {
  for (const Bytes size : {Bytes{8}, Bytes{2048}, Bytes{16 * 1024}, Bytes{64 * 1024}, Bytes{1 << 20}}) {
    CAPTURE(size);
    const Asked asked{.size = size};
    CHECK(testing::elapsed_of(testing::request_on("portals", "torus3d:2x2x2", asked, {}), asked.iterations) > 0);
  }
}

}  // namespace
}  // namespace gasmeter::run::portals_job_test
