// Longs by stores and by DMA, at any alignment. The handler finds exactly the bytes that were sent, and no byte beside
// them has changed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "networks/sci/conduit_job.hpp"

namespace gasmeter::networks::sci::longs_test {
namespace {

using namespace testing;
using conduit::AmBuffer;
using conduit::AmView;
using conduit::Category;
using conduit::OperationId;

constexpr Bytes kRoom = 8192;   // of a rank's segment, around the payload
constexpr Bytes kMargin = 256;  // before the payload

// Place of a sender's payload.
enum class From : std::uint8_t { made, own_memory, segment, segment_aside };

struct Long {
  Bytes size = 0;
  Bytes at = 0;  // of the destination, from an address that any transfer may begin at
  From from = From::made;
};

// Send each Long from rank 0 to rank 1 and back as a reply. Each has a local operation.
void exchange(const SciOptions& options, Bytes alignment, const std::vector<Long>& all) {
  Job job({}, options, {}, {.alignment = alignment}, 2 * kRoom);
  std::vector<std::byte> memory(kRoom);
  const auto commit = [&](unsigned rank, const conduit::AmHeader& header, const Long& each, std::uint64_t seed) {
    std::byte* const segment = job.at(rank, kRoom);
    std::byte* const aside = segment + 3;
    std::byte* const client = each.from == From::made         ? nullptr
                              : each.from == From::own_memory ? memory.data() + 1
                              : each.from == From::segment    ? segment
                                                              : aside;
    AmBuffer buffer;
    REQUIRE(job.conduits[rank]->prepare(header, client, each.size, each.size, buffer) == Status::ok);
    if (each.size != 0) write_pattern(buffer.data, each.size, seed);
    REQUIRE(job.conduits[rank]->commit(buffer, {HandlerIndex{7}, each.size, job.at(1 - rank, kMargin + each.at), {}},
                                       OperationId{1}) == Status::ok);
  };
  const auto arrived = [&](unsigned rank, const AmView& message, const Long& each, std::uint64_t seed) {
    std::byte* const target = job.at(rank, kMargin + each.at);
    CHECK(message.size == each.size);
    CHECK(message.payload == target);
    CHECK(has_pattern(target, each.size, seed));
    CHECK(gasmeter::testing::is_filled(job.at(rank), kMargin + each.at, 0));
    CHECK(gasmeter::testing::is_filled(target + each.size, kRoom - kMargin - each.at - each.size, 0));
    std::memset(target, 0, each.size);
  };
  job.engine.start(Rank{0}, [&] {
    std::uint64_t seed = 0;
    Sink sink([&](const AmView& reply) { arrived(0, reply, all[seed / 2], seed + 1); });
    for (const Long& each : all) {
      CAPTURE(each.size);
      CAPTURE(each.at);
      CAPTURE(static_cast<int>(each.from));
      const std::size_t done = sink.done.size();
      commit(0, header_to(1, Category::long_message), each, seed);
      wait(*job.conduits[0], job.host(0), sink, [&] { return sink.done.size() == done + 1; });
      std::memset(memory.data(), 0xff, kRoom);  // the source is free now
      std::memset(job.at(0, kRoom), 0xff, kRoom);
      wait(*job.conduits[0], job.host(0), sink, [&] { return sink.messages == seed / 2 + 1; });
      seed += 2;
    }
  });
  job.engine.start(Rank{1}, [&] {
    std::uint64_t seed = 0;
    Sink sink([&](const AmView& request) {
      const Long& each = all[seed / 2];
      CAPTURE(each.size);
      CAPTURE(each.at);
      arrived(1, request, each, seed);
      commit(1, reply_to(request, Category::long_message), each, seed + 1);
      seed += 2;
    });
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.done.size() == all.size(); });
    poll_until(*job.conduits[1], job.host(1), sink, job.host(1).now() + SimTime{1'000'000'000});
  });
  job.engine.run();
}

TEST_CASE("sci_longs_arrive_whatever_their_heads_and_tails") {
  for (const Bytes alignment : {Bytes{8}, Bytes{64}}) {
    for (const bool staged : {true, false}) {
      for (const bool one_transaction : {false, true}) {
        for (const Bytes long_pio : {Bytes{0}, Bytes{2048}}) {
          std::vector<Long> all;
          const std::vector<Bytes> sizes =
              long_pio == 0 ? std::vector<Bytes>{0, 1, 5, 7, 8, 9, 15, 16, 63, 64, 65, 127, 128, 129, 200, 2048}
                            : std::vector<Bytes>{1, 7, 2047, 2048, 2049, 2055, 2111, 2112, 4100};
          for (const Bytes size : sizes) {
            for (Bytes at = 0; at < alignment; at += alignment == 8 ? 1 : 9) {
              for (const From from : {From::made, From::own_memory, From::segment, From::segment_aside}) {
                all.push_back({size, at, from});
              }
            }
          }
          CAPTURE(alignment);
          CAPTURE(staged);
          CAPTURE(one_transaction);
          CAPTURE(long_pio);
          exchange({.one_transaction = one_transaction, .long_pio = long_pio, .staged = staged}, alignment, all);
        }
      }
    }
  }
}

// The card's counters show whether a Long went by DMA: a transfer of its middle.
TEST_CASE("sci_longs_go_by_dma_from_long_pio_on") {
  struct Case {
    Bytes long_pio;
    Bytes size;
    Bytes at;
    std::uint64_t transfers;
  };
  for (const Case& each : {Case{2048, 2047, 0, 0}, Case{2048, 2048, 0, 1}, Case{0, 1, 0, 0}, Case{0, 8, 0, 1},
                           Case{0, 14, 1, 0}, Case{0, 15, 1, 1}, Case{100, 99, 0, 0}, Case{100, 100, 4, 1}}) {
    CAPTURE(each.long_pio);
    CAPTURE(each.size);
    Job job({}, {.long_pio = each.long_pio});
    job.engine.start(Rank{0}, [&] {
      Sink sink;
      CHECK(try_send(*job.conduits[0], header_to(1, Category::long_message), {}, patterned(each.size, 1),
                     job.at(1, each.at)) == Status::ok);
      wait(*job.conduits[0], job.host(0), sink, [&] { return job.conduits[0]->requests_under_way(Rank{1}) == 0; });
    });
    job.engine.start(Rank{1}, [&] {
      Sink sink;
      wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 1; });
    });
    job.engine.run();
    CHECK(job.sisci(0).counters().transfers == each.transfers);
    CHECK(has_pattern(job.at(1, each.at), each.size, 1));
  }
}

// A request leaves one transfer for replies. A message that was prepared for more bytes than it sends goes by the bytes
// it sends.
TEST_CASE("sci_a_transfer_is_kept_for_replies") {
  Job job({}, {.pairs = 4});
  job.engine.start(Rank{0}, [&] {
    AmBuffer first;
    AmBuffer second;
    const conduit::AmHeader header = header_to(1, Category::long_message);
    CHECK(job.conduits[0]->prepare(header, nullptr, 0, 5000, first) == Status::ok);
    CHECK(job.conduits[0]->prepare(header, nullptr, 0, 5000, second) == Status::no_resource);
    CHECK(job.conduits[0]->requests_under_way(Rank{1}) == 1);
    write_pattern(first.data, 100, 1);
    CHECK(job.conduits[0]->commit(first, {HandlerIndex{7}, 100, job.at(1), {}}, conduit::kNoOperation) == Status::ok);
    CHECK(job.conduits[0]->prepare(header, nullptr, 0, 5000, second) == Status::ok);  // the 100 B were stored
    job.conduits[0]->cancel(second);
    Sink sink;
    wait(*job.conduits[0], job.host(0), sink, [&] { return job.conduits[0]->requests_under_way(Rank{1}) == 0; });
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([&](const AmView& message) { CHECK(has_pattern(message.payload, 100, 1)); });
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
  CHECK(job.sisci(0).counters().transfers == 0);
}

// The flags of a Long by DMA wait for its last echo. The flags of a later Short do not, and come first.
TEST_CASE("sci_a_short_passes_a_long_that_dma_carries") {
  Job job;
  std::vector<Category> came;
  job.engine.start(Rank{0}, [&] {
    Sink sink;
    CHECK(try_send(*job.conduits[0], header_to(1, Category::long_message), {}, patterned(5000, 1), job.at(1)) ==
          Status::ok);
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    wait(*job.conduits[0], job.host(0), sink, [&] { return job.conduits[0]->requests_under_way(Rank{1}) == 0; });
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([&](const AmView& message) {
      came.push_back(message.category);
      if (message.category == Category::long_message) CHECK(has_pattern(message.payload, 5000, 1));
    });
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 2; });
  });
  job.engine.run();
  CHECK(came == std::vector<Category>{Category::short_message, Category::long_message});
}

}  // namespace
}  // namespace gasmeter::networks::sci::longs_test
