// Messages that a peer must not send: to the library's own handlers, with wrong addresses, lengths, counts, numbers,
// codes or forms. Each is refused with one line, and no byte of this rank changes.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/atomics/domain.hpp"
#include "gasmeter/core/reference/extended.hpp"
#include "gasmeter/core/teams/teams.hpp"
#include "gasmeter/core/teams/wire.hpp"
#include "gasmeter/core/vis/vis.hpp"
#include "support/scripted_conduit.hpp"
#include "support/shared_block.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::core::forged_messages_test {
namespace {

using testing::Mail;
using testing::ScriptedConduit;
using Words = std::vector<std::int32_t>;
using Ep = Endpoint<RealHost>;

constexpr Bytes kSegment = 8192;
constexpr std::int32_t kMany = -1;  // 2^32 - 1

Words operator+(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}
Words wide(std::uint64_t value) {
  return {static_cast<std::int32_t>(value & 0xffffffffU), static_cast<std::int32_t>(value >> 32)};
}
Words wide(const void* address) {
  return wide(reinterpret_cast<std::uint64_t>(address));
}
template <class... Numbers>
std::vector<std::byte> bytes_of(Numbers... numbers) {
  const std::array<std::uint64_t, sizeof...(Numbers)> all{static_cast<std::uint64_t>(numbers)...};
  std::vector<std::byte> bytes(sizeof all);
  std::memcpy(bytes.data(), all.data(), sizeof all);
  return bytes;
}
std::uint64_t bits(const void* address) {
  return reinterpret_cast<std::uint64_t>(address);
}

// Rank 0 of 2, over a conduit that the test controls: the test sends rank 1's messages. The memory beside the segment
// is checked, too.
struct Victim {
  Victim()
      : layout(testing::layout_of(1, 16 * 1024, kSegment)),
        block(layout.total() + kSegment),
        memory(block.map()),
        segments{{memory + layout.segment_at(0), layout.segment_bytes}, {theirs.data(), theirs.size()}},
        endpoint(RealHost(WaitMode::yield), {Rank{0}, 2, Rank{0}, layout, memory, segments}, &conduit) {
    std::memset(mine(), 0x5a, layout.segment_bytes + kSegment);
  }
  [[nodiscard]] std::byte* mine() const { return segments[0].address; }
  [[nodiscard]] Bytes size() const { return segments[0].size; }
  void deliver(const Mail& mail) {
    conduit.incoming.push_back(mail);
    while (!conduit.incoming.empty()) (void)endpoint.poll();
  }
  // Deliver a message and return the line that refuses it. Nothing may have changed.
  std::string refusal(const Mail& mail) {
    const std::vector<std::byte> before(mine(), mine() + layout.segment_bytes + kSegment);
    const std::size_t sent = conduit.sent.size();
    std::string text;
    try {
      deliver(mail);
    } catch (const UsageError& error) {
      text = error.what();
    }
    CHECK(std::memcmp(before.data(), mine(), before.size()) == 0);
    CHECK(conduit.sent.size() == sent);
    return text;
  }
  // Check several messages that each differ from a right one. The line must name both ranks and the handler.
  void refuses(HandlerIndex handler, const char* what, const std::vector<Mail>& mails) {
    for (std::size_t i = 0; i < mails.size(); ++i) {
      CAPTURE(what);
      CAPTURE(i);
      const std::string text = refusal(mails[i]);
      CHECK(text.starts_with("rank 0: message from rank 1 for handler " + std::to_string(index(handler)) + " '" + what +
                             "': "));
      CHECK(text.find('\n') == std::string::npos);
    }
  }

  std::vector<std::byte> theirs = std::vector<std::byte>(kSegment);
  ScriptedConduit conduit;
  NeighbourhoodLayout layout;
  testing::SharedBlock block;
  std::byte* memory;
  std::vector<Segment> segments;
  Ep endpoint;
};

Mail short_request(HandlerIndex handler, Words words) {
  return {Category::short_message, true, handler, std::move(words), {}};
}
Mail medium_request(HandlerIndex handler, Words words, std::vector<std::byte> payload) {
  return {Category::medium, true, handler, std::move(words), std::move(payload)};
}
Mail short_reply(HandlerIndex handler, Words words) {
  return {Category::short_message, false, handler, std::move(words), {}};
}
Mail medium_reply(HandlerIndex handler, Words words, std::vector<std::byte> payload) {
  return {Category::medium, false, handler, std::move(words), std::move(payload)};
}

TEST_CASE("forged_puts_gets_and_barriers_are_refused") {
  using namespace reference;
  Victim v;
  const auto eight = bytes_of(7);
  std::byte* const end = v.mine() + v.size();
  v.refuses(kPutMedium, "put (Medium)",
            {medium_request(kPutMedium, Words{3} + wide(end), eight),
             medium_request(kPutMedium, Words{3} + wide(end - 7), eight),
             medium_request(kPutMedium, Words{3} + wide(v.mine() - 1), eight),
             medium_request(kPutMedium, Words{3} + wide(~std::uint64_t{0}), eight),
             medium_request(kPutMedium, Words{3}, eight),
             {Category::medium, false, kPutMedium, Words{3} + wide(v.mine()), eight},
             short_request(kPutMedium, Words{3} + wide(v.mine()))});
  v.refuses(kPutLong, "put (Long)", {short_request(kPutLong, {3}), short_request(kPutLong, {})});
  v.refuses(kGetRequest, "get",
            {short_request(kGetRequest, Words{3} + wide(end) + Words{0, 0, 8}),
             short_request(kGetRequest, Words{3} + wide(v.mine()) + Words{0, 0, kMany}),
             short_request(kGetRequest, Words{3} + wide(v.mine() - 8) + Words{0, 0, 8}),
             short_request(kGetRequest, Words{3} + wide(v.mine()) + Words{0, 0, static_cast<std::int32_t>(v.size())}),
             short_request(kGetRequest, Words{3} + wide(v.mine()) + Words{0, 0})});
  v.refuses(kBarrier, "barrier",
            {short_request(kBarrier, {32}), short_request(kBarrier, {kMany}), short_request(kBarrier, {})});
  // Right messages have their effect.
  v.deliver(medium_request(kPutMedium, Words{3} + wide(end - 8), eight));
  CHECK(std::memcmp(end - 8, eight.data(), 8) == 0);
  v.deliver(short_request(kGetRequest, Words{3} + wide(end - 8) + Words{1, 2, 8}));
  REQUIRE(v.conduit.sent.size() == 2);
  CHECK(v.conduit.sent[0].handler == kAcknowledge);
  CHECK(v.conduit.sent[1].payload == eight);
  CHECK(v.conduit.sent[1].words == Words{3, 1, 2});
}

TEST_CASE("an_acknowledgement_completes_only_what_awaits_it_from_its_sender") {
  using namespace reference;
  Victim v;
  v.refuses(kAcknowledge, "acknowledge",
            {short_reply(kAcknowledge, {0}), short_reply(kAcknowledge, {kMany}), short_reply(kAcknowledge, {}),
             short_request(kAcknowledge, {0})});
  const std::uint64_t word = 9;
  Event event = v.endpoint.put_nb(Rank{1}, v.theirs.data(), &word, 8);
  REQUIRE(v.conduit.sent.size() == 1);
  const Words right{v.conduit.sent[0].words[0]};
  Mail from_itself = short_reply(kAcknowledge, right);
  from_itself.source = Rank{0};
  CHECK(v.refusal(from_itself).find("handler 4 'acknowledge'") != std::string::npos);
  v.refuses(kAcknowledge, "acknowledge", {short_reply(kAcknowledge, {right[0] + 1})});
  CHECK_FALSE(v.endpoint.test(event));
  v.deliver(short_reply(kAcknowledge, right));
  v.refuses(kAcknowledge, "acknowledge", {short_reply(kAcknowledge, right)});  // only once
  CHECK(v.endpoint.test(event));
  v.refuses(kAcknowledge, "acknowledge", {short_reply(kAcknowledge, right)});
}

TEST_CASE("a_get_takes_the_reply_that_it_asked_for_and_no_other") {
  using namespace reference;
  Victim v;
  std::array<std::uint64_t, 3> landing{1, 1, 1};
  Event event = v.endpoint.get_nb(Rank{1}, &landing[1], v.theirs.data(), 8);
  REQUIRE(v.conduit.sent.size() == 1);
  const Words asked = v.conduit.sent[0].words;
  REQUIRE(asked.size() == 6);
  const Words right{asked[0], asked[3], asked[4]};
  CHECK(wide(&landing[1]) != Words{asked[3], asked[4]});  // the message contains no address of this rank
  v.refuses(kGetReply, "get reply",
            {medium_reply(kGetReply, right, bytes_of(7, 7)), medium_reply(kGetReply, right, {}),
             medium_reply(kGetReply, {right[0] + 1, right[1], right[2]}, bytes_of(7)),
             medium_reply(kGetReply, {right[0], right[1] + 1, right[2]}, bytes_of(7)),
             medium_reply(kGetReply, {right[0], kMany, right[2]}, bytes_of(7)),
             medium_reply(kGetReply, {right[0], right[1], right[2] + 1}, bytes_of(7)),
             medium_reply(kGetReply, Words{right[0]} + wide(v.mine()), bytes_of(7)),
             medium_reply(kGetReply, {right[0]}, bytes_of(7)), short_reply(kGetReply, right)});
  // Another handler does not take the reply either.
  v.refuses(atomics::kFetched, "atomic's result", {short_reply(atomics::kFetched, right + Words{7, 0})});
  v.refuses(vis::kShapeReply, "strided get's pieces",
            {medium_reply(vis::kShapeReply, right + Words{0, 0}, bytes_of(7))});
  v.refuses(vis::kListReply, "vector or indexed get's pieces",
            {medium_reply(vis::kListReply, right + Words{0, 0, 0, 0}, bytes_of(7))});
  CHECK_FALSE(v.endpoint.test(event));
  v.deliver(medium_reply(kGetReply, right, bytes_of(7)));
  CHECK(landing == std::array<std::uint64_t, 3>{1, 7, 1});
  v.refuses(kGetReply, "get reply", {medium_reply(kGetReply, right, bytes_of(8))});
  CHECK(v.endpoint.test(event));
  // The same place is reused with another generation.
  event = v.endpoint.get_nb(Rank{1}, &landing[2], v.theirs.data(), 8);
  v.refuses(kGetReply, "get reply", {medium_reply(kGetReply, right, bytes_of(8))});
  CHECK(landing == std::array<std::uint64_t, 3>{1, 7, 1});
  const Words again = v.conduit.sent[1].words;
  v.deliver(medium_reply(kGetReply, {again[0], again[3], again[4]}, bytes_of(9)));
  CHECK(landing[2] == 9);
  CHECK(v.endpoint.test(event));
  // A refused get leaves nothing behind.
  v.conduit.is_full = true;
  CHECK(v.endpoint.get_nb(Rank{1}, &landing[2], v.theirs.data(), 8, Flags::immediate).is_no_op());
  CHECK(v.endpoint.outstanding_operations() == 0);
}

TEST_CASE("a_get_into_the_segment_takes_the_long_reply_that_it_asked_for_and_no_other") {
  using namespace reference;
  Victim v;
  constexpr Bytes kBytes = 6000;
  const std::vector<std::byte> data(kBytes, std::byte{7});
  std::byte* const end = v.mine() + v.size();
  const auto ask = [](const void* from, std::int32_t bytes, const void* to) {
    return short_request(kGetLong, Words{3} + wide(from) + Words{0, 0, bytes} + wide(to));
  };
  v.refuses(kGetLong, "get (Long)",
            {ask(end - 7, 8, v.theirs.data()), ask(v.mine(), kMany, v.theirs.data()),
             ask(v.mine(), 8, v.theirs.data() + kSegment - 7), ask(v.mine(), 8, v.mine()), ask(v.mine(), 8, nullptr),
             short_request(kGetLong, Words{3} + wide(v.mine()) + Words{0, 0, 8}),
             short_reply(kGetLong, Words{3} + wide(v.mine()) + Words{0, 0, 8} + wide(v.theirs.data()))});
  std::byte* const to = v.mine() + 16;
  Event event = v.endpoint.get_nb(Rank{1}, to, v.theirs.data(), kBytes);
  REQUIRE(v.conduit.sent.size() == 1);
  const Words asked = v.conduit.sent[0].words;
  REQUIRE(asked.size() == 8);
  CHECK(v.conduit.sent[0].handler == kGetLong);
  const Words right{asked[0], asked[3], asked[4]};
  const auto reply = [&](const Words& words, Bytes bytes) {
    return Mail{Category::long_message,
                false,
                kGetLongReply,
                words,
                {data.begin(), data.begin() + static_cast<std::ptrdiff_t>(bytes)},
                Rank{1},
                to};
  };
  v.refuses(kGetLongReply, "get reply (Long)",
            {reply(right, kBytes - 1), reply({right[0] + 1, right[1], right[2]}, kBytes),
             reply({right[0], right[1] + 1, right[2]}, kBytes), reply({right[0], right[1], right[2] + 1}, kBytes),
             reply({right[0]}, kBytes), medium_reply(kGetLongReply, right, data), short_reply(kGetLongReply, right)});
  v.refuses(kGetReply, "get reply", {medium_reply(kGetReply, right, data)});
  CHECK_FALSE(v.endpoint.test(event));
  v.deliver(reply(right, kBytes));
  CHECK(v.endpoint.test(event));
  v.refuses(kGetLongReply, "get reply (Long)", {reply(right, kBytes)});  // only once
  // The data are not at the requested place.
  event = v.endpoint.get_nb(Rank{1}, to, v.theirs.data(), kBytes);
  const Words again = v.conduit.sent[1].words;
  Mail elsewhere = reply({again[0], again[3], again[4]}, kBytes);
  elsewhere.destination = to + 1;
  v.refuses(kGetLongReply, "get reply (Long)", {elsewhere});
}

TEST_CASE("forged_atomics_are_refused") {
  using atomics::kFetched;
  using atomics::kRequest;
  Victim v;
  const auto code = [](AtomicOp op, AtomicType type) {
    return static_cast<std::int32_t>(static_cast<unsigned>(op) | static_cast<unsigned>(type) << 8);
  };
  const std::int32_t fadd = code(AtomicOp::fadd, AtomicType::u64);
  const Words rest{0, 0, 1, 0};  // place of the result, operand
  std::byte* const end = v.mine() + v.size();
  v.refuses(kRequest, "atomic",
            {short_request(kRequest, {}), short_request(kRequest, Words{fadd, 0} + wide(end) + rest),
             short_request(kRequest, Words{fadd, 0} + wide(end - 4) + rest),
             short_request(kRequest, Words{fadd, 0} + wide(v.mine() + 4) + rest),
             short_request(kRequest, Words{fadd, 0} + wide(v.mine() - 8) + rest),
             short_request(kRequest, Words{fadd, 0} + wide(v.mine())),
             short_request(kRequest, Words{fadd, 0} + wide(v.mine()) + rest + Words{0}),
             short_request(kRequest, Words{code(AtomicOp::count_, AtomicType::u64), 0} + wide(v.mine()) + rest),
             short_request(kRequest, Words{0xff, 0} + wide(v.mine()) + rest),
             short_request(kRequest, Words{fadd | 6 << 8, 0} + wide(v.mine()) + rest),
             short_request(kRequest, Words{kMany, 0} + wide(v.mine()) + rest),
             short_request(kRequest, Words{code(AtomicOp::fbit_or, AtomicType::f64), 0} + wide(v.mine()) + rest),
             short_reply(kRequest, Words{fadd, 0} + wide(v.mine()) + rest)});
  v.deliver(short_request(kRequest, Words{fadd, 5} + wide(end - 8) + rest));
  std::uint64_t word = 0;
  std::memcpy(&word, end - 8, 8);
  CHECK(word == 0x5a5a5a5a5a5a5a5bU);
  REQUIRE(v.conduit.sent.size() == 1);
  CHECK(v.conduit.sent[0].words == Words{5, 0, 0, 0x5a5a5a5a, 0x5a5a5a5a});

  std::array<std::uint64_t, 3> landing{1, 1, 1};
  AtomicDomain<RealHost, std::uint64_t> domain(v.endpoint, AtomicOps{AtomicOp::fadd});
  Event event = domain.nb<AtomicOp::fadd>(&landing[1], Rank{1}, reinterpret_cast<std::uint64_t*>(v.theirs.data()), 1);
  REQUIRE(v.conduit.sent.size() == 2);
  const Words asked = v.conduit.sent[1].words;
  const Words right{asked[1], asked[4], asked[5]};
  v.refuses(
      kFetched, "atomic's result",
      {short_reply(kFetched, right), short_reply(kFetched, right + Words{7}),
       short_reply(kFetched, right + Words{7, 0, 0}), short_reply(kFetched, {right[0], right[1] + 1, right[2], 7, 0}),
       short_reply(kFetched, {right[0] + 1, right[1], right[2], 7, 0})});
  v.deliver(short_reply(kFetched, right + Words{7, 0}));
  CHECK(landing == std::array<std::uint64_t, 3>{1, 7, 1});
  CHECK(v.endpoint.test(event));
}

TEST_CASE("forged_strided_transfers_are_refused") {
  using namespace vis;
  Victim v;
  const std::uint64_t base = bits(v.mine());
  const auto put = [](Words words, std::vector<std::byte> payload) {
    return medium_request(kPutShape, std::move(words), std::move(payload));
  };
  // arguments: operation, levels, handler, note, start; payload: base, element, {count, stride}, bytes
  const std::uint64_t most = ~std::uint64_t{0};
  v.refuses(
      kPutShape, "strided put",
      {put({0, 1, 0, 0, 0, 0}, bytes_of(base + v.size() - 8, 8, 2, 8, 1, 1)),
       put({0, 1, 0, 0, 0, 0}, bytes_of(base, 8, 2, most - 7, 1, 1)),                 // stride -8
       put({0, 1, 0, 0, 0, 0}, bytes_of(base, 8, 2, std::uint64_t{1} << 63U, 1, 1)),  // and beyond
       put({0, 1, 0, 0, 0, 0}, bytes_of(base, 8, std::uint64_t{1} << 62U, 16, 1, 1)),
       put({0, 2, 0, 0, 0, 0}, bytes_of(base, 8, most, 0, most, 0, 1, 1)),
       put({0, 1, 0, 0, 0, 0}, bytes_of(base, 8, 0, 8, 1, 1)), put({0, 1, 0, 0, 0, 0}, bytes_of(base, 0, 2, 8, 1, 1)),
       put({0, 1, 0, 0, 16, 0}, bytes_of(base, 8, 2, 8, 1, 1)),
       put({0, 1, 0, 0, kMany, kMany}, bytes_of(base, 8, 2, 8, 1, 1)),
       put({0, 1, 0, 0, 0, 0}, bytes_of(base, 8, 2, 8, 1, 1, 1)),
       put({0, 65, 0, 0, 0, 0}, std::vector<std::byte>(16 + 65 * 16 + 8)),
       put({0, kMany, 0, 0, 0, 0}, bytes_of(base, 8, 2, 8, 1, 1)),
       put({0, 1, 0, kMany, 0, 0}, bytes_of(base, 8, 2, 8, 1, 1)),
       put({0, 3, 0, 0, 0, 0}, bytes_of(base, 8, 2, 8, 1, 1)), put({0, 1, 0, 0, 0}, bytes_of(base, 8, 2, 8, 1, 1))});
  const auto get = [](Words words, std::vector<std::byte> payload) {
    return medium_request(kGetShape, std::move(words), std::move(payload));
  };
  // arguments: operation, place, levels, start, bytes, fixed
  v.refuses(
      kGetShape, "strided get",
      {get({0, 0, 0, 1, 0, 0, 16, 0}, bytes_of(base + v.size() - 8, 8, 2, 8)),
       get({0, 0, 0, 1, 0, 0, 24, 0}, bytes_of(base, 8, 2, 8)), get({0, 0, 0, 1, 8, 0, 16, 0}, bytes_of(base, 8, 2, 8)),
       get({0, 0, 0, 65, 0, 0, 16, 0}, bytes_of(base, 8, 2, 8)),
       get({0, 0, 0, kMany, 0, 0, 16, 0}, bytes_of(base, 8, 2, 8)),
       get({0, 0, 0, 1, 0, 0, kMany, 1}, bytes_of(base, 8, std::uint64_t{1} << 60U, 0)),
       get({0, 0, 0, 1, 0, 0, 16}, bytes_of(base, 8, 2, 8))});
  v.deliver(put({5, 1, 0, 0, 0, 0}, bytes_of(base, 8, 2, 16, 1, 2)));
  CHECK(std::memcmp(v.mine() + 16, bytes_of(2).data(), 8) == 0);
  v.deliver(get({6, 0, 0, 1, 0, 0, 16, 0}, bytes_of(base, 8, 2, 16)));
  REQUIRE(v.conduit.sent.size() == 2);
  CHECK(v.conduit.sent[1].payload == bytes_of(1, 2));

  // A completion runs a client's handler and no handler of the library.
  const std::vector<std::byte> same = bytes_of(base, 8, 2, 16, 1, 2);
  v.refuses(kPutShape, "strided put",
            {put({5, 1, 4, 0, 0, 0}, same), put({5, 1, 256 + 200, 0, 0, 0}, same), put({5, 1, kMany, 0, 0, 0}, same)});
  v.refuses(kPeerCompletion, "peer completion",
            {medium_request(kPeerCompletion, {4}, {}), medium_request(kPeerCompletion, {}, {}),
             medium_request(kPeerCompletion, {200}, std::vector<std::byte>(kMostPeerCompletion + 1))});
}

TEST_CASE("forged_transfers_of_lists_are_refused") {
  using namespace vis;
  Victim v;
  const std::uint64_t base = bits(v.mine());
  const std::uint64_t last = base + v.size() - 8;
  const auto put = [](Words words, std::vector<std::byte> payload) {
    return medium_request(kPutList, std::move(words), std::move(payload));
  };
  // arguments: operation, entries, uniform, handler, note
  v.refuses(kPutList, "vector or indexed put",
            {put({0, 1, 8, 0, 0}, bytes_of(last + 8, 1)), put({0, 2, 8, 0, 0}, bytes_of(base, last + 1, 1, 1)),
             put({0, 1, 0, 0, 0}, bytes_of(base, v.size() + 1, 1)), put({0, 1, 0, 0, 0}, bytes_of(base, 16, 1)),
             put({0, 1, 0, 0, 0}, bytes_of(base, 0, 1)), put({0, 1, 0, 0, 0}, bytes_of(base, ~std::uint64_t{0}, 1)),
             put({0, 3, 8, 0, 0}, bytes_of(base, 1)), put({0, kMany, 8, 0, 0}, bytes_of(base, 1)),
             put({0, 1, kMany, 0, 0}, bytes_of(base, 1)), put({0, 1, 8, 0, kMany}, bytes_of(base, 1)),
             put({0, 1, 8, 0}, bytes_of(base, 1))});
  const auto get = [](std::int32_t entries, std::int32_t uniform, std::int32_t bytes, std::vector<std::byte> payload) {
    return medium_request(kGetList, {0, 0, 0, entries, uniform, 0, 0, 0, 0, bytes, 0}, std::move(payload));
  };
  v.refuses(kGetList, "vector or indexed get",
            {get(1, 8, 8, bytes_of(last + 8)), get(1, 8, 16, bytes_of(base)), get(2, 8, 16, bytes_of(base)),
             get(kMany, 8, 8, bytes_of(base)), get(1, 0, 16, bytes_of(last, 16)),
             medium_request(kGetList, {0, 0, 0, 1, 8}, bytes_of(base))});

  // Pieces of a get, in replies with another place than requested.
  std::array<std::uint64_t, 4> landing{1, 1, 1, 1};
  const std::array<std::ptrdiff_t, 1> gaps{16};
  const std::array<Bytes, 1> two{2};
  Vis<RealHost> moves(v.endpoint, {.mechanism = Mechanism::pack});
  Event strided = moves.get_nb(Rank{1}, Strided{&landing[0], gaps, v.theirs.data(), gaps, 8, two});
  REQUIRE(v.conduit.sent.size() == 1);
  const Words of_shape = v.conduit.sent[0].words;
  const Words shape{of_shape[0], of_shape[1], of_shape[2]};
  v.refuses(kShapeReply, "strided get's pieces",
            {medium_reply(kShapeReply, shape + Words{0, 0}, bytes_of(7)),
             medium_reply(kShapeReply, shape + Words{0, 0}, bytes_of(7, 7, 7)),
             medium_reply(kShapeReply, Words{shape[0], shape[1], shape[2] + 1, 0, 0}, bytes_of(7, 7)),
             medium_reply(kShapeReply, Words{shape[0]} + wide(&landing) + Words{0, 0}, bytes_of(7, 7)),
             medium_reply(kShapeReply, shape, bytes_of(7, 7))});
  CHECK(landing == std::array<std::uint64_t, 4>{1, 1, 1, 1});
  v.deliver(medium_reply(kShapeReply, shape + Words{0, 0}, bytes_of(7, 8)));
  CHECK(landing == std::array<std::uint64_t, 4>{7, 1, 8, 1});
  CHECK(v.endpoint.test(strided));

  const std::array<Piece, 2> to{{{&landing[0], 8}, {&landing[2], 16}}};
  const std::array<Piece, 2> from{{{v.theirs.data(), 16}, {v.theirs.data() + 64, 8}}};
  Event listed = moves.get_nb(Rank{1}, Vector{to, from});
  REQUIRE(v.conduit.sent.size() == 2);
  const Words of_list = v.conduit.sent[1].words;
  const Words list{of_list[0], of_list[1], of_list[2]};
  v.refuses(kListReply, "vector or indexed get's pieces",
            {medium_reply(kListReply, list + Words{0, 0, 0, 0}, bytes_of(5, 5)),
             medium_reply(kListReply, list + Words{0, 0}, bytes_of(5, 5, 5)),
             medium_reply(kListReply, Words{list[0] + 1, list[1], list[2], 0, 0, 0, 0}, bytes_of(5, 5, 5))});
  CHECK(landing == std::array<std::uint64_t, 4>{7, 1, 8, 1});
  // A reply for another place can at worst reach other pieces of the same get. This one would reach beyond them.
  v.refuses(kListReply, "vector or indexed get's pieces",
            {medium_reply(kListReply, list + Words{1, 0, 8, 0}, bytes_of(5, 5, 5))});
  CHECK(landing == std::array<std::uint64_t, 4>{7, 1, 8, 1});
  CHECK_FALSE(v.endpoint.test(listed));
}

// ---- collectives

Mail long_request(HandlerIndex handler, Words words, std::size_t bytes, void* destination) {
  return {Category::long_message, true, handler, std::move(words), std::vector<std::byte>(bytes), Rank{1}, destination};
}

TEST_CASE("forged_messages_of_a_collective_are_refused") {
  using namespace teams;
  Victim v;
  Teams<RealHost> all(v.endpoint);
  std::vector<std::uint64_t> mine(2000, 1);
  Event event = all.world().reduce_all_nb(mine.data(), mine.data(), mine.size(),
                                          Reduction::of<std::uint64_t>(ReduceOp::add), Algorithm::recursive_doubling);
  REQUIRE(v.conduit.sent.size() == 2);
  const Mail first = v.conduit.sent[0];
  const Mail ready = v.conduit.sent[1];
  REQUIRE(first.handler == kFirst);
  REQUIRE(ready.handler == kReady);
  const std::size_t part = first.payload.size();
  const std::size_t rest = 16000 - part;
  const Words head{first.words[0], first.words[1], first.words[2]};
  const Words whole = wide(std::uint64_t{16000});
  const std::vector<std::byte> bytes(part);
  v.refuses(kFirst, "collective",
            {medium_request(kFirst, head, bytes), short_request(kFirst, head),
             medium_request(kFirst, head + Words{first.words[3]} + wide(part - 1), bytes),
             medium_request(kFirst, head + Words{first.words[3]} + whole, std::vector<std::byte>(kMostFirst + 8)),
             long_request(kFirst, head + Words{first.words[3]} + whole, 8, v.mine())});
  v.refuses(kPiece, "collective (more)",
            {medium_request(kPiece, head + wide(std::uint64_t{16000}), bytes_of(1)),
             medium_request(kPiece, head + wide(std::uint64_t{15993}), bytes_of(1)),
             medium_request(kPiece, head + wide(~std::uint64_t{0}), bytes_of(1)),
             medium_request(kPiece, head + Words{0}, bytes_of(1)), short_request(kPiece, head + Words{0, 0}),
             long_request(kPiece, head + wide(part), 8, v.mine())});
  Mail of_none = medium_request(kPiece, head + wide(part), bytes_of(1));
  of_none.source = Rank{0};
  CHECK(v.refusal(of_none).find("nobody asked for this piece") != std::string::npos);
  v.refuses(
      kReady, "collective (ready)",
      {short_request(kReady, head), short_request(kReady, head + Words{0}), short_request(kReady, head + Words{9}),
       short_request(kReady, head + Words{1, 0}), medium_request(kReady, head + Words{1}, bytes_of(1))});
  CHECK(v.refusal(short_request(kReady, head + Words{1} + wide(v.theirs.data())))  // the segment has 8192 bytes
            .find("rank 1 of the job asks for 16000 bytes outside its segment") != std::string::npos);
  // Right messages complete the collective.
  CHECK_FALSE(v.endpoint.test(event));
  v.deliver(short_request(kReady, head + Words{1}));
  v.deliver(medium_request(kFirst, head + Words{first.words[3]} + whole, bytes));
  for (std::size_t at = part; at < 16000; at += 2000) {
    v.deliver(medium_request(kPiece, head + wide(at), std::vector<std::byte>(std::min<std::size_t>(2000, 16000 - at))));
  }
  CHECK(rest > 0);
  CHECK(v.endpoint.test(event));
  CHECK(mine == std::vector<std::uint64_t>(2000, 1));
  // A message that does not fit the call is a mismatch, whatever it claims to be.
  event = all.world().reduce_all_nb(mine.data(), mine.data(), 1, Reduction::of<std::uint64_t>(ReduceOp::add));
  const Words next{head[0], head[1] + 1, head[2]};
  CHECK(v.refusal(medium_request(kFirst, next + Words{kMany}, bytes_of(1))).find("calls what is no collective") !=
        std::string::npos);
}

TEST_CASE("messages_that_come_before_their_collective_are_kept_up_to_a_bound") {
  using namespace teams;
  Victim v;
  Teams<RealHost> all(v.endpoint);
  const std::int32_t unknown = 5;
  const auto clearance = [](std::int32_t team, std::int32_t number) {
    return short_request(kReady, {team, number, 0, 1});
  };
  const auto first = [](std::int32_t team, std::int32_t number) { return short_request(kFirst, {team, number, 0, 0}); };
  for (const auto& [id, handler, what, mail] :
       {std::tuple(0, kFirst, "collective", +first), std::tuple(unknown, kFirst, "collective", +first),
        std::tuple(0, kReady, "collective (ready)", +clearance),
        std::tuple(unknown, kReady, "collective (ready)", +clearance)}) {
    const std::int32_t team = id;  // clang 14 lets no lambda capture a structured binding
    CAPTURE(team);
    for (std::size_t i = 0; i < most_early(2); ++i) v.deliver(mail(team, static_cast<std::int32_t>(i) + 1));
    v.refuses(handler, what, {mail(team, 7)});
  }
  Mail stranger = first(0, 3);
  stranger.source = Rank{7};
  CHECK(v.refusal(stranger).find("it is no member of the team") != std::string::npos);
}

}  // namespace
}  // namespace gasmeter::core::forged_messages_test
