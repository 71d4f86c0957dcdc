// What the LogGP model is fitted to, by the parametrised round trip of Hoefler et al. (2007), PRTT(n, d, s): rank 0
// sends n messages of s bytes, a pause of d after each but the last, and rank 1 answers the last one with s bytes. Few
// messages are under way at a time, so that nothing saturates:
//   round trip  PRTT(1, 0, s)
//   gap         (PRTT(n, 0, s) - PRTT(1, 0, s)) / (n - 1): what the slowest of sender, network and receiver takes
//   o_s         what the clock says beside the pauses in PRTT(n, d, s), a message, with pauses of a whole round trip
//   o_r         one poll of rank 0 that handles an answer which came long before (Kielmann et al., 2000)
// The two reads of the clock around a pause or a poll are taken off: the same loop without messages tells their cost.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/mutants.hpp"
#include "gasmeter/kernels/pattern.hpp"
#include "gasmeter/networks/ideal/ideal_network.hpp"

namespace gasmeter::kernels {
namespace {

constexpr std::int64_t kMostMessages = 1024;

std::uint64_t messages_of(const Settings& settings) {
  const std::int64_t messages = settings.integer("messages");
  if (messages < 2 || messages > kMostMessages) {
    throw UsageError("kernel loggp: option 'messages=" + std::to_string(messages) + "'; allowed are 2.." +
                     std::to_string(kMostMessages));
  }
  return static_cast<std::uint64_t>(messages);
}

// The experiments, on whatever sends and answers: Line has host(), send(last), answers(), look() (one poll) and
// await(answers).
template <class Line>
class Experiments {
 public:
  Experiments(Line& line, std::uint64_t messages) : line_(line), messages_(messages) {}

  BlockResult run(std::uint64_t iterations) {
    const SimTime start = now();
    const SimTime round_trips = time_of(iterations, [&] { train(1); });
    const SimTime trains = time_of(iterations, [&] { train(messages_); });
    // Long enough for all that is under way to come, however many messages that was.
    pause_ = SimTime{2 * std::max(round_trips.ps, trains.ps) / static_cast<std::int64_t>(iterations) + 1};
    const SimTime clock = spaced(iterations * messages_, false);
    SimTime sending;
    SimTime taking;
    for (std::uint64_t i = 0; i < iterations; ++i) {
      sending += spaced(messages_ - 1, true);
      line_.send(true);
      line_.await(1);
      taking += one_answer();
    }
    const auto count = static_cast<double>(iterations);
    const auto spaced_messages = static_cast<double>(iterations * (messages_ - 1));
    const double of_clock = clock.ns() / static_cast<double>(iterations * messages_);
    const double round_trip = round_trips.ns() / count;
    const double train = trains.ns() / count;
    BlockResult result{now() - start, iterations, {}};
    result.metrics = {{"round_trip", round_trip},
                      {"train", train},
                      {"gap", (train - round_trip) / static_cast<double>(messages_ - 1)},
                      {"send_overhead", std::max(0.0, sending.ns() / spaced_messages - of_clock)},
                      {"receive_overhead", std::max(0.0, taking.ns() / count - of_clock)}};
    return result;
  }

  // What rank 1 has to have received after a block.
  [[nodiscard]] std::uint64_t received_by(std::uint64_t iterations) const {
    return iterations * (1 + messages_ + messages_ + 1);
  }
  [[nodiscard]] static std::uint64_t answers_to(std::uint64_t iterations) { return iterations * 4; }

 private:
  [[nodiscard]] SimTime now() { return line_.host().now(); }

  void train(std::uint64_t messages) {
    for (std::uint64_t i = 1; i < messages; ++i) line_.send(false);
    line_.send(true);
    line_.await(1);
  }
  template <class Work>
  SimTime time_of(std::uint64_t iterations, Work work) {
    const SimTime start = now();
    for (std::uint64_t i = 0; i < iterations; ++i) work();
    return now() - start;
  }

  // Waits and looks at nothing: what comes meanwhile stays where it is. Returns for how long.
  SimTime pause() {
    const SimTime from = now();
    SimTime to = from;
    while (to - from < pause_) {
      line_.host().idle(from + pause_);
      to = now();
    }
    return to - from;
  }
  // The time of that many pauses beside the pauses, with a message before each or with none.
  SimTime spaced(std::uint64_t count, bool sends) {
    const SimTime start = now();
    SimTime paused;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (sends) line_.send(false);
      paused += pause();
    }
    return now() - start - paused;
  }
  // An answer that has come long before: polls until it is handled, by the first one if the conduit is not busy.
  SimTime one_answer() {
    line_.send(true);
    (void)pause();
    const SimTime from = now();
    line_.look_for(1);
    return now() - from;
  }

  Line& line_;
  std::uint64_t messages_;
  SimTime pause_{1};
};

enum class Category : std::uint8_t { am_short, am_medium, am_long };

Category parse_op(const std::string& name) {
  if (name == "am-short") return Category::am_short;
  return name == "am-medium" ? Category::am_medium : Category::am_long;
}

// Segment: a landing zone for Longs.
template <class H>
class LogGp final : public Program {
 public:
  LogGp(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        category_(parse_op(settings.op)),
        size_(category_ == Category::am_short ? 0 : settings.size),
        seed_(settings.seed),
        buffer_(size_),
        experiments_(*this, messages_of(settings)) {
    require_ranks(settings, 2);
    require_size(endpoint, settings, category_ == Category::am_medium, category_ == Category::am_long);
    std::array<core::HandlerEntry<H>, 3> entries{{{{}, &on_message, this, "loggp message"},
                                                  {{}, &on_last, this, "loggp last"},
                                                  {{}, &on_answer, this, "loggp answer"}}};
    endpoint.register_handlers(entries);
    message_ = entries[0].index;
    last_ = entries[1].index;
    answer_ = entries[2].index;
    fill_pattern(buffer_, seed_);
  }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    BlockResult result;
    if (endpoint_.rank() == Rank{0}) {
      result = experiments_.run(iterations);
      send(false);  // rank 1 waits for it, so that what it sends in the barrier is in no measured poll
    } else if (endpoint_.rank() == Rank{1}) {
      expected_ += experiments_.received_by(iterations) + 1;
      endpoint_.wait_until([&] { return received_ >= expected_; });
    }
    endpoint_.barrier();
    return result;
  }

  Verification verify() override {
    endpoint_.barrier();
    checking_ = true;
    (void)run(2);
    checking_ = false;
    Verification found = std::exchange(found_, {});
    // Every message was there, once.
    const std::uint64_t messages =
        endpoint_.rank() == Rank{0} ? experiments_.answers_to(2) : experiments_.received_by(2) + 1;
    if (index(endpoint_.rank()) < 2 && std::exchange(seen_, 0) != messages) ++found.errors;
    endpoint_.barrier();
    return found;
  }

  // --- for the experiments, on rank 0
  H& host() { return endpoint_.host(); }
  void send(bool last) {
    const HandlerIndex handler = last ? last_ : message_;
    switch (category_) {
      case Category::am_short:
        (void)endpoint_.request_short(Rank{1}, handler, core::Flags::none);
        break;
      case Category::am_medium:
        (void)endpoint_.request_medium(Rank{1}, handler, buffer_.data(), size_, core::Flags::none);
        break;
      case Category::am_long:
        (void)endpoint_.request_long(Rank{1}, handler, buffer_.data(), size_, endpoint_.segment(Rank{1}).address,
                                     core::Flags::none);
        break;
    }
  }
  void await(std::uint64_t more) {
    awaited_ += more;
    endpoint_.wait_until([&] { return answers_ >= awaited_; });
  }
  void look_for(std::uint64_t more) {
    awaited_ += more;
    while (answers_ < awaited_) (void)endpoint_.poll();
  }

 private:
  static LogGp& of(core::Token<H>& token) { return token.template context_as<LogGp>(); }

  // `stays`: nothing is written to the payload's memory before the handler returns.
  void arrived(core::Token<H>& token, bool stays) {
    if (GASMETER_LIKELY(!checking_)) return;
    ++seen_;
    ++found_.checked;
    found_.errors += token.size() != size_ ? 1U : 0U;
    if (!stays) return;
    found_.checked += token.size();
    found_.errors += count_differences(token.payload(), token.size(), seed_);
  }
  static void on_message(core::Token<H>& token) {
    LogGp& self = of(token);
    ++self.received_;
    self.arrived(token, self.category_ != Category::am_long);  // the next Long lands in the same place
  }
  static void on_last(core::Token<H>& token) {
    LogGp& self = of(token);
    ++self.received_;
    self.arrived(token, true);
    switch (self.category_) {
      case Category::am_short:
        (void)token.reply_short(self.answer_);
        break;
      case Category::am_medium:
        (void)token.reply_medium(self.answer_, self.buffer_.data(), self.size_);
        break;
      case Category::am_long:
        (void)token.reply_long(self.answer_, self.buffer_.data(), self.size_,
                               self.endpoint_.segment(token.source()).address);
        break;
    }
  }
  static void on_answer(core::Token<H>& token) {
    LogGp& self = of(token);
    ++self.answers_;
    self.arrived(token, true);
  }

  Operations<H> endpoint_;
  Category category_;
  Bytes size_;
  std::uint64_t seed_;
  AlignedBuffer buffer_;
  Experiments<LogGp> experiments_;
  HandlerIndex message_{};
  HandlerIndex last_{};
  HandlerIndex answer_{};
  std::uint64_t received_ = 0;
  std::uint64_t expected_ = 0;
  std::uint64_t answers_ = 0;
  std::uint64_t awaited_ = 0;
  bool checking_ = false;
  std::uint64_t seen_ = 0;
  Verification found_;
};

// On the toy network's own interface its parameters are the model's: o_s is nic_post, o_r nic_take.
class RawIdealLogGp final : public Program {
 public:
  RawIdealLogGp(RawIdeal context, const Settings& settings)
      : context_(context), seed_(settings.seed), packet_(settings.size), experiments_(*this, messages_of(settings)) {
    require_ranks(settings, 2);
    if (settings.op == "am-short") refuse_raw_op(settings, "ideal", "am-medium, am-long");
    if (packet_.size() > networks::ideal::kMaxPacketBytes || packet_.empty()) {
      throw UsageError("kernel loggp on raw@ideal: size " + std::to_string(settings.size) + " B; a packet holds 1.." +
                       std::to_string(networks::ideal::kMaxPacketBytes));
    }
    fill_pattern(packet_, seed_);
  }

  BlockResult run(std::uint64_t iterations) override {
    if (context_.rank == Rank{0}) return experiments_.run(iterations);
    if (context_.rank == Rank{1}) {
      const std::uint64_t messages = experiments_.received_by(iterations);
      for (std::uint64_t i = 0; i < messages; ++i) {
        const auto packet = receive();
        check(*packet);
        if (packet->bytes[0] == kLast) send(Rank{0}, true);
      }
    }
    return {};
  }

  Verification verify() override {
    checking_ = true;
    (void)run(2);
    checking_ = false;
    return std::exchange(found_, {});
  }

  sim::ModelHost& host() { return context_.host; }
  void send(bool last) { send(Rank{1}, last); }
  void await(std::uint64_t answers) {
    for (; answers != 0; --answers) check(*receive());
  }
  void look_for(std::uint64_t answers) { await(answers); }

 private:
  // The first byte says whether an answer is wanted; the others are the pattern.
  static constexpr std::byte kLast{1};

  void send(Rank to, bool last) {
    if (checking_) fill_pattern(packet_, seed_ + sent_++);
    packet_[0] = last ? kLast : std::byte{0};
    mutants::message(packet_.data(), packet_.size(), [&](const void* data) {
      const std::span sent(static_cast<const std::byte*>(data), packet_.size());
      while (context_.nic.try_send(to, sent) != Status::ok) context_.host.idle(kNever);
    });
  }
  networks::ideal::PacketHandle receive() {
    for (;;) {
      if (auto packet = context_.nic.take()) return packet;
      context_.host.idle(kNever);
    }
  }
  // In the order in which they were sent, each a pattern of its own.
  void check(const networks::ideal::Packet& packet) {
    if (!checking_) return;
    found_.checked += packet.size;
    found_.errors += packet.size != packet_.size() ? 1U : 0U;
    found_.errors += count_differences(packet.bytes.data(), packet.size, seed_ + received_++, 1);
  }

  RawIdeal context_;
  std::uint64_t seed_;
  std::vector<std::byte> packet_;
  Experiments<RawIdealLogGp> experiments_;
  bool checking_ = false;
  std::uint64_t sent_ = 0;      // that were checked
  std::uint64_t received_ = 0;  // likewise
  Verification found_;
};

}  // namespace

void register_loggp(Registry& registry) {
  const std::vector<MetricInfo> metrics{
      {"round_trip", "ns", "PRTT(1,0,s): a request and a reply of the same payload"},
      {"train", "ns", "PRTT(n,0,s): n requests back to back, and the reply to the last one"},
      {"gap", "ns", "of a further request in a train: the slowest of sender, network and receiver"},
      {"send_overhead", "ns", "o_s: the call that sends a request after a pause"},
      {"receive_overhead", "ns", "o_r: a poll that handles a reply which came before it"}};
  Kernel kernel =
      kernel_of<LogGp>({.name = "loggp",
                        .summary = "what `gasmeter fit loggp` takes: round trips, trains, overheads by message size",
                        .ops = {{"am-medium", "Medium requests and replies", metrics},
                                {"am-long", "Long requests and replies", metrics},
                                {"am-short", "Short requests and replies", metrics, false}},
                        .variants = {},
                        .options = {{"messages", "int", "8", "", {}, "n: requests of a train, 2 to 1024"}}},
                       [](const Settings& settings) { return settings.size; });
  kernel.raw_plan = [](const Settings&) { return Bytes{0}; };
  kernel.make_raw_ideal = [](RawIdeal context, const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<RawIdealLogGp>(context, settings);
  };
  kernel.check = [](const Settings& settings) { (void)messages_of(settings); };
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
