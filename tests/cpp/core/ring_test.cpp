#include "gasmeter/core/ring.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "gasmeter/base/random.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "support/effort.hpp"

namespace gasmeter::core::ring_test {
namespace {

using ring::Header;
using ring::Kind;
using testing::rounds;

// Zeroed ring memory with guards around it.
class Memory {
 public:
  explicit Memory(Bytes bytes) : bytes_(bytes) {
    const Bytes all = ring::footprint(bytes) + 2 * kNoSharing;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kNoSharing, ring::round_up(all, kNoSharing))));
    std::memset(memory_.get(), 0, all);
    std::memset(memory_.get(), kGuard, kNoSharing);
    std::memset(memory_.get() + kNoSharing + ring::footprint(bytes), kGuard, kNoSharing);
  }
  [[nodiscard]] ring::Memory ends() const { return {memory_.get() + kNoSharing, bytes_}; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] bool guards_are_whole() const {
    const auto* before = reinterpret_cast<const unsigned char*>(memory_.get());
    const auto* after = before + kNoSharing + ring::footprint(bytes_);
    bool whole = true;
    for (Bytes i = 0; i < kNoSharing; ++i) whole = whole && before[i] == kGuard && after[i] == kGuard;
    return whole;
  }

 private:
  static constexpr unsigned char kGuard = 0x77;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  Bytes bytes_;
  std::unique_ptr<std::byte, Free> memory_;
};

// A message to send. All its fields follow from its number, so that a receiver in another thread can compute them.
struct Letter {
  HandlerIndex handler{};
  Kind kind = Kind::short_message;
  unsigned arguments = 0;
  Bytes payload = 0;
  Bytes most = 0;            // prepared room, of which `payload` bytes are sent
  bool is_given_up = false;  // prepared once before, filled and cancelled
  std::uint64_t fill = 0;    // start of the words of arguments and payload

  // Return a word that looks like a header: all ones, the header of a record that does not exist, or a small number.
  [[nodiscard]] std::uint64_t word(std::uint64_t i) const {
    switch ((fill + i) % 3) {
      case 0:
        return ~std::uint64_t{0};
      case 1:
        return Header::pack(HandlerIndex{9}, 3, Kind::medium, 64);
      default:
        return fill * kGoldenGamma + i + 1;
    }
  }
};

class Letters {
 public:
  Letters(std::uint64_t seed, Bytes ring_bytes) : random_(seed), largest_(ring::largest_payload(ring_bytes)) {}
  Letter next() {
    Letter letter;
    letter.handler = static_cast<HandlerIndex>(random_() % 256);
    letter.kind = std::array{Kind::short_message, Kind::medium, Kind::long_message}[random_() % 3];
    letter.arguments = static_cast<unsigned>(random_() % (conduit::kMaxArguments + 1));
    switch (random_() % 8) {
      case 0:
        letter.payload = largest_ - random_() % 20;
        break;
      case 1:
        letter.payload = random_() % (largest_ + 1);
        break;
      case 2:
        letter.payload = 0;
        break;
      default:
        letter.payload = random_() % 100;
    }
    letter.most = std::min<Bytes>(largest_, letter.payload + (random_() % 2 == 0 ? random_() % 1500 : 0));
    letter.is_given_up = random_() % 4 == 0;
    letter.fill = random_();
    return letter;
  }

 private:
  std::mt19937_64 random_;
  Bytes largest_;
};

// Write `bytes` bytes of the letter's words.
void write_words(std::byte* at, Bytes bytes, const Letter& letter, std::uint64_t from) {
  for (Bytes offset = 0; offset < bytes; offset += 8) {
    const std::uint64_t word = letter.word(from + offset / 8);
    std::memcpy(at + offset, &word, std::min<Bytes>(8, bytes - offset));
  }
}
bool has_words(const std::byte* at, Bytes bytes, const Letter& letter, std::uint64_t from) {
  for (Bytes offset = 0; offset < bytes; offset += 8) {
    const std::uint64_t word = letter.word(from + offset / 8);
    if (std::memcmp(at + offset, &word, std::min<Bytes>(8, bytes - offset)) != 0) return false;
  }
  return true;
}

// Reserve room for the most of a Medium, and write to all of it.
std::byte* reserve_and_lend(RingSender& sender, const Letter& letter) {
  std::byte* const record = sender.reserve(ring::record(Kind::medium, letter.arguments, letter.most));
  if (record == nullptr) return nullptr;
  std::byte* const payload = ring::payload_of(record, letter.arguments);
  std::memset(payload, 0xff, letter.most);
  return record;
}

// Return the bytes from a record's start to the end of the lent payload.
Bytes lent_bytes(std::byte* record, const Letter& letter) {
  return static_cast<Bytes>(ring::payload_of(record, letter.arguments) - record) + letter.most;
}

bool send(RingSender& sender, const Letter& letter) {
  if (letter.is_given_up) {
    std::byte* const lent = reserve_and_lend(sender, letter);
    if (lent == nullptr) return false;
    sender.take_back(ring::prefix(Kind::medium, letter.arguments), lent_bytes(lent, letter));
  }
  const bool is_lent = letter.kind == Kind::medium && letter.most > letter.payload;
  std::byte* const record = is_lent ? reserve_and_lend(sender, letter)
                                    : sender.reserve(ring::record(letter.kind, letter.arguments, letter.payload));
  if (record == nullptr) return false;
  const std::uint64_t header = Header::pack(letter.handler, letter.arguments, letter.kind, letter.payload);
  const Bytes prefix = ring::prefix(letter.kind, letter.arguments);
  std::memset(record + 8, 0xff, prefix - 8);  // padding holds garbage
  if (letter.kind == Kind::medium) {
    std::byte* const payload = ring::payload_of(record, letter.arguments);
    write_words(record + 8, Bytes{4} * letter.arguments, letter, 0);
    const Bytes padded = ring::round_up(letter.payload, ring::kGranule);
    std::memset(payload, 0xff, padded);
    write_words(payload, letter.payload, letter, 100);
    const Bytes length = static_cast<Bytes>(payload - record) + padded;
    if (is_lent) {
      sender.publish_part(header, length, lent_bytes(record, letter));
    } else {
      sender.publish(header, length);
    }
  } else {
    const Bytes to_arguments = letter.kind == Kind::long_message ? 16 : 8;
    if (letter.kind == Kind::long_message) write_words(record + 8, 8, letter, 50);
    write_words(record + to_arguments, Bytes{4} * letter.arguments, letter, 0);
    sender.publish_small(header, prefix);
  }
  return true;
}

enum class Received : std::uint8_t { nothing, pad, right, wrong };

// Take one record, compare it, and overwrite it as a handler may.
Received receive(RingReceiver& receiver, const Letter& expected) {
  const std::uint64_t word = receiver.peek();
  if (word == 0) return Received::nothing;
  const Header header = Header::unpack(word);
  if (header.kind == Kind::pad) {
    receiver.advance(header.length);
    receiver.announce();
    return Received::pad;
  }
  std::byte* const record = receiver.record();
  receiver.advance(header.length);
  bool right = header.handler == expected.handler && header.kind == expected.kind &&
               header.arguments == expected.arguments && header.size == expected.payload;
  if (right) {
    std::byte* const arguments = record + (header.kind == Kind::long_message ? 16 : 8);
    right = has_words(arguments, Bytes{4} * header.arguments, expected, 0);
    if (header.kind == Kind::long_message) right = right && has_words(record + 8, 8, expected, 50);
    if (header.kind == Kind::medium) {
      std::byte* const payload = ring::payload_of(record, header.arguments);
      right = right && reinterpret_cast<std::uintptr_t>(payload) % alignof(std::max_align_t) == 0;
      right = right && has_words(payload, header.size, expected, 100);
      std::memset(payload, 0xff, header.size);
    }
  }
  receiver.announce();
  return right ? Received::right : Received::wrong;
}

TEST_CASE("ring_delivers_what_a_queue_would") {
  for (const Bytes bytes : {4096U, 8192U, 16384U}) {
    for (std::uint64_t seed = 1; seed <= rounds(20); ++seed) {
      const Memory memory(bytes);
      RingSender sender(memory.ends());
      RingReceiver receiver(memory.ends());
      Letters letters(seed, bytes);
      std::deque<Letter> queue;
      std::mt19937_64 random(seed);
      std::uint64_t refused = 0;
      unsigned bias = 4;
      Letter next = letters.next();
      for (unsigned step = 0; step < 20'000; ++step) {
        // of 8: the ring is full for a while, then empty
        if (step % 500 == 0) bias = static_cast<unsigned>(random() % 9);
        if (random() % 8 < bias) {
          if (send(sender, next)) {
            queue.push_back(next);
            next = letters.next();
          } else {
            ++refused;
            REQUIRE_FALSE(queue.empty());
          }
          if (random() % 16 == 0) (void)sender.reserve(random() % 256 / 8 * 8 + 8);  // reserved and never published
        } else {
          const Received received = receive(receiver, queue.empty() ? Letter{} : queue.front());
          REQUIRE(received != Received::wrong);
          if (queue.empty()) REQUIRE(received != Received::right);
          if (received == Received::right) queue.pop_front();
          if (received == Received::nothing) REQUIRE(queue.empty());
        }
        REQUIRE(sender.position() - receiver.position() <= bytes);
      }
      CHECK(refused > 0);
      CHECK(sender.position() > 20 * bytes);
      CHECK(memory.guards_are_whole());
    }
  }
}

// Wherever its ends stand, an empty ring takes the largest record, so that no sender waits for ever.
TEST_CASE("empty_ring_takes_the_largest_record_at_every_position") {
  for (const Bytes bytes : {4096U, 16384U, 262144U}) {
    const Memory memory(bytes);
    RingSender sender(memory.ends());
    RingReceiver receiver(memory.ends());
    const Letter large{HandlerIndex{130}, Kind::medium, conduit::kMaxArguments, ring::largest_payload(bytes), 1};
    Letters letters(5, bytes);
    for (std::uint64_t i = 0; i < rounds(5'000); ++i) {
      REQUIRE(send(sender, large));
      while (receive(receiver, large) != Received::right) continue;
      Letter other = letters.next();
      other.payload %= 64;
      REQUIRE(send(sender, other));
      Received received = Received::pad;
      while (received == Received::pad) received = receive(receiver, other);
      REQUIRE(received == Received::right);
      REQUIRE(receive(receiver, other) == Received::nothing);
    }
  }
}

TEST_CASE("full_ring_refuses_and_goes_on_where_it_stopped") {
  const Memory memory(4096);
  RingSender sender(memory.ends());
  RingReceiver receiver(memory.ends());
  std::uint64_t next = 0;
  std::uint64_t expected = 0;
  const auto letter = [](std::uint64_t number) {
    return Letter{static_cast<HandlerIndex>(number % 256), Kind::short_message, 2, 0, number};
  };
  for (unsigned lap = 0; lap < 50; ++lap) {
    const std::uint64_t before = next;
    while (send(sender, letter(next))) ++next;
    CHECK_FALSE(send(sender, letter(next)));  // there is still no room
    CHECK(sender.stalls() == 2U * (lap + 1));
    CHECK(next - before >= 4096 / 4 / 16);  // at least a quarter is always usable
    CHECK(next - expected <= 4096 / 16);
    while (expected < next) {
      const Received received = receive(receiver, letter(expected));
      REQUIRE((received == Received::right || received == Received::pad));
      if (received == Received::right) ++expected;
    }
    CHECK(receive(receiver, {}) == Received::nothing);
  }
}

TEST_CASE("reservation_that_is_not_published_is_not_seen") {
  const Memory memory(4096);
  RingSender sender(memory.ends());
  RingReceiver receiver(memory.ends());
  for (unsigned i = 0; i < 1000; ++i) {
    REQUIRE(sender.reserve(512) != nullptr);
    // Only padding at the end of a lap is visible.
    CHECK((receiver.peek() == 0 || Header::kind_of(receiver.peek()) == Kind::pad));
    std::byte* const again = sender.reserve(16);
    CHECK(again == sender.reserve(16));
    const Letter letter{HandlerIndex{200}, Kind::short_message, 2, 0, i};
    REQUIRE(send(sender, letter));
    Received received = Received::pad;
    while (received == Received::pad) received = receive(receiver, letter);
    REQUIRE(received == Received::right);
  }
}

TEST_CASE("ring_between_two_threads_delivers_in_order") {
  for (const Bytes bytes : {4096U, 16384U}) {
    const std::uint64_t count = rounds(200'000);
    const Memory memory(bytes);
    std::thread producer([&] {
      RingSender sender(memory.ends());
      Letters letters(11, bytes);
      for (std::uint64_t i = 0; i < count; ++i) {
        const Letter letter = letters.next();
        while (!send(sender, letter)) std::this_thread::yield();
      }
    });
    RingReceiver receiver(memory.ends());
    Letters letters(11, bytes);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Letter letter = letters.next();
      for (;;) {
        const Received received = receive(receiver, letter);
        if (received == Received::nothing) std::this_thread::yield();
        if (received == Received::wrong) ++wrong;
        if (received == Received::right || received == Received::wrong) break;
      }
      if (wrong != 0) break;
    }
    if (wrong != 0) std::_Exit(1);  // the other thread would wait for ever
    producer.join();
    CHECK(receiver.peek() == 0);
    CHECK(memory.guards_are_whole());
  }
}

TEST_CASE("header_word_keeps_its_fields_and_is_never_zero") {
  for (const unsigned handler : {0U, 1U, 128U, 255U}) {
    for (unsigned arguments = 0; arguments <= conduit::kMaxArguments; ++arguments) {
      for (const Kind kind : {Kind::pad, Kind::short_message, Kind::medium, Kind::long_message}) {
        for (const Bytes size : {Bytes{0}, Bytes{1}, Bytes{4096}, Bytes{0xffffffffU}}) {
          const std::uint64_t word = Header::pack(static_cast<HandlerIndex>(handler), arguments, kind, size);
          const Header header = Header::unpack(word);
          CHECK(word != 0);
          CHECK(index(header.handler) == handler);
          CHECK(header.arguments == arguments);
          CHECK(header.kind == kind);
          CHECK(header.size == size);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gasmeter::core::ring_test
