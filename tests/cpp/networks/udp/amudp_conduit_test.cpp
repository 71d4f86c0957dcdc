// The classic scheme between two ranks in one thread, with each datagram under the test's control.
#include "gasmeter/networks/udp/amudp_conduit.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <stdexcept>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::udp::amudp_conduit_test {
namespace {

using conduit::AmBuffer;
using conduit::AmHeader;
using conduit::AmView;
using conduit::Category;
using conduit::PollFilter;

using Packet = std::vector<std::byte>;

// Carries datagrams between two ranks. The test inspects, loses or repeats them.
class Line final : public services::DatagramService {
 public:
  explicit Line(Bytes largest = services::kLargestDatagram) { limits_.largest = largest; }
  void connect(Line& other) { other_ = &other; }

  const services::DatagramLimits& limits() const override { return limits_; }
  unsigned send(Rank /*to*/, std::span<const iovec> parts, Bytes segment) override {
    if (is_full) return 0;
    CHECK(parts.size() == 1);
    CHECK(parts[0].iov_len == segment);
    const auto* const data = static_cast<const std::byte*>(parts[0].iov_base);
    sent.emplace_back(data, data + segment);
    if (!loses) other_->waiting.push_back(sent.back());
    return 1;
  }
  bool receive(services::Inbox& inbox) override {
    inbox.datagrams.clear();
    Bytes at = 0;
    if (waiting.empty() && flood) waiting.push_back(flood());
    while (!waiting.empty() && at + waiting.front().size() <= inbox.size() && inbox.datagrams.size() < batch) {
      std::memcpy(inbox.data() + at, waiting.front().data(), waiting.front().size());
      inbox.datagrams.push_back({inbox.data() + at, waiting.front().size(), false});
      at += round_up(waiting.front().size(), 16);
      waiting.pop_front();
    }
    return !inbox.datagrams.empty();
  }

  Bytes bytes_waiting() override {
    ++looks;
    if (waiting.empty() && flood) waiting.push_back(flood());
    return waiting.empty() ? 0 : waiting.front().size();
  }

  std::function<Packet()> flood;  // makes arrivals when no other datagram waits
  unsigned looks = 0;
  bool is_full = false;
  bool loses = false;
  std::size_t batch = 1;
  std::vector<Packet> sent;
  std::deque<Packet> waiting;  // datagrams for this rank

 private:
  services::DatagramLimits limits_;
  Line* other_ = nullptr;
};

class Sink final : public conduit::Delivery {
 public:
  void arrived(const AmView& message) override {
    arguments.emplace_back(message.arguments.begin(), message.arguments.end());
    if (handler) handler(message);
  }
  void completed(OperationId /*operation*/) override { ++completions; }

  std::function<void(const AmView&)> handler;
  std::vector<std::vector<std::int32_t>> arguments;  // arguments of the messages that arrived
  unsigned completions = 0;
};

UdpSettings settings_of_test() {
  UdpSettings settings;
  settings.key = {1, 2};
  settings.session = 5;
  settings.first_sequence = ~std::uint64_t{0};  // wraps around with the second request of a slot
  return settings;
}

struct Pair {
  explicit Pair(const UdpSettings& settings = settings_of_test(), Bytes largest = services::kLargestDatagram)
      : line_a(largest),
        line_b(largest),
        memory(4096),
        a(RealHost(), line_a, Rank{0}, 2, {}, settings),
        b(RealHost(), line_b, Rank{1}, 2, memory, settings) {
    line_a.connect(line_b);
    line_b.connect(line_a);
  }
  void poll_a(PollFilter filter = PollFilter::everything) { (void)a.poll(sink_a, 64, filter); }
  void poll_b(PollFilter filter = PollFilter::everything) { (void)b.poll(sink_b, 64, filter); }

  Line line_a;
  Line line_b;
  std::vector<std::byte> memory;
  AmudpConduit a;
  AmudpConduit b;
  Sink sink_a;
  Sink sink_b;
};

Status try_send(AmudpConduit& conduit, const AmHeader& header, std::int32_t argument,
                std::span<const std::byte> payload = {}, void* destination = nullptr) {
  AmBuffer buffer;
  AmHeader with_argument = header;
  with_argument.arguments = 1;
  if (conduit.prepare(with_argument, nullptr, payload.size(), payload.size(), buffer) != Status::ok) {
    return Status::no_resource;
  }
  if (!payload.empty()) std::memcpy(buffer.data, payload.data(), payload.size());
  const std::array<std::int32_t, 1> arguments{argument};
  const Status sent =
      conduit.commit(buffer, {HandlerIndex{7}, payload.size(), destination, arguments}, conduit::kNoOperation);
  if (sent != Status::ok) conduit.cancel(buffer);
  return sent;
}

Status request(AmudpConduit& conduit, std::int32_t argument) {
  return try_send(conduit, {Rank{1}, Category::short_message, false, 1, 0}, argument);
}

Status reply(AmudpConduit& conduit, const AmView& to, std::int32_t argument) {
  return try_send(conduit, {to.source, Category::short_message, true, 1, to.cookie}, argument);
}

void wait_ms(double ms) {
  const RealHost host;
  const SimTime end = host.now() + SimTime::from_ns(ms * 1e6);
  while (host.now() < end) {
  }
}

TEST_CASE("limits are those of the classic scheme, and smaller where datagrams are") {
  const Pair wide;
  CHECK(wide.a.capabilities().max_request_medium == 512);
  CHECK(wide.a.capabilities().max_reply_medium == 512);
  CHECK(wide.a.capabilities().max_request_long == 65000);
  CHECK(wide.a.capabilities().max_reply_long == 65000);
  CHECK(!wide.a.capabilities().native_put);
  CHECK(!wide.a.capabilities().native_get);
  CHECK(wide.a.capabilities().polls_at_injection);
  const Pair narrow(settings_of_test(), 1472);
  CHECK(narrow.a.capabilities().max_request_medium == 512);
  CHECK(narrow.a.capabilities().max_request_long == 1472 - 128);
  CHECK_THROWS_AS(Pair(settings_of_test(), 500), UsageError);
  Pair pair;
  AmBuffer buffer;
  CHECK_THROWS_AS((void)pair.a.prepare({Rank{1}, Category::medium, false, 0, 0}, nullptr, 513, 513, buffer),
                  UsageError);
}

TEST_CASE("as many requests as the depth are under way, and replies make room") {
  Pair pair;
  for (std::int32_t i = 0; i < 4; ++i) CHECK(request(pair.a, i) == Status::ok);
  CHECK(request(pair.a, 4) == Status::no_resource);
  CHECK(pair.line_a.sent.size() == 4);
  CHECK(!pair.a.is_quiet());
  pair.poll_b();
  CHECK(pair.sink_b.arguments.size() == 4);
  CHECK(pair.b.counters().acknowledgements == 4);
  CHECK(request(pair.a, 4) == Status::no_resource);  // rank 0 has not polled
  pair.poll_a();
  CHECK(pair.sink_a.arguments.empty());  // empty replies reach no handler
  CHECK(pair.a.is_quiet());
  CHECK(pair.a.next_deadline() == kNever);
  // The exchange also crosses the end of the sequence numbers.
  for (std::int32_t i = 4; i < 40; ++i) {
    CHECK(request(pair.a, i) == Status::ok);
    pair.poll_b();
    pair.poll_a();
  }
  CHECK(pair.sink_b.arguments.size() == 40);
  CHECK(pair.b.counters().duplicates + pair.a.counters().duplicates == 0);
}

TEST_CASE("a prepared request has a slot and a buffer of its own, given back by cancel") {
  Pair pair;
  std::array<AmBuffer, 4> buffers;
  for (AmBuffer& buffer : buffers) {
    CHECK(pair.a.prepare({Rank{1}, Category::medium, false, 1, 0}, nullptr, 100, 100, buffer) == Status::ok);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data) % 16 == 0);
    std::memset(buffer.data, static_cast<int>(&buffer - buffers.data()), 100);
  }
  CHECK(request(pair.a, 0) == Status::no_resource);
  for (std::int32_t i = 0; i < 4; ++i) {
    CHECK(static_cast<const std::byte*>(buffers[static_cast<std::size_t>(i)].data)[99] == std::byte(i));
  }
  pair.a.cancel(buffers[2]);
  CHECK(request(pair.a, 0) == Status::ok);
  CHECK(pair.line_a.sent.size() == 1);
}

TEST_CASE("a lost request is sent again after its timer, which doubles; its handler runs once") {
  Pair pair;
  const RealHost host;
  pair.line_a.loses = true;
  const SimTime start = host.now();
  CHECK(request(pair.a, 9) == Status::ok);
  const double first = (pair.a.next_deadline() - start).seconds();
  CHECK(first >= 0.010);
  pair.poll_a();
  if (host.now() < start + SimTime::from_ns(10e6)) CHECK(pair.line_a.sent.size() == 1);
  while (pair.line_a.sent.size() < 2) pair.poll_a();
  const SimTime second = host.now();
  CHECK((second - start).seconds() >= 0.010);
  const SimTime due = pair.a.next_deadline();
  CHECK((due - start).seconds() >= 0.030);
  CHECK((due - second).seconds() <= 0.021);
  pair.line_a.loses = false;
  while (pair.line_a.sent.size() < 3) pair.poll_a();
  CHECK(host.now() >= due);
  CHECK(pair.line_a.sent[0] == pair.line_a.sent[2]);
  CHECK(pair.a.counters().retransmitted == 2);
  conduit::Counts counts;
  pair.a.add_to(counts);
  CHECK(counts.of(conduit::Count::retransmits) == 2U);
  CHECK(counts.of(conduit::Count::datagrams) == pair.a.counters().sent);
  CHECK_FALSE(counts.of(conduit::Count::credits).has_value());
  pair.poll_b();
  pair.poll_a();
  CHECK(pair.sink_b.arguments.size() == 1);
  CHECK(pair.a.is_quiet());
}

TEST_CASE("a large message is given the time that it takes at the expected bandwidth") {
  Pair pair;
  const RealHost host;
  const std::vector<std::byte> payload(65000);
  const AmHeader header{Rank{1}, Category::long_message, false, 1, 0};
  const SimTime start = host.now();
  CHECK(try_send(pair.a, header, 0, payload, pair.memory.data()) == Status::ok);
  const SimTime due = pair.a.next_deadline();
  CHECK((due - start).seconds() >= 0.080);  // the first doubling of 10 ms that covers 65 ms
  CHECK((due - host.now()).seconds() <= 0.080);
}

TEST_CASE("a request that comes again is not handled again and gets the same reply") {
  Pair pair;
  pair.sink_b.handler = [&](const AmView& view) { CHECK(reply(pair.b, view, view.arguments[0] + 1) == Status::ok); };
  pair.line_b.loses = true;
  CHECK(request(pair.a, 41) == Status::ok);
  pair.poll_b();
  pair.line_b.loses = false;
  pair.line_b.waiting.push_back(pair.line_a.sent[0]);
  pair.line_b.waiting.push_back(pair.line_a.sent[0]);
  pair.poll_b();
  CHECK(pair.sink_b.arguments.size() == 1);
  CHECK(pair.b.counters().duplicates == 2);
  REQUIRE(pair.line_b.sent.size() == 3);
  CHECK(pair.line_b.sent[0] == pair.line_b.sent[1]);
  CHECK(pair.line_b.sent[0] == pair.line_b.sent[2]);
  pair.poll_a();
  CHECK(pair.sink_a.arguments == std::vector<std::vector<std::int32_t>>{{42}});
  CHECK(pair.a.counters().duplicates == 1);
  // Replay a request after its slot has been used again.
  CHECK(request(pair.a, 50) == Status::ok);
  pair.poll_b();
  pair.line_b.waiting.push_back(pair.line_a.sent[0]);
  pair.poll_b();
  CHECK(pair.sink_b.arguments.size() == 2);
  CHECK(pair.line_b.sent.size() == 4);
}

TEST_CASE("while replies alone may come, requests are kept, and come again without being answered") {
  Pair pair;
  CHECK(request(pair.a, 1) == Status::ok);
  pair.poll_b(PollFilter::replies_only);
  CHECK(pair.sink_b.arguments.empty());
  pair.line_b.waiting.push_back(pair.line_a.sent[0]);
  pair.b.serve();
  CHECK(pair.sink_b.arguments.empty());
  CHECK(pair.line_b.sent.empty());
  CHECK(pair.b.counters().duplicates == 1);
  pair.poll_b();
  CHECK(pair.sink_b.arguments.size() == 1);
  CHECK(pair.line_b.sent.size() == 1);
}

TEST_CASE("a poll inside a handler disturbs neither the message nor those behind it") {
  Pair pair;
  pair.line_b.batch = 16;
  const std::vector<std::byte> payload(512, std::byte{0x5a});
  for (std::int32_t i = 0; i < 3; ++i) {
    CHECK(try_send(pair.a, {Rank{1}, Category::medium, false, 1, 0}, i, payload) == Status::ok);
  }
  pair.sink_b.handler = [&](const AmView& view) {
    if (view.arguments[0] == 0) CHECK(request(pair.a, 3) == Status::ok);
    CHECK(reinterpret_cast<std::uintptr_t>(view.payload) % 16 == 0);
    pair.poll_b(PollFilter::replies_only);
    CHECK(view.size == (view.arguments[0] == 3 ? 0 : 512));
    CHECK((view.size == 0 || std::memcmp(view.payload, payload.data(), 512) == 0));
  };
  while (pair.sink_b.arguments.size() < 4) pair.poll_b();
  CHECK(pair.sink_b.arguments == std::vector<std::vector<std::int32_t>>{{0}, {1}, {2}, {3}});
  pair.poll_a();
  CHECK(pair.a.is_quiet());
}

TEST_CASE("a handler that throws has its request answered, too") {
  Pair pair;
  pair.sink_b.handler = [](const AmView&) { throw std::runtime_error("handler"); };
  CHECK(request(pair.a, 1) == Status::ok);
  CHECK_THROWS_AS(pair.poll_b(), std::runtime_error);
  pair.poll_b();
  pair.poll_a();
  CHECK(pair.a.is_quiet());
  CHECK(pair.sink_b.arguments.size() == 1);
}

TEST_CASE("a network that takes nothing refuses requests and replies, and loses acknowledgements") {
  Pair pair;
  pair.line_a.is_full = true;
  CHECK(request(pair.a, 1) == Status::no_resource);
  pair.line_a.is_full = false;
  CHECK(pair.a.is_quiet());
  CHECK(request(pair.a, 2) == Status::ok);
  pair.sink_b.handler = [&](const AmView& view) {
    pair.line_b.is_full = true;
    CHECK(reply(pair.b, view, 3) == Status::no_resource);
    pair.line_b.is_full = false;
    CHECK(reply(pair.b, view, 4) == Status::ok);
    CHECK_THROWS_AS((void)reply(pair.b, view, 5), UsageError);
  };
  pair.poll_b();
  pair.poll_a();
  CHECK(pair.sink_a.arguments == std::vector<std::vector<std::int32_t>>{{4}});
  pair.sink_b.handler = nullptr;
  CHECK(request(pair.a, 6) == Status::ok);
  pair.line_b.is_full = true;
  pair.poll_b();
  pair.line_b.is_full = false;
  pair.line_b.waiting.push_back(pair.line_a.sent.back());
  pair.poll_b();
  pair.poll_a();
  CHECK(pair.a.is_quiet());
}

TEST_CASE("a Long that would leave the segment is dropped; an empty one goes anywhere") {
  Pair pair;
  const AmHeader header{Rank{1}, Category::long_message, false, 1, 0};
  const std::vector<std::byte> payload(100, std::byte{1});
  CHECK(try_send(pair.a, header, 0, payload, pair.memory.data() + 4000) == Status::ok);
  pair.poll_b();
  CHECK(pair.b.counters().malformed == 1);
  CHECK(pair.sink_b.arguments.empty());
  CHECK(pair.line_b.sent.empty());
  CHECK(try_send(pair.a, header, 1, payload, pair.memory.data() + 3996) == Status::ok);
  CHECK(try_send(pair.a, header, 2, {}, pair.memory.data() + 9999) == Status::ok);
  pair.poll_b();
  CHECK(pair.sink_b.arguments.size() == 2);
  CHECK(pair.memory[3995] == std::byte{0});
  CHECK(pair.memory[3996] == std::byte{1});
  CHECK(pair.memory[4095] == std::byte{1});
}

TEST_CASE("datagrams that are nobody's or make no sense are counted and dropped") {
  Pair pair;
  const UdpSettings settings = settings_of_test();
  CHECK(request(pair.a, 1) == Status::ok);
  const Packet genuine = pair.line_b.waiting.front();
  pair.line_b.waiting.clear();
  const auto inject = [&](std::size_t at, std::uint8_t value, bool sealed) {
    Packet packet = genuine;
    packet[at] = std::byte{value};
    const std::uint64_t tag = tag_of(TagKey(settings.key), settings.covers, packet, {});
    if (sealed) std::memcpy(packet.data(), &tag, sizeof tag);
    pair.line_b.waiting.push_back(packet);
  };
  inject(amudp::kArgumentsAt, 9, false);
  inject(offsetof(Header, session), 9, true);
  inject(offsetof(Header, destination), 0, true);
  for (const std::size_t at : {offsetof(amudp::MessageHead, kind), offsetof(amudp::MessageHead, category),
                               offsetof(amudp::MessageHead, arguments), offsetof(amudp::MessageHead, slot),
                               offsetof(amudp::MessageHead, size)}) {
    inject(amudp::kHeadAt + at, 17, true);
  }
  inject(offsetof(Header, content), static_cast<std::uint8_t>(Content::nothing), true);
  inject(offsetof(Header, sequence), 0x01, true);  // too far from the expected sequence, hence old
  pair.line_b.waiting.emplace_back(20);
  while (!pair.line_b.waiting.empty()) pair.poll_b();
  pair.poll_b();  // ten a poll, out of all datagrams that it has taken
  const UdpCounters& seen = pair.b.counters();
  CHECK(seen.foreign == 1);
  CHECK(seen.stale == 1);
  CHECK(seen.misdirected == 1);
  CHECK(seen.malformed == 7);
  CHECK(seen.duplicates == 1);
  CHECK(pair.sink_b.arguments.empty());
  pair.line_b.waiting.push_back(genuine);
  pair.poll_b();
  CHECK(pair.sink_b.arguments.size() == 1);
}

TEST_CASE("a poll serves ten messages") {
  UdpSettings settings = settings_of_test();
  Pair pair(settings);
  // More requests than the depth come at once only if some are repeated.
  for (std::int32_t i = 0; i < 4; ++i) CHECK(request(pair.a, i) == Status::ok);
  for (int i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 4; ++k) pair.line_b.waiting.push_back(pair.line_a.sent[k]);
  }
  CHECK(pair.b.poll(pair.sink_b, 64, PollFilter::everything) == 10);
  CHECK(pair.line_b.waiting.empty());  // the poll takes all datagrams out of the socket
  CHECK(pair.b.poll(pair.sink_b, 2, PollFilter::everything) == 2);
  CHECK(pair.b.poll(pair.sink_b, 64, PollFilter::everything) == 4);
  CHECK(pair.b.poll(pair.sink_b, 64, PollFilter::everything) == 0);
}

TEST_CASE("a poll looks before each datagram and behind the last, and at the clock for what waits for an answer") {
  Pair pair;
  CHECK(pair.b.poll(pair.sink_b, 64, PollFilter::everything) == 0);
  CHECK(pair.b.calls().looks == 1);
  CHECK(pair.b.calls().clock_reads == 0);
  for (std::int32_t i = 0; i < 3; ++i) CHECK(request(pair.a, i) == Status::ok);
  CHECK(pair.a.calls().sends == 3);
  CHECK(pair.a.calls().clock_reads == 3);
  pair.poll_b();
  CHECK(pair.b.calls().looks == 1 + 4);
  CHECK(pair.line_b.looks == 1 + 4);
  CHECK(pair.b.calls().receives == 3);
  CHECK(pair.b.calls().sends == 3);  // replies that no handler made
  CHECK(pair.b.calls().clock_reads == 0);
  pair.line_a.waiting.pop_back();
  pair.poll_a();
  CHECK(pair.a.calls().looks == 3);
  CHECK(pair.a.calls().clock_reads == 3 + 1);  // a request is still under way
}

TEST_CASE("what is taken out of the socket before a handler runs is behind it") {
  Pair pair;
  std::size_t waiting = 99;
  pair.sink_b.handler = [&](const AmView&) { waiting = pair.line_b.waiting.size(); };
  CHECK(request(pair.a, 0) == Status::ok);
  CHECK(request(pair.a, 1) == Status::ok);
  CHECK(pair.b.poll(pair.sink_b, 1, PollFilter::everything) == 1);
  CHECK(waiting == 0);
  CHECK(pair.sink_b.arguments.size() == 1);
  pair.poll_b();
  CHECK(pair.sink_b.arguments.size() == 2);
}

TEST_CASE("a peer that answers nothing ends the job") {
  UdpSettings settings = settings_of_test();
  settings.patience = SimTime::from_ns(5e6);
  Pair pair(settings);
  pair.line_a.loses = true;
  pair.poll_a();
  CHECK(request(pair.a, 1) == Status::ok);
  wait_ms(6);
  CHECK_THROWS_AS(pair.poll_a(), BrokenJob);
  CHECK_THROWS_AS(pair.a.serve(), BrokenJob);
}

TEST_CASE("serving_ends_however_much_arrives_that_is_of_no_use") {
  Pair pair;
  CHECK(request(pair.a, 1) == Status::ok);
  unsigned made = 0;
  pair.line_b.flood = [&made] {
    REQUIRE(++made < 100'000);
    return Packet(100, std::byte{1});
  };
  pair.b.serve();
  CHECK(pair.b.counters().malformed + pair.b.counters().foreign + pair.b.counters().stale == made);
  pair.line_b.flood = nullptr;
  pair.poll_b();
  pair.poll_a();
  CHECK(pair.a.is_quiet());
}

TEST_CASE("a peer of which only old datagrams come has not answered") {
  UdpSettings settings = settings_of_test();
  settings.patience = SimTime::from_ns(30e6);
  Pair pair(settings);
  CHECK(request(pair.a, 1) == Status::ok);
  CHECK(try_send(pair.b, {Rank{0}, Category::short_message, false, 1, 0}, 2) == Status::ok);
  pair.poll_b();
  pair.poll_a();
  pair.poll_b();
  REQUIRE(pair.a.is_quiet());
  const std::vector<Packet> replayed = pair.line_b.sent;  // a request and a reply
  REQUIRE(replayed.size() == 2);
  pair.line_a.loses = true;
  CHECK(request(pair.a, 3) == Status::ok);
  const RealHost host;
  const SimTime end = host.now() + SimTime::from_ns(5e9);
  const auto poll_with_replays = [&] {
    while (host.now() < end) {
      for (const Packet& packet : replayed) pair.line_a.waiting.push_back(packet);
      pair.poll_a();
    }
  };
  CHECK_THROWS_AS(poll_with_replays(), BrokenJob);
  CHECK(pair.a.counters().duplicates > 0);
}

}  // namespace
}  // namespace gasmeter::networks::udp::amudp_conduit_test
