#include "gasmeter/conduit/prepare_check.hpp"

#include <doctest/doctest.h>

#include "gasmeter/base/error.hpp"

namespace gasmeter::conduit::prepare_check_test {
namespace {

constexpr Capabilities kCan = {
    .max_request_medium = 100, .max_reply_medium = 90, .max_request_long = 1000, .max_reply_long = 900};

AmHeader header(Category category, bool is_reply = false, std::uint8_t arguments = 0) {
  return {Rank{1}, category, is_reply, arguments, 0};
}

TEST_CASE("a prepared message has as much room as fits") {
  CHECK(check_prepare("net", kCan, header(Category::short_message), 0, 0) == 0);
  CHECK(check_prepare("net", kCan, header(Category::short_message), 0, 50) == 0);
  CHECK(check_prepare("net", kCan, header(Category::medium), 10, 50) == 50);
  CHECK(check_prepare("net", kCan, header(Category::medium), 100, 5000) == 100);
  CHECK(check_prepare("net", kCan, header(Category::medium, true), 90, 100) == 90);
  CHECK(check_prepare("net", kCan, header(Category::long_message), 0, 5000) == 1000);
  CHECK(check_prepare("net", kCan, header(Category::long_message, true), 0, 5000) == 900);
  CHECK(check_prepare("net", kCan, header(Category::medium, false, kMaxArguments), 0, 1) == 1);
}

TEST_CASE("a message that does not fit is refused in the conduit's name") {
  const auto refused = [](const AmHeader& header, Bytes least, Bytes most) {
    CHECK_THROWS_AS((void)check_prepare("net", kCan, header, least, most), UsageError);
  };
  refused(header(Category::short_message), 1, 1);
  refused(header(Category::medium), 101, 101);
  refused(header(Category::medium, true), 91, 91);
  refused(header(Category::long_message), 1001, 5000);
  refused(header(Category::long_message, true), 901, 5000);
  refused(header(Category::medium), 9, 8);
  refused(header(Category::medium, false, kMaxArguments + 1), 0, 0);
  CHECK_THROWS_WITH((void)check_prepare("net", kCan, header(Category::medium), 101, 200),
                    "net: message of 101 to 200 bytes and 0 arguments; at most 100 bytes and 16 arguments fit");
}

}  // namespace
}  // namespace gasmeter::conduit::prepare_check_test
