#include "gasmeter/services/card_ams.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/fifo.hpp"

namespace gasmeter::services::card_ams_test {
namespace {

using conduit::Category;

TEST_CASE("payloads_are_aligned_behind_fields_and_arguments") {
  constexpr AmLayout layout{4, 8, 16};
  CHECK(layout.header_bytes(Category::short_message, 3) == 16);
  CHECK(layout.payload_at(Category::medium, 2) == 16);
  CHECK(layout.payload_at(Category::medium, 3) == 32);
  CHECK(layout.message_bytes(Category::long_message, 1, 0) == 20);
  CHECK(layout.message_bytes(Category::long_message, 1, 5) == 37);
}

TEST_CASE("a_message_is_freed_before_its_handlers_exception_leaves") {
  bool is_free = false;
  CHECK_THROWS_AS(handle_then_free([] { throw std::runtime_error("handler"); }, [&] { is_free = true; }),
                  std::runtime_error);
  CHECK(is_free);
}

TEST_CASE("the_job_must_have_the_peer") {
  check_peer("card", Rank{3}, 4);
  CHECK_THROWS_WITH_AS(check_peer("card", Rank{4}, 4), "card: message to rank 4; ranks are 0..3", UsageError);
}

TEST_CASE("entries_are_taken_in_the_order_in_which_they_were_pushed") {
  Fifo<int> fifo;
  std::vector<int> taken;
  for (int round = 0; round < 2; ++round) {
    fifo.push(1);
    fifo.push(2);
    taken.push_back(fifo.pop());
    fifo.push(3);
    while (!fifo.empty()) taken.push_back(fifo.pop());
  }
  CHECK(taken == std::vector{1, 2, 3, 1, 2, 3});
}

}  // namespace
}  // namespace gasmeter::services::card_ams_test
