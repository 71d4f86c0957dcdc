// Portals. tests/golden/portals.md derives the golden times.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/portals/world.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::portals::portals_test {
namespace {

using namespace testing;
using gasmeter::testing::has_pattern;
using gasmeter::testing::is_filled;
using gasmeter::testing::write_pattern;

// The expected next event, and the time when it has been taken.
struct Expected {
  EventType type;
  std::int64_t ns;
};

void expect(World& world, unsigned rank, EqHandle events, const std::vector<Expected>& all) {
  for (const Expected& each : all) {
    const Event event = wait_for_event(world.portals(rank), world.host(rank), events);
    CAPTURE(name_of(each.type));
    CHECK(event.type == each.type);
    CHECK(world.host(rank).now().ps == each.ns * 1000);
  }
}

struct Exchange {
  OperationKind kind;
  Bytes bytes;
  std::vector<Expected> origin;
  std::vector<Expected> target;
};

void check_exchange(const Exchange& exchange, const PortalsParameters& parameters = {}) {
  World world({}, parameters);
  const bool is_put = exchange.kind == OperationKind::put;
  write_pattern(world.at(is_put ? 0 : 1, is_put ? 0 : 256), exchange.bytes, 1);
  world.engine.start(Rank{0}, [&] {
    const EqHandle events = world.portals(0).eq_alloc(8);
    const MdHandle local_md = world.bind(0, events);
    const Target target = {.rank = Rank{1}, .portal = kPortal, .match_bits = 77, .offset = 256};
    if (is_put) {
      world.portals(0).put(local_md, 0, exchange.bytes, Ack::wanted, target, 5);
    } else {
      world.portals(0).get(local_md, 0, exchange.bytes, target);
    }
    CHECK(world.host(0).now().ps == 500'000);
    expect(world, 0, events, exchange.origin);
  });
  world.engine.start(Rank{1}, [&] {
    const EqHandle events = world.portals(1).eq_alloc(8);
    (void)world.expose(1, events);
    expect(world, 1, events, exchange.target);
  });
  world.engine.run();
  CHECK(has_pattern(world.at(is_put ? 1 : 0, is_put ? 256 : 0), exchange.bytes, 1));
  CHECK(is_filled(world.at(is_put ? 1 : 0, (is_put ? 256 : 0) + exchange.bytes), 64, 0));
}

TEST_CASE("portals_put_of_eight_bytes") {
  check_exchange({OperationKind::put,
                  8,
                  {{EventType::send_start, 1040}, {EventType::send_end, 1140}, {EventType::ack, 6760}},
                  {{EventType::put_start, 3750}, {EventType::put_end, 3850}}});
}

TEST_CASE("portals_put_whose_payload_does_not_fit_the_header") {
  check_exchange({OperationKind::put,
                  100,
                  {{EventType::send_start, 1040}, {EventType::send_end, 1290}, {EventType::ack, 7050}},
                  {{EventType::put_start, 3750}, {EventType::put_end, 4030}}});
}

TEST_CASE("portals_get_of_eight_bytes") {
  check_exchange({OperationKind::get,
                  8,
                  {{EventType::reply_start, 6860}, {EventType::reply_end, 6960}},
                  {{EventType::get_start, 3750}, {EventType::get_end, 4210}}});
}

TEST_CASE("portals_card_matches_in_accelerated_mode") {
  check_exchange({OperationKind::put,
                  8,
                  {{EventType::send_start, 1040}, {EventType::send_end, 1140}, {EventType::ack, 2760}},
                  {{EventType::put_start, 1750}, {EventType::put_end, 1850}}},
                 {.mode = Mode::accelerated});
}

// An arrival delays a rank that computes, unless another core takes the interrupt.
TEST_CASE("portals_arrivals_interrupt_a_rank_that_computes") {
  for (const bool other_core : {false, true}) {
    CAPTURE(other_core);
    World world({}, {.other_core = other_core});
    world.engine.start(Rank{0}, [&] {
      const MdHandle local_md = world.bind(0, {});
      for (int i = 0; i < 3; ++i) {
        world.portals(0).put(local_md, 0, 8, Ack::none, {.rank = Rank{1}, .portal = kPortal});
      }
    });
    world.engine.start(Rank{1}, [&] {
      (void)world.expose(1, {});
      CHECK(world.host(1).work({100'000'000}, false).ps == 0);
      CHECK(world.host(1).now().ps == 100'000'000 + (other_core ? 0 : 3 * 2'030'000));
    });
    world.engine.run();
    CHECK(world.portals(1).counters().interrupts == 3);
  }
}

// Each entry that does not match costs a step. A message that no entry takes is dropped.
TEST_CASE("portals_lists_are_walked_and_unmatched_messages_dropped") {
  World world;
  world.engine.start(Rank{0}, [&] {
    const EqHandle events = world.portals(0).eq_alloc(8);
    const MdHandle local_md = world.bind(0, events);
    world.portals(0).put(local_md, 0, 5000, Ack::wanted, {.rank = Rank{1}, .portal = kPortal, .match_bits = 99});
    (void)wait_for_event(world.portals(0), world.host(0), events);
    (void)wait_for_event(world.portals(0), world.host(0), events);
    sleep_until(world.host(0), {30'000'000});
    CHECK_FALSE(world.portals(0).eq_get(events));  // no acknowledgement comes
    world.portals(0).put(local_md, 0, 8, Ack::none, {.rank = Rank{1}, .portal = kPortal, .match_bits = 9});
  });
  world.engine.start(Rank{1}, [&] {
    const EqHandle events = world.portals(1).eq_alloc(8);
    for (std::uint64_t bits = 0; bits < 10; ++bits) {
      world.portals(1).md_attach(
          world.portals(1).me_attach(kPortal, {.match = bits}),
          {.start = world.at(1), .length = 64, .put = true, .no_start_events = true, .events = events});
    }
    // 30500 of its sender; 1614 - 500 + 2030 behind that, and nine steps more
    const Event event = wait_for_event(world.portals(1), world.host(1), events);
    CHECK(event.match_bits == 9);
    CHECK(world.host(1).now().ps == 34'020'000);
  });
  world.engine.run();
  CHECK(world.portals(1).counters().drops == 1);
  CHECK(world.portals(1).counters().steps == 20);
  CHECK(is_filled(world.at(1), 64, 0));
}

// Messages are handled in the order of arrival, however long a walk takes.
TEST_CASE("portals_long_walks_are_not_overtaken") {
  World world;
  world.engine.start(Rank{0}, [&] {
    const MdHandle local_md = world.bind(0, {});
    for (const std::uint64_t bits : {9U, 0U}) {
      world.portals(0).put(local_md, 0, 8, Ack::none, {.rank = Rank{1}, .portal = kPortal, .match_bits = bits});
    }
  });
  world.engine.start(Rank{1}, [&] {
    const EqHandle events = world.portals(1).eq_alloc(8);
    for (std::uint64_t bits = 0; bits < 10; ++bits) {
      world.portals(1).md_attach(
          world.portals(1).me_attach(kPortal, {.match = bits}),
          {.start = world.at(1), .length = 64, .put = true, .no_start_events = true, .events = events});
    }
    CHECK(wait_for_event(world.portals(1), world.host(1), events).match_bits == 9);
    CHECK(world.host(1).now().ps == 6'050'000);
    CHECK(wait_for_event(world.portals(1), world.host(1), events).match_bits == 0);
    CHECK(world.host(1).now().ps == 6'150'000);
  });
  world.engine.run();
}

TEST_CASE("portals_truncated_puts_write_what_has_room") {
  World world;
  write_pattern(world.at(0), 6000, 3);
  world.engine.start(Rank{0}, [&] {
    const EqHandle events = world.portals(0).eq_alloc(8);
    const MdHandle local_md = world.portals(0).md_bind(
        {.start = world.at(0), .length = 6000, .no_start_events = true, .no_end_events = true, .events = events});
    world.portals(0).put(local_md, 0, 6000, Ack::wanted, {.rank = Rank{1}, .portal = kPortal});
    const Event ack = wait_for_event(world.portals(0), world.host(0), events);
    CHECK(ack.requested == 6000);
    CHECK(ack.manipulated == 3000);
  });
  world.engine.start(Rank{1}, [&] {
    const EqHandle events = world.portals(1).eq_alloc(8);
    world.portals(1).md_attach(world.portals(1).me_attach(kPortal, {}), {.start = world.at(1),
                                                                         .length = 3000,
                                                                         .put = true,
                                                                         .truncate = true,
                                                                         .no_start_events = true,
                                                                         .events = events});
    CHECK(wait_for_event(world.portals(1), world.host(1), events).manipulated == 3000);
  });
  world.engine.run();
  CHECK(has_pattern(world.at(1), 3000, 3));
  CHECK(is_filled(world.at(1, 3000), 100, 0));
}

// Two buffers end themselves when less than the largest message is left.
TEST_CASE("portals_full_descriptors_go_by_themselves_and_say_so_last") {
  World world;
  std::vector<EventType> seen;
  std::vector<Bytes> offsets;
  world.engine.start(Rank{0}, [&] {
    const MdHandle local_md = world.bind(0, {});
    for (int i = 0; i < 5; ++i) world.portals(0).put(local_md, 0, 90, Ack::none, {.rank = Rank{1}, .portal = kPortal});
  });
  world.engine.start(Rank{1}, [&] {
    Portals& portals = world.portals(1);
    const EqHandle events = portals.eq_alloc(16);
    for (Bytes i = 0; i < 2; ++i) {
      portals.md_attach(portals.me_attach(kPortal, {}),
                        {.start = world.at(1, i * 256),
                         .length = 256,
                         .put = true,
                         .no_start_events = true,
                         .most = 100,
                         .events = events},
                        Unlink::unlink);
    }
    for (int i = 0; i < 6; ++i) {
      const Event event = wait_for_event(portals, world.host(1), events);
      seen.push_back(event.type);
      if (event.type == EventType::put_end) offsets.push_back(event.offset);
    }
    sleep_until(world.host(1), {60'000'000});
    CHECK(portals.table().descriptors() == 0);
  });
  world.engine.run();
  const EventType put = EventType::put_end;
  CHECK((seen == std::vector<EventType>{put, put, EventType::unlink, put, put, EventType::unlink}));
  CHECK((offsets == std::vector<Bytes>{0, 90, 0, 90}));
  CHECK(world.portals(1).counters().drops == 1);
}

// The descriptor serves a put and its acknowledgement, as a temporary one does.
TEST_CASE("portals_thresholds_count_acknowledgements") {
  World world;
  world.engine.start(Rank{0}, [&] {
    Portals& portals = world.portals(0);
    const EqHandle events = portals.eq_alloc(8);
    const MdHandle md =
        portals.md_bind({.start = world.at(0), .length = 4096, .threshold = 2, .events = events}, Unlink::unlink);
    portals.put(md, 0, 4096, Ack::wanted, {.rank = Rank{1}, .portal = kPortal});
    CHECK_FALSE(portals.md_unlink(md));  // the put is leaving
    for (const EventType type : {EventType::send_start, EventType::send_end, EventType::ack, EventType::unlink}) {
      CHECK(wait_for_event(portals, world.host(0), events).type == type);
    }
    CHECK_FALSE(portals.exists(md));
  });
  world.engine.start(Rank{1}, [&] {
    (void)world.expose(1, {});
    sleep_until(world.host(1), {30'000'000});
  });
  world.engine.run();
}

TEST_CASE("portals_descriptors_may_refuse_to_acknowledge") {
  World world;
  world.engine.start(Rank{0}, [&] {
    const EqHandle events = world.portals(0).eq_alloc(8);
    const MdHandle local_md = world.portals(0).md_bind(
        {.start = world.at(0), .length = 64, .no_start_events = true, .no_end_events = true, .events = events});
    for (const std::uint64_t bits : {1U, 2U}) {
      world.portals(0).put(local_md, 0, 8, Ack::wanted, {.rank = Rank{1}, .portal = kPortal, .match_bits = bits},
                           40 + bits);
    }
    const Event ack = wait_for_event(world.portals(0), world.host(0), events);
    CHECK(ack.type == EventType::ack);
    CHECK(ack.match_bits == 2);
    CHECK(ack.header_data == 42);
    sleep_until(world.host(0), {30'000'000});
    CHECK_FALSE(world.portals(0).eq_get(events));
  });
  world.engine.start(Rank{1}, [&] {
    for (const std::uint64_t bits : {1U, 2U}) {
      world.portals(1).md_attach(world.portals(1).me_attach(kPortal, {.match = bits}),
                                 {.start = world.at(1), .length = 64, .put = true, .no_ack = bits == 1});
    }
    sleep_until(world.host(1), {30'000'000});
  });
  world.engine.run();
  CHECK(world.portals(1).counters().arrived == 2);
  CHECK(world.portals(0).counters().arrived == 1);
}

// An event that software has not seen yet might belong to the old descriptor.
TEST_CASE("portals_descriptors_are_updated_while_their_queue_is_empty") {
  World world;
  world.engine.start(Rank{0}, [&] {
    const MdHandle local_md = world.bind(0, {});
    world.portals(0).put(local_md, 0, 8, Ack::none, {.rank = Rank{1}, .portal = kPortal});
    sleep_until(world.host(0), {20'000'000});
    write_pattern(world.at(0), 8, 4);
    world.portals(0).put(local_md, 0, 8, Ack::none, {.rank = Rank{1}, .portal = kPortal});
  });
  world.engine.start(Rank{1}, [&] {
    Portals& portals = world.portals(1);
    const EqHandle events = portals.eq_alloc(8);
    const MeHandle entry = portals.me_attach(kPortal, {});
    const MdHandle md = portals.md_attach(
        entry, {.start = world.at(1), .length = 64, .put = true, .no_start_events = true, .events = events});
    const MemoryDescriptor next = {
        .start = world.at(1, 512), .length = 64, .put = true, .no_start_events = true, .events = events};
    sleep_until(world.host(1), {10'000'000});
    CHECK_FALSE(portals.md_update(md, next, events));
    CHECK(portals.eq_get(events)->offset == 0);
    CHECK(portals.md_update(md, next, events));
    CHECK(wait_for_event(portals, world.host(1), events).md == md);
    CHECK(portals.me_unlink(entry));
    CHECK_FALSE(portals.exists(md));
    portals.eq_free(events);
    CHECK(portals.reserved_bytes() == 0);
  });
  world.engine.run();
  CHECK(is_filled(world.at(1), 64, 0));
  CHECK(has_pattern(world.at(1, 512), 8, 4));
}

TEST_CASE("portals_operations_beyond_the_dma_slots_wait") {
  for (const unsigned slots : {1U, 3U, 256U}) {
    CAPTURE(slots);
    World world({}, {.dma_slots = slots});
    world.engine.start(Rank{0}, [&] {
      const EqHandle events = world.portals(0).eq_alloc(64);
      const MdHandle local_md = world.portals(0).md_bind(
          {.start = world.at(0), .length = 8192, .no_start_events = true, .no_end_events = true, .events = events});
      for (int i = 0; i < 8; ++i) {
        world.portals(0).put(local_md, 0, 8192, Ack::wanted, {.rank = Rank{1}, .portal = kPortal});
      }
      for (int i = 0; i < 8; ++i) {
        CHECK(wait_for_event(world.portals(0), world.host(0), events).type == EventType::ack);
      }
    });
    world.engine.start(Rank{1}, [&] {
      (void)world.expose(1, {});
      sleep_until(world.host(1), {150'000'000});
    });
    world.engine.run();
    CHECK(world.portals(0).counters().waited == (slots == 256 ? 0 : 8 - slots));
  }
}

std::string failure_of(const std::function<void(World&)>& act, const std::function<void(World&)>& other = {}) {
  World world;
  world.engine.start(Rank{0}, [&] {
    act(world);
    sleep_until(world.host(0), {30'000'000});
  });
  world.engine.start(Rank{1}, [&] {
    if (other) other(world);
    sleep_until(world.host(1), {30'000'000});
  });
  try {
    world.engine.run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("portals_event_queue_that_overflows_ends_the_run") {
  CHECK(failure_of(
            [](World& world) {
              const MdHandle local_md = world.bind(0, {});
              for (int i = 0; i < 2; ++i) {
                world.portals(0).put(local_md, 0, 8, Ack::none, {.rank = Rank{1}, .portal = kPortal});
              }
            },
            [](World& world) { (void)world.expose(1, world.portals(1).eq_alloc(3)); }) ==
        "portals: rank 1's event queue 0 of 3 events overflows with PUT_END of rank 0");
}

TEST_CASE("portals_misuse_is_named") {
  const Target target = {.rank = Rank{1}, .portal = kPortal};
  CHECK(failure_of([](World& world) { world.portals(0).put(world.bind(0, {}), 0, 8, Ack::none, {.rank = Rank{2}}); }) ==
        "portals: rank 2 does not exist; there are 2");
  CHECK(failure_of([](World& world) {
          world.portals(0).get(world.bind(0, {}), 0, 8, {.rank = Rank{1}, .portal = 64});
        }) == "portals: rank 0's get to portal 64; 0..63 are allowed");
  CHECK(failure_of([](World& world) { world.portals(0).me_attach(64, {}); }) ==
        "portals: rank 0's portal 64; 0..63 are allowed");
  CHECK(failure_of([&](World& world) { world.portals(0).put(world.bind(0, {}), 8190, 3, Ack::none, target); }) ==
        "portals: rank 0's put of 3 bytes at 8190 of a memory descriptor of 8192; it has to lie within");
  CHECK(failure_of([&](World& world) { world.portals(0).put({}, 0, 8, Ack::none, target); }) ==
        "portals: rank 0 names a memory descriptor that does not exist or is gone");
  CHECK(failure_of([](World& world) { (void)world.portals(0).eq_alloc(0); }) ==
        "portals: rank 0's event queue of 0 events; 1 or more are allowed");
  CHECK(failure_of([](World& world) { (void)world.portals(0).eq_get({}); }) ==
        "portals: rank 0 names an event queue that does not exist or is gone");
  CHECK(failure_of([&](World& world) {
          const MdHandle once = world.portals(0).md_bind({.start = world.at(0), .length = 8, .threshold = 1});
          for (int i = 0; i < 2; ++i) world.portals(0).put(once, 0, 8, Ack::none, target);
        }) == "portals: rank 0's put from a memory descriptor whose threshold is used up; 1 or more is needed");
  CHECK(failure_of([](World& world) {
          const MeHandle entry = world.portals(0).me_attach(kPortal, {});
          for (int i = 0; i < 2; ++i) world.portals(0).md_attach(entry, {});
        }) == "portals: rank 0 attaches a second memory descriptor to a match entry; one is allowed");
}

}  // namespace
}  // namespace gasmeter::networks::portals::portals_test
