// Ports. tests/golden/gm.md derives the golden times.
#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/gm/world.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::gm::gm_port_test {
namespace {

using namespace testing;
using gasmeter::testing::has_pattern;
using gasmeter::testing::is_filled;
using gasmeter::testing::write_pattern;

TEST_CASE("gm_message_of_eight_bytes") {
  World world;
  write_pattern(world.at(0), 8, 1);
  world.engine.start(Rank{0}, [&] {
    CHECK(world.send(0, 1, 0, 8, Priority::high, 5) == Status::ok);
    CHECK(world.host(0).now().ps == 102'000);
    CHECK(world.port(0).send_tokens() == 15);
    const Event sent = wait_for_event(world.port(0), world.host(0));
    CHECK(sent.type == Event::Type::sent);
    CHECK(sent.id == 5);
    CHECK(sent.peer == Rank{1});
    CHECK(sent.priority == Priority::high);
    CHECK(world.host(0).now().ps == 1'632'000);
    CHECK(world.port(0).send_tokens() == 16);
  });
  world.engine.start(Rank{1}, [&] {
    CHECK(world.port(1).provide_receive(world.receive_at(1, 64, 4, Priority::high, 9)) == Status::ok);
    CHECK(world.host(1).now().ps == 72'000);
    CHECK(world.port(1).receive_tokens() == 15);
    const Event event = wait_for_event(world.port(1), world.host(1));
    CHECK(world.host(1).now().ps == 1'192'000);
    CHECK(event.type == Event::Type::received);
    CHECK(event.id == 9);
    CHECK(event.peer == Rank{0});
    CHECK(event.bytes == 8);
    CHECK(event.priority == Priority::high);
    CHECK(world.port(1).receive_tokens() == 16);
    CHECK(has_pattern(world.at(1, 64), 8, 1));
  });
  world.engine.run();
  CHECK(is_filled(world.at(1), 64, 0));
  CHECK(is_filled(world.at(1, 72), 64, 0));
}

TEST_CASE("gm_directed_send_of_eight_bytes") {
  World world;
  write_pattern(world.at(0), 8, 2);
  world.engine.start(Rank{0}, [&] {
    CHECK(world.port(0).directed_send(Rank{1}, world.at(1, 32), world.at(0), 8, Priority::low, 7) == Status::ok);
    CHECK(world.host(0).now().ps == 102'000);
    const Event sent = wait_for_event(world.port(0), world.host(0));
    CHECK(sent.type == Event::Type::sent);
    CHECK(sent.id == 7);
    CHECK(world.host(0).now().ps == 1'532'000);
  });
  world.engine.start(Rank{1}, [&] {
    world.host(1).idle(kNever);
    CHECK(world.host(1).now().ps == 950'000);
    CHECK(has_pattern(world.at(1, 32), 8, 2));
    CHECK_FALSE(world.port(1).poll());  // the target's software gets no event
  });
  world.engine.run();
  CHECK(is_filled(world.at(1), 32, 0));
  CHECK(is_filled(world.at(1, 40), 64, 0));
}

// hw.gm.route-lengths: one, three or five crossbars, each with its hop. A card's own port is a hop, too.
TEST_CASE("gm_routes_have_one_three_or_five_crossbars") {
  const std::vector<std::uint32_t> nodes = {1, 7, 8, 63, 64, 511};
  const std::vector<std::int64_t> event = {950'000, 950'000, 1'150'000, 1'150'000, 1'350'000, 1'350'000};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    World world({.topology = "fat-tree:8x3", .node_of = {0, nodes[i]}});
    CHECK(world.network.fabric().topology().hops(0, nodes[i]) == 2 * (1 + i / 2));
    world.engine.start(Rank{0}, [&] {
      CHECK(world.port(0).directed_send(Rank{1}, world.at(1), world.at(0), 8, Priority::low, 0) == Status::ok);
    });
    world.engine.start(Rank{1}, [&] {
      world.host(1).idle(kNever);
      CHECK(world.host(1).now().ps == event[i]);
    });
    world.engine.run();
  }
}

TEST_CASE("gm_message_of_three_packets") {
  World world;
  write_pattern(world.at(0), 600, 3);
  world.engine.start(Rank{0}, [&] {
    CHECK(world.send(0, 1, 0, 600) == Status::ok);
    (void)wait_for_event(world.port(0), world.host(0));
    CHECK(world.host(0).now().ps == 2'812'000);
  });
  world.engine.start(Rank{1}, [&] {
    CHECK(world.port(1).provide_receive(world.receive_at(1, 8, 10)) == Status::ok);
    CHECK(wait_for_event(world.port(1), world.host(1)).bytes == 600);
    CHECK(world.host(1).now().ps == 2'382'000);
    CHECK(has_pattern(world.at(1, 8), 600, 3));
  });
  world.engine.run();
  CHECK(is_filled(world.at(1, 608), 100, 0));
}

TEST_CASE("gm_card_does_one_thing_after_the_other") {
  World world;
  world.engine.start(Rank{0}, [&] {
    for (std::uint64_t i = 0; i < 2; ++i) CHECK(world.send(0, 1, 0, 8, Priority::low, i) == Status::ok);
    CHECK(world.host(0).now().ps == 204'000);
    CHECK(wait_for_event(world.port(0), world.host(0)).id == 0);
    CHECK(world.host(0).now().ps == 1'874'000);
    CHECK(wait_for_event(world.port(0), world.host(0)).id == 1);
    CHECK(world.host(0).now().ps == 1'974'000);
  });
  world.engine.start(Rank{1}, [&] {
    for (int i = 0; i < 2; ++i) CHECK(world.port(1).provide_receive(world.receive_at(1, 0, 4)) == Status::ok);
    (void)wait_for_event(world.port(1), world.host(1));
    CHECK(world.host(1).now().ps == 1'194'000);
    (void)wait_for_event(world.port(1), world.host(1));
    CHECK(world.host(1).now().ps == 1'494'000);
  });
  world.engine.run();
}

TEST_CASE("gm_message_without_a_receive_is_held_and_goes_again") {
  World world;
  write_pattern(world.at(0), 8, 5);
  world.engine.start(Rank{0}, [&] {
    CHECK(world.send(0, 1, 0, 8) == Status::ok);
    (void)wait_for_event(world.port(0), world.host(0));
    CHECK(world.host(0).now().ps == 7'942'000);
  });
  world.engine.start(Rank{1}, [&] {
    sleep_until(world.host(1), {2'000'000});
    CHECK(world.port(1).provide_receive(world.receive_at(1, 0, 4)) == Status::ok);
    CHECK(world.host(1).now().ps == 2'072'000);
    (void)wait_for_event(world.port(1), world.host(1));
    CHECK(world.host(1).now().ps == 7'512'000);
    CHECK(has_pattern(world.at(1), 8, 5));
  });
  world.engine.run();
  CHECK(world.port(1).counters().no_receive == 1);
  CHECK(world.port(0).counters().sent_again == 1);
}

TEST_CASE("gm_size_classes_hold_eight_bytes_less_than_their_power") {
  CHECK(size_class_of(0) == 3);
  CHECK(size_class_of(1) == 4);
  CHECK(size_class_of(8) == 4);
  CHECK(size_class_of(9) == 5);
  CHECK(size_class_of(65528) == 16);
  CHECK(size_class_of(65529) == 17);
  for (Bytes bytes = 1; bytes < 5000; ++bytes) {
    CHECK(most_bytes(size_class_of(bytes)) >= bytes);
    CHECK(most_bytes(static_cast<SizeClass>(size_class_of(bytes) - 1)) < bytes);
  }
}

// A receive of another class or priority does not match, however large it is. The receive that was provided last is
// taken first.
TEST_CASE("gm_messages_find_receives_of_their_class_and_priority") {
  World world;
  write_pattern(world.at(0), 8, 1);
  std::vector<std::uint64_t> taken;
  world.engine.start(Rank{0}, [&] {
    CHECK(world.send(0, 1, 0, 8) == Status::ok);
    CHECK(world.send(0, 1, 0, 8, Priority::high) == Status::ok);
    CHECK(world.port(0).send(Rank{1}, world.at(0), 8, 9, Priority::high, 0) == Status::ok);
    for (int i = 0; i < 3; ++i) (void)wait_for_event(world.port(0), world.host(0));
  });
  world.engine.start(Rank{1}, [&] {
    GmPort& port = world.port(1);
    CHECK(port.provide_receive(world.receive_at(1, 0, 5, Priority::low, 1)) == Status::ok);
    CHECK(port.provide_receive(world.receive_at(1, 64, 9, Priority::high, 2)) == Status::ok);
    CHECK(port.provide_receive(world.receive_at(1, 1024, 4, Priority::high, 3)) == Status::ok);
    CHECK(port.provide_receive(world.receive_at(1, 1088, 4, Priority::high, 4)) == Status::ok);
    taken.push_back(wait_for_event(port, world.host(1)).id);
    taken.push_back(wait_for_event(port, world.host(1)).id);
    CHECK(port.counters().no_receive == 1);
    CHECK(port.provide_receive(world.receive_at(1, 2048, 4, Priority::low, 5)) == Status::ok);
    taken.push_back(wait_for_event(port, world.host(1)).id);
  });
  world.engine.run();
  CHECK((taken == std::vector<std::uint64_t>{4, 2, 5}));
  CHECK(has_pattern(world.at(1, 1088), 8, 1));
  CHECK(has_pattern(world.at(1, 64), 8, 1));
  CHECK(has_pattern(world.at(1, 2048), 8, 1));
}

// Held messages of one priority hold up neither the other priority nor other peers.
TEST_CASE("gm_held_messages_hold_up_nobody_else") {
  World world({.ranks = 3, .topology = "crossbar:3"});
  world.engine.start(Rank{0}, [&] {
    CHECK(world.send(0, 1, 0, 8, Priority::low, 1) == Status::ok);
    CHECK(world.send(0, 1, 0, 8, Priority::high, 2) == Status::ok);
    CHECK(world.send(0, 2, 0, 8, Priority::low, 3) == Status::ok);
    CHECK(wait_for_event(world.port(0), world.host(0)).id == 2);
    CHECK(wait_for_event(world.port(0), world.host(0)).id == 3);
    CHECK(world.host(0).now().ps < 5'000'000);
    CHECK(wait_for_event(world.port(0), world.host(0)).id == 1);
  });
  world.engine.start(Rank{1}, [&] {
    CHECK(world.port(1).provide_receive(world.receive_at(1, 0, 4, Priority::high)) == Status::ok);
    sleep_until(world.host(1), {20'000'000});
    CHECK(world.port(1).provide_receive(world.receive_at(1, 0, 4)) == Status::ok);
  });
  world.engine.start(Rank{2}, [&] {
    CHECK(world.port(2).provide_receive(world.receive_at(2, 0, 4)) == Status::ok);
    (void)wait_for_event(world.port(2), world.host(2));
  });
  world.engine.run();
  CHECK(world.port(1).counters().no_receive >= 3);
  CHECK(world.port(0).counters().sent_again == world.port(1).counters().no_receive);
}

// Messages behind a refused one arrive after it, each once. A directed send behind it is not seen before it.
TEST_CASE("gm_order_survives_refusals") {
  World world;
  std::vector<Bytes> arrived;
  world.engine.start(Rank{0}, [&] {
    for (Bytes i = 0; i < 4; ++i) {
      CHECK(world.port(0).send(Rank{1}, world.at(0), 600 + i, 10, Priority::low, i) == Status::ok);
    }
    write_pattern(world.at(0, 1024), 8, 6);
    CHECK(world.port(0).directed_send(Rank{1}, world.at(1, 2048), world.at(0, 1024), 8, Priority::low, 4) ==
          Status::ok);
    for (std::uint64_t i = 0; i < 5; ++i) CHECK(wait_for_event(world.port(0), world.host(0)).id == i);
  });
  world.engine.start(Rank{1}, [&] {
    for (std::uint64_t i = 0; i < 4; ++i) {
      sleep_until(world.host(1), world.host(1).now() + SimTime{3'000'000});
      CHECK(is_filled(world.at(1, 2048), 8, 0));
      CHECK(world.port(1).provide_receive(world.receive_at(1, 0, 10, Priority::low, i)) == Status::ok);
      const Event event = wait_for_event(world.port(1), world.host(1));
      arrived.push_back(event.bytes);
      CHECK(event.id == i);
    }
    sleep_until(world.host(1), world.host(1).now() + SimTime{20'000'000});
    CHECK(has_pattern(world.at(1, 2048), 8, 6));
  });
  world.engine.run();
  CHECK((arrived == std::vector<Bytes>{600, 601, 602, 603}));
  CHECK(world.port(1).counters().no_receive >= 3);
  CHECK(world.port(1).counters().out_of_order > 0);
}

// The first message is still on its way into host memory when the second is refused. The refusal arrives first.
TEST_CASE("gm_refusals_may_overtake_acknowledgements") {
  World world;
  std::vector<Bytes> arrived;
  world.engine.start(Rank{0}, [&] {
    for (Bytes i = 0; i < 3; ++i) {
      CHECK(world.port(0).send(Rank{1}, world.at(0), 100 + i, 8, Priority::low, i) == Status::ok);
    }
    for (std::uint64_t i = 0; i < 3; ++i) CHECK(wait_for_event(world.port(0), world.host(0)).id == i);
  });
  world.engine.start(Rank{1}, [&] {
    for (std::uint64_t i = 0; i < 3; ++i) {
      CHECK(world.port(1).provide_receive(world.receive_at(1, 0, 8, Priority::low, i)) == Status::ok);
      arrived.push_back(wait_for_event(world.port(1), world.host(1)).bytes);
    }
  });
  world.engine.run();
  CHECK((arrived == std::vector<Bytes>{100, 101, 102}));
  CHECK(world.port(1).counters().no_receive > 0);
  CHECK(world.port(1).counters().out_of_order == 1);  // the third behind the second: the first is not sent again
}

TEST_CASE("gm_tokens_return_with_their_events") {
  World world({}, {.send_tokens = 4, .receive_tokens = 2});
  world.engine.start(Rank{0}, [&] {
    GmPort& port = world.port(0);
    for (std::uint64_t i = 0; i < 4; ++i) {
      CHECK(port.directed_send(Rank{1}, world.at(1), world.at(0), 8, Priority::low, i) == Status::ok);
    }
    CHECK(port.send_tokens() == 0);
    const SimTime before = world.host(0).now();
    CHECK(port.directed_send(Rank{1}, world.at(1), world.at(0), 8, Priority::high, 4) == Status::no_resource);
    CHECK(world.send(0, 1, 0, 8) == Status::no_resource);
    CHECK(world.host(0).now() == before);
    CHECK(port.counters().refused == 2);
    sleep_until(world.host(0), {50'000'000});
    CHECK(world.send(0, 1, 0, 8) == Status::no_resource);  // all messages have arrived, but the rank has not polled
    CHECK(wait_for_event(port, world.host(0)).id == 0);
    CHECK(port.send_tokens() == 1);
    CHECK(port.directed_send(Rank{1}, world.at(1), world.at(0), 8, Priority::high, 4) == Status::ok);
    for (std::uint64_t i = 1; i < 5; ++i) CHECK(wait_for_event(port, world.host(0)).id == i);
  });
  world.engine.start(Rank{1}, [&] {
    GmPort& port = world.port(1);
    CHECK(port.provide_receive(world.receive_at(1, 64, 4)) == Status::ok);
    CHECK(port.provide_receive(world.receive_at(1, 128, 4, Priority::high)) == Status::ok);
    const SimTime before = world.host(1).now();
    CHECK(port.provide_receive(world.receive_at(1, 192, 4)) == Status::no_resource);
    CHECK(world.host(1).now() == before);
    CHECK(port.counters().refused == 1);
  });
  world.engine.run();
}

TEST_CASE("gm_registered_memory_has_its_price") {
  World world({.registration = {{1'000'000}, 50'000}});
  const SimTime before = world.host(0).now();
  std::vector<std::byte> memory(5000);
  world.port(0).register_memory(memory);
  CHECK((world.host(0).now() - before).ps == 1'409'600);
  CHECK(world.port(0).is_registered(memory.data() + 4000, 1000));
  CHECK_FALSE(world.port(0).is_registered(memory.data() + 4000, 1001));
  world.port(0).dismiss(memory);
  CHECK_FALSE(world.port(0).is_registered(memory.data(), 1));
  CHECK_THROWS_AS(world.port(0).dismiss(memory), UsageError);
}

std::string failure_of(const std::function<void(World&)>& act) {
  World world;
  world.engine.start(Rank{0}, [&] {
    act(world);
    sleep_until(world.host(0), {30'000'000});
  });
  world.engine.start(Rank{1}, [&] { sleep_until(world.host(1), {30'000'000}); });
  try {
    world.engine.run();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("gm_misuse_is_named") {
  static std::vector<std::byte> elsewhere(64);
  CHECK(failure_of([](World& world) { (void)world.send(0, 2, 0, 8); }) == "gm: rank 2 does not exist; there are 2");
  CHECK(failure_of([](World& world) { (void)world.port(0).send(Rank{1}, world.at(0), 9, 4, Priority::low, 0); }) ==
        "gm: rank 0's message of 9 bytes in size class 4; classes 5..31 are allowed");
  CHECK(failure_of([](World& world) { (void)world.port(0).send(Rank{1}, world.at(0), 9, 32, Priority::low, 0); }) ==
        "gm: rank 0's message of 9 bytes in size class 32; classes 5..31 are allowed");
  CHECK(failure_of([](World& world) {
          (void)world.port(0).send(Rank{1}, elsewhere.data(), 64, 7, Priority::low, 0);
        }) == "gm: rank 0's message of 64 bytes reaches memory that rank 0 has not registered");
  CHECK(failure_of([](World& world) {
          (void)world.port(0).directed_send(Rank{1}, world.at(1), elsewhere.data(), 64, Priority::low, 0);
        }) == "gm: rank 0's directed send of 64 bytes reaches memory that rank 0 has not registered");
  CHECK(failure_of([](World& world) {
          (void)world.port(0).directed_send(Rank{1}, elsewhere.data(), world.at(0), 64, Priority::low, 0);
        }) == "gm: rank 0's directed send of 64 bytes reaches memory that rank 1 has not registered");
  CHECK(failure_of([](World& world) {
          (void)world.port(0).directed_send(Rank{1}, nullptr, world.at(0), 64, Priority::low, 0);
        }) == "gm: rank 0's directed send of 64 bytes; at most 2147483640 to an address are allowed");
  CHECK(
      failure_of([](World& world) { (void)world.port(0).provide_receive({0, {world.at(0), 55}, 6, Priority::low}); }) ==
      "gm: rank 0 provides 55 bytes for size class 6; classes 3..31 are allowed, with 8 bytes less than 2 to their "
      "power");
  CHECK(failure_of([](World& world) { (void)world.port(0).provide_receive({0, elsewhere, 6, Priority::low}); }) ==
        "gm: rank 0's receive of 64 bytes reaches memory that rank 0 has not registered");
}

}  // namespace
}  // namespace gasmeter::networks::gm::gm_port_test
