// Ping-pong between ranks 0 and 1: the round trip of an active message and its reply, the latency of one blocking put
// or get. Raw on the memory itself: two cache lines, one per direction, with the conduit's own spin instruction; plain
// stores and memcpy for put and get.
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/mutants.hpp"
#include "gasmeter/kernels/pattern.hpp"
#include "gasmeter/kernels/raw_extoll/raw_extoll.hpp"
#include "gasmeter/kernels/raw_ibv/raw_ibv.hpp"
#include "gasmeter/kernels/raw_mpi/raw_mpi.hpp"
#include "gasmeter/kernels/raw_two_sided/raw_two_sided.hpp"
#include "gasmeter/kernels/raw_udp/raw_udp.hpp"
#include "gasmeter/networks/ideal/ideal_network.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"

namespace gasmeter::kernels {
namespace {

enum class Op : std::uint8_t { am_short, am_medium, am_long, put, get, call };

Op parse_op(const std::string& name) {
  if (name == "am-short") return Op::am_short;
  if (name == "am-medium") return Op::am_medium;
  if (name == "am-long") return Op::am_long;
  if (name == "put") return Op::put;
  if (name == "get") return Op::get;
  return Op::call;
}

bool is_am(Op op) {
  return op == Op::am_short || op == Op::am_medium || op == Op::am_long;
}

// What put and get cost without doing anything: the arguments are passed, the call returns.
GASMETER_NOINLINE void empty_call(Rank rank, void* to, const void* from, Bytes bytes) {
  asm volatile("" : : "r"(index(rank)), "r"(to), "r"(from), "r"(bytes) : "memory");
}

// Segment: a landing zone of `size` bytes for requests, replies, puts, and as the source of gets.
template <class H>
class PingPong final : public Program {
 public:
  PingPong(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint), op_(parse_op(settings.op)), size_(settings.size), seed_(settings.seed), buffer_(size_) {
    require_ranks(settings, 2);
    require_size(endpoint, settings, op_ == Op::am_medium, op_ == Op::am_long);
    std::array<core::HandlerEntry<H>, 2> entries{{{{}, &on_ping, this, "ping"}, {{}, &on_pong, this, "pong"}}};
    endpoint.register_handlers(entries);
    ping_ = entries[0].index;
    pong_ = entries[1].index;
    remote_ = endpoint.segment(Rank{1}).address;
    fill_pattern(buffer_, seed_);
  }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    asked_ += iterations;
    BlockResult result;
    if (endpoint_.rank() == Rank{0}) {
      result = initiate(iterations);
    } else if (endpoint_.rank() == Rank{1} && is_am(op_)) {
      serve(iterations);
    }
    endpoint_.barrier();
    return result;
  }

  Verification verify() override {
    if (op_ == Op::call) return {};  // nothing goes anywhere
    const Rank self = endpoint_.rank();
    found_ = {};
    checking_ = true;
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      pattern_ = seed_ + round;
      if (self == Rank{0} && op_ != Op::get) fill_pattern(buffer_, pattern_);
      if (self == Rank{1} && op_ == Op::get) fill_pattern({endpoint_.segment().address, size_}, pattern_);
      (void)run(1);
      if (self == Rank{1} && op_ == Op::put) check(endpoint_.segment().address, size_);
      if (self == Rank{0} && op_ == Op::get) check(buffer_.data(), size_);
    }
    checking_ = false;
    // All messages so far have been handled, each once.
    if (is_am(op_) && index(self) < 2) {
      ++found_.checked;
      found_.errors += (self == Rank{0} ? pongs_ : pings_) != asked_ ? 1U : 0U;
    }
    return found_;
  }

 private:
  BlockResult initiate(std::uint64_t iterations) {
    H& host = endpoint_.host();
    const SimTime start = host.now();
    switch (op_) {
      case Op::am_short:
        am_round_trips(iterations, [&] { return endpoint_.request_short(Rank{1}, ping_, core::Flags::none); });
        break;
      case Op::am_medium:
        am_round_trips(iterations, [&] {
          return endpoint_.request_medium(Rank{1}, ping_, buffer_.data(), size_, core::Flags::none);
        });
        break;
      case Op::am_long:
        am_round_trips(iterations, [&] {
          return endpoint_.request_long(Rank{1}, ping_, buffer_.data(), size_, remote_, core::Flags::none);
        });
        break;
      case Op::put:
        size_ == 8 ? blocking_puts<8>(iterations) : blocking_puts<0>(iterations);
        break;
      case Op::get:
        size_ == 8 ? blocking_gets<8>(iterations) : blocking_gets<0>(iterations);
        break;
      case Op::call:
        for (std::uint64_t i = 0; i < iterations; ++i) empty_call(Rank{1}, remote_, buffer_.data(), size_);
        break;
    }
    BlockResult result{host.now() - start, iterations, {}};
    result.add_time_per_operation(is_am(op_) ? "round_trip" : "latency");
    return result;
  }

  template <class Request>
  GASMETER_INLINE void am_round_trips(std::uint64_t iterations, Request request) {
    const std::uint64_t end = pongs_ + iterations;
    for (std::uint64_t next = pongs_ + 1; next <= end; ++next) {
      endpoint_.host().mark(Mark::begin);
      (void)request();
      endpoint_.wait_until([&] { return pongs_ >= next; });
      endpoint_.host().mark(Mark::end);
    }
  }

  // A size known to the compiler makes an 8-byte put a store, as it is in a program that puts one word.
  template <Bytes Size>
  void blocking_puts(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      endpoint_.host().mark(Mark::begin);
      endpoint_.put(Rank{1}, remote_, buffer_.data(), Size != 0 ? Size : size_);
      endpoint_.host().mark(Mark::end);
      spin_step();
    }
  }
  template <Bytes Size>
  void blocking_gets(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      endpoint_.host().mark(Mark::begin);
      endpoint_.get(Rank{1}, buffer_.data(), remote_, Size != 0 ? Size : size_);
      endpoint_.host().mark(Mark::end);
      spin_step();
    }
  }

  void serve(std::uint64_t iterations) {
    const std::uint64_t end = served_ + iterations;
    endpoint_.wait_until([&] { return pings_ >= end; });
    served_ = end;
  }

  void check(const void* data, Bytes size) {
    const Bytes expected = op_ == Op::am_short ? 0 : size_;
    found_.checked += 1 + size;
    found_.errors += (size != expected ? 1U : 0U) + count_differences(data, size, pattern_);
  }

  static void on_ping(core::Token<H>& token) {
    auto& self = token.template context_as<PingPong>();
    ++self.pings_;
    if (GASMETER_UNLIKELY(self.checking_)) self.check(token.payload(), token.size());
    switch (self.op_) {
      case Op::am_medium:
        (void)token.reply_medium(self.pong_, token.payload(), token.size());
        break;
      case Op::am_long:
        (void)token.reply_long(self.pong_, token.payload(), token.size(),
                               self.endpoint_.segment(token.source()).address);
        break;
      default:
        (void)token.reply_short(self.pong_);
    }
  }

  static void on_pong(core::Token<H>& token) {
    auto& self = token.template context_as<PingPong>();
    ++self.pongs_;
    if (GASMETER_UNLIKELY(self.checking_)) self.check(token.payload(), token.size());
  }

  Operations<H> endpoint_;
  Op op_;
  Bytes size_;
  std::uint64_t seed_;
  AlignedBuffer buffer_;
  std::byte* remote_ = nullptr;
  HandlerIndex ping_{};
  HandlerIndex pong_{};
  std::uint64_t pings_ = 0;
  std::uint64_t pongs_ = 0;
  std::uint64_t served_ = 0;
  std::uint64_t asked_ = 0;  // of all blocks
  bool checking_ = false;
  std::uint64_t pattern_ = 0;
  Verification found_;
};

// Share of a rank, for messages: a word that counts, then the payload behind it, so that 8 bytes travel in the same
// cache line; for put and get: their target, on a page like a segment.
class RawPingPong final : public Program {
 public:
  RawPingPong(RawShm context, const Settings& settings)
      : memory_(context.memory),
        op_(parse_op(settings.op)),
        size_(is_am(op_) && op_ == Op::am_short ? 0 : settings.size),
        seed_(settings.seed),
        buffer_(size_) {
    require_ranks(settings, 2);
    fill_pattern(buffer_, seed_);
  }

  static Bytes share(const Settings& settings) { return kNoSharing + settings.size; }

  BlockResult run(std::uint64_t iterations) override {
    memory_.barrier();
    BlockResult result;
    const Rank self = memory_.rank();
    if (self == Rank{0}) {
      const SimTime start = memory_.host().now();
      initiate(iterations);
      result = {memory_.host().now() - start, iterations, {}};
      result.add_time_per_operation(is_am(op_) ? "round_trip" : "latency");
    } else if (self == Rank{1} && is_am(op_)) {
      echo(iterations);
    }
    memory_.barrier();
    return result;
  }

  Verification verify() override {
    Verification found;
    if (op_ == Op::call) return found;  // nothing goes anywhere
    const Rank self = memory_.rank();
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      const std::uint64_t seed = seed_ + round;
      if (self == Rank{0} && op_ != Op::get) fill_pattern(buffer_, seed);
      if (self == Rank{1} && op_ == Op::get) fill_pattern({target(), size_}, seed);
      (void)run(1);
      if (is_am(op_) && index(self) < 2) check_message(found, index(self), seed);
      if (self == Rank{1} && op_ == Op::put) check(found, target(), seed);
      if (self == Rank{0} && op_ == Op::get) check(found, buffer_.data(), seed);
      memory_.barrier();
    }
    return found;
  }

 private:
  [[nodiscard]] std::atomic<std::uint64_t>& word(std::uint32_t rank) const {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(memory_.share(rank));
  }
  [[nodiscard]] std::byte* payload(std::uint32_t rank) const { return memory_.share(rank) + 8; }

  void check(Verification& found, const std::byte* data, std::uint64_t seed) const {
    found.checked += size_;
    found.errors += count_differences(data, size_, seed);
  }
  // What the other one has sent.
  void check_message(Verification& found, std::uint32_t self, std::uint64_t seed) const {
    ++found.checked;
    found.errors += word(1 - self).load(std::memory_order_acquire) != count_ ? 1U : 0U;
    check(found, payload(1 - self), seed);
  }

  GASMETER_INLINE void await(const std::atomic<std::uint64_t>& word, std::uint64_t value) {
    memory_.wait_until([&] { return word.load(std::memory_order_acquire) == value; });
  }

  void initiate(std::uint64_t iterations) {
    switch (op_) {
      case Op::am_short:
      case Op::am_medium:
      case Op::am_long:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          if (size_ != 0) mutants::copy(payload(0), buffer_.data(), size_);
          ++count_;
          if (!mutants::drops()) word(0).store(count_, std::memory_order_release);
          await(word(1), count_);
        }
        break;
      case Op::put:
        size_ == 8 ? stores<8>(iterations) : stores<0>(iterations);
        break;
      case Op::get:
        size_ == 8 ? loads<8>(iterations) : loads<0>(iterations);
        break;
      case Op::call:
        for (std::uint64_t i = 0; i < iterations; ++i) empty_call(Rank{1}, payload(1), buffer_.data(), size_);
        break;
    }
  }

  void echo(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      await(word(0), ++count_);
      if (size_ != 0) mutants::copy(payload(1), payload(0), size_);
      word(1).store(count_, std::memory_order_release);
    }
  }

  template <Bytes Size>
  void stores(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      mutants::copy(target(), buffer_.data(), Size != 0 ? Size : size_);
      spin_step();
    }
  }
  template <Bytes Size>
  void loads(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      mutants::copy(buffer_.data(), target(), Size != 0 ? Size : size_);
      spin_step();
    }
  }
  [[nodiscard]] std::byte* target() const { return is_am(op_) ? payload(1) : memory_.share(1); }

  networks::shm::SharedMemory& memory_;
  Op op_;
  Bytes size_;
  std::uint64_t seed_;
  AlignedBuffer buffer_;
  std::uint64_t count_ = 0;
};

// The same on the toy network's interface: a packet there, a packet back.
class RawIdealPingPong final : public Program {
 public:
  RawIdealPingPong(RawIdeal context, const Settings& settings)
      : context_(context),
        op_(parse_op(settings.op)),
        seed_(settings.seed),
        packet_(op_ == Op::am_short ? kEmptyPacket : settings.size) {
    require_ranks(settings, 2);
    if (!is_am(op_)) refuse_raw_op(settings, "ideal", "am-short, am-medium, am-long");
    if (packet_.size() > networks::ideal::kMaxPacketBytes || packet_.empty()) {
      throw UsageError("kernel ping-pong on raw@ideal: size " + std::to_string(settings.size) +
                       " B; a packet holds 1.." + std::to_string(networks::ideal::kMaxPacketBytes));
    }
  }

  BlockResult run(std::uint64_t iterations) override {
    const SimTime start = context_.host.now();
    if (context_.rank == Rank{0}) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        context_.host.mark(Mark::begin);
        send(Rank{1}, packet_);
        check(*receive());
        context_.host.mark(Mark::end);
      }
    } else if (context_.rank == Rank{1}) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        const auto packet = receive();
        check(*packet);
        send(Rank{0}, {packet->bytes.data(), packet->size});
      }
    }
    BlockResult result{context_.host.now() - start, iterations, {}};
    result.add_time_per_operation("round_trip");
    return result;
  }

  Verification verify() override {
    checking_ = true;
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      pattern_ = seed_ + round;
      if (context_.rank == Rank{0}) fill_pattern(packet_, pattern_);
      (void)run(1);
    }
    checking_ = false;
    return std::exchange(found_, {});
  }

 private:
  // The smallest packet: a word, as in the raw ping-pong on memory.
  static constexpr Bytes kEmptyPacket = 8;

  void send(Rank to, std::span<const std::byte> bytes) {
    mutants::message(bytes.data(), bytes.size(), [&](const void* data) {
      const std::span sent(static_cast<const std::byte*>(data), bytes.size());
      while (context_.nic.try_send(to, sent) != Status::ok) context_.host.idle(kNever);
    });
  }
  networks::ideal::PacketHandle receive() {
    for (;;) {
      if (auto packet = context_.nic.take()) return packet;
      context_.host.idle(kNever);
    }
  }
  void check(const networks::ideal::Packet& packet) {
    if (!checking_) return;
    found_.checked += 1 + packet.size;
    found_.errors += packet.size != packet_.size() ? 1U : 0U;
    found_.errors += count_differences(packet.bytes.data(), packet.size, pattern_);
  }

  RawIdeal context_;
  Op op_;
  std::uint64_t seed_;
  std::vector<std::byte> packet_;
  bool checking_ = false;
  std::uint64_t pattern_ = 0;
  Verification found_;
};

}  // namespace

void register_ping_pong(Registry& registry) {
  const MetricInfo round_trip{"round_trip", "ns", "request until the reply's handler has run at the initiator"};
  const MetricInfo put{"latency", "ns", "one blocking put, remotely complete; target idle",
                       "initiation of one put: the initiator's own time for its stores; target idle"};
  const MetricInfo get{"latency", "ns", "one blocking get, data at the initiator; target idle"};
  Kernel kernel = kernel_of<PingPong>(
      {.name = "ping-pong",
       .summary = "round trip of an active message and its reply; latency of one blocking put or get",
       .ops = {{"am-short", "Short request, Short reply, no arguments", {round_trip}, false},
               {"am-medium", "Medium request, Medium reply of the same payload", {round_trip}},
               {"am-long", "Long request, Long reply of the same payload", {round_trip}},
               {"put", "blocking puts into rank 1", {put}},
               {"get", "blocking gets from rank 1", {get}},
               {"call",
                "an empty call with the arguments of a put, for scale: an operation that is inlined has no such cost",
                {{"latency", "ns", "one call that does nothing"}},
                false}},
       .variants = {},
       .options = {}},
      [](const Settings& settings) { return settings.size; });
  kernel.raw_plan = &RawPingPong::share;
  kernel.make_raw_shm = [](RawShm context, const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<RawPingPong>(context, settings);
  };
  kernel.make_raw_ideal = [](RawIdeal context, const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<RawIdealPingPong>(context, settings);
  };
  kernel.make_raw_extoll = &raw_extoll::make_ping_pong;
  kernel.make_raw_ibv = &raw_ibv::make_ping_pong;
  kernel.make_raw_udp = &raw_udp::make_ping_pong<RawUdp>;
  kernel.make_raw_ethernet = &raw_udp::make_ping_pong<RawEthernet>;
  kernel.make_raw_mpi = &raw_mpi::make_ping_pong;
  kernel.make_raw_two_sided = &raw_two_sided::make_ping_pong<sim::ModelHost>;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
