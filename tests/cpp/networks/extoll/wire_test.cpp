// The packets of every kind of message, as a mailbox without a conduit receives them.
#include "gasmeter/networks/extoll/wire.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "conduit_job.hpp"

namespace gasmeter::networks::extoll::wire_test {
namespace {

using namespace testing;
using conduit::Category;

struct Trace {
  std::vector<unsigned> sizes;
  std::vector<Section> sections;
  std::vector<std::byte> bytes;
  std::uint64_t puts = 0;
};

Trace trace(Category category, unsigned count, Bytes size, const AmOptions& options) {
  World world({}, {.mailbox_slots = 512, .read_pointer_update = 16});
  ExtollConduit conduit(world.network, world.host(0), Rank{0}, options);
  std::vector<std::byte> there(std::max<Bytes>(size, 8));
  world.port(1).register_memory(there);
  Trace result;
  world.engine.start(Rank{0}, [&] {
    Sink sink;
    std::vector<std::int32_t> arguments(count);
    std::iota(arguments.begin(), arguments.end(), 1000);
    CHECK(try_send(conduit, header_to(1, category, count), arguments, patterned(size, 3), there.data()) == Status::ok);
    while (world.host(0).now().ps < 1'000'000'000) {
      if (conduit.poll(sink, 1, conduit::PollFilter::everything) == 0) world.host(0).idle({1'000'000'000});
    }
  });
  world.engine.start(Rank{1}, [&] {
    while (world.host(1).now().ps < 1'000'000'000) {
      if (const VeloPacket* const packet = world.port(1).mailbox_next()) {
        result.sizes.push_back(packet->status.size);
        result.sections.push_back(static_cast<Section>(packet->status.tag));
        result.bytes.insert(result.bytes.end(), packet->payload.begin(), packet->payload.begin() + packet->status.size);
        world.port(1).mailbox_free();
      } else {
        world.host(1).idle({1'000'000'000});
      }
    }
  });
  world.engine.run();
  result.puts = world.port(0).counters().puts;
  CHECK(gasmeter::testing::has_pattern(there.data(), there.size(), 3) ==
        (category == Category::long_message && size != 0));
  return result;
}

using Sizes = std::vector<unsigned>;

// `full` full packets follow `first`, then one with the rest.
Sizes after_full(Sizes first, unsigned full, unsigned rest) {
  first.insert(first.end(), full, 56U);
  if (rest != 0) first.push_back(rest);
  return first;
}

TEST_CASE("extoll_headers_take_one_packet_up_to_12_arguments_and_two_above") {
  for (const Category category : {Category::short_message, Category::long_message}) {
    const Bytes size = category == Category::long_message ? 100 : 0;
    const auto sizes = [&](unsigned arguments) {
      const Trace seen = trace(category, arguments, size, AmOptions::improved());
      CHECK(seen.puts == (size != 0 ? 1U : 0U));
      CHECK(seen.sections.front() == Section::header);
      if (seen.sections.size() == 2) CHECK(seen.sections.back() == Section::arguments);
      return seen.sizes;
    };
    CHECK(sizes(0) == Sizes{8});
    CHECK(sizes(12) == Sizes{56});
    CHECK(sizes(13) == Sizes{56, 4});
    CHECK(sizes(16) == Sizes{56, 16});
  }
}

TEST_CASE("extoll_medium_payload_fills_the_spare_room_and_goes_on_in_packets_of_data") {
  const auto sizes = [](unsigned arguments, Bytes size) {
    const Trace seen = trace(Category::medium, arguments, size, AmOptions::improved());
    CHECK(seen.puts == 0);
    for (std::size_t i = 0; i < seen.sections.size(); ++i) {
      const bool in_arguments = 8 + 4 * arguments > 56 * i;
      CHECK(seen.sections[i] == (i == 0 ? Section::header : in_arguments ? Section::arguments : Section::data));
    }
    return seen.sizes;
  };
  CHECK(sizes(0, 0) == Sizes{8});
  CHECK(sizes(0, 48) == Sizes{56});
  CHECK(sizes(0, 49) == Sizes{56, 1});
  CHECK(sizes(0, 8192) == after_full({}, 146, 24));  // 147 packets, as in the paper
  CHECK(sizes(12, 0) == Sizes{56});
  CHECK(sizes(12, 48) == Sizes{56, 48});
  CHECK(sizes(12, 49) == Sizes{56, 49});
  CHECK(sizes(12, 8192) == after_full({}, 147, 16));
  CHECK(sizes(13, 0) == Sizes{56, 4});
  CHECK(sizes(13, 48) == Sizes{56, 52});
  CHECK(sizes(13, 49) == Sizes{56, 53});
  CHECK(sizes(13, 8192) == after_full({}, 147, 20));
  CHECK(sizes(16, 0) == Sizes{56, 16});
  CHECK(sizes(16, 48) == Sizes{56, 56, 8});
  CHECK(sizes(16, 49) == Sizes{56, 56, 9});
  CHECK(sizes(16, 8192) == after_full({}, 147, 32));
}

TEST_CASE("extoll_early_messages_begin_every_section_with_a_packet") {
  const auto sizes = [](unsigned arguments, Bytes size) {
    const Trace seen = trace(Category::medium, arguments, size, AmOptions::early());
    CHECK(std::is_sorted(seen.sections.begin(), seen.sections.end()));
    CHECK(std::count(seen.sections.begin(), seen.sections.end(), Section::header) == 1);
    return seen.sizes;
  };
  CHECK(sizes(0, 0) == Sizes{8});
  CHECK(sizes(0, 48) == Sizes{8, 48});
  CHECK(sizes(0, 49) == Sizes{8, 49});
  CHECK(sizes(0, 8192) == after_full({8}, 146, 16));
  CHECK(sizes(12, 0) == Sizes{8, 48});
  CHECK(sizes(12, 49) == Sizes{8, 48, 49});
  CHECK(sizes(13, 48) == Sizes{8, 52, 48});
  CHECK(sizes(16, 0) == Sizes{8, 56, 8});
  CHECK(sizes(16, 48) == Sizes{8, 56, 8, 48});
  CHECK(sizes(16, 8192) == after_full({8, 56, 8}, 146, 16));
}

TEST_CASE("extoll_long_without_payload_carries_its_destination") {
  const Trace seen = trace(Category::long_message, 3, 0, AmOptions::improved());
  CHECK(seen.sizes == Sizes{28});
  CHECK(seen.puts == 0);
}

// The stream is 8 bytes of header, the arguments and the payload, in both ways of packing.
TEST_CASE("extoll_stream_of_a_message_is_its_sections_one_after_the_other") {
  for (const AmOptions& options : {AmOptions::improved(), AmOptions::early()}) {
    const std::vector<std::byte> stream = trace(Category::medium, 13, 200, options).bytes;
    REQUIRE(stream.size() == 8 + 52 + 200);
    WireHeader header;
    std::memcpy(&header, stream.data(), sizeof header);
    CHECK(header.kind() == Category::medium);
    CHECK((header.is_reply == 0));
    CHECK(header.argument_bytes() == 52);
    CHECK(header.handler == HandlerIndex{7});
    CHECK(header.size == 200);
    for (std::int32_t i = 0; i < 13; ++i) {
      std::int32_t argument = 0;
      std::memcpy(&argument, stream.data() + 8 + 4 * i, 4);
      CHECK(argument == 1000 + i);
    }
    CHECK(gasmeter::testing::has_pattern(stream.data() + 60, 200, 3));
  }
}

}  // namespace
}  // namespace gasmeter::networks::extoll::wire_test
