// Rank 0 sends Mediums to receivers that sleep most of the time. In a static schedule a message waits until its
// receiver makes room. In a dynamic schedule it is refused then, and another receiver has its turn.
#include <algorithm>
#include <optional>
#include <vector>

#include "gasmeter/bench/numbered_messages.hpp"
#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/resolved.hpp"
#include "gasmeter/bench/sleep.hpp"
#include "gasmeter/core/teams/teams.hpp"
#include "gasmeter/kernels/kernel.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

enum class ImmediateOp : std::uint8_t { compare, all_static, dynamic };

ImmediateOp immediate_op(const std::string& name) {
  if (name == "compare") return ImmediateOp::compare;
  return name == "static" ? ImmediateOp::all_static : ImmediateOp::dynamic;
}

// All ranks but 0 receive. Arguments of a request: its number, and how many there are.
template <class H>
class Immediate final : public Program, public Resolves {
 public:
  Immediate(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        op_(immediate_op(settings.op)),
        retries_(settings.text("policy") == "retry"),
        receivers_(settings.ranks - 1),
        per_receiver_(share_of(settings)),
        block_(static_cast<std::uint64_t>(settings.integer("block"))),
        sleep_(SimTime::from_ns(settings.number("sleep") * 1e3)),
        seed_(settings.seed),
        default_payload_(settings.given.contains("payload") ? 0 : static_cast<Bytes>(settings.integer("payload"))),
        source_(default_payload_ == 0 ? static_cast<Bytes>(settings.integer("payload"))
                                      : std::min(default_payload_, endpoint.max_medium())) {
    require_ranks(settings, 2);
    if (source_.size() > endpoint.max_medium()) {
      throw UsageError("kernel immediate: payload=" + std::to_string(source_.size()) +
                       " exceeds the largest Medium payload of " + std::to_string(endpoint.max_medium()) + " B here");
    }
    if (block_ == 0) block_ = per_receiver_;
    if (settings.text("finish") == "barrier") teams_.emplace(endpoint);
    fill_pattern(source_, seed_);
    std::array<core::HandlerEntry<H>, 3> entries{{{{}, &on_message, this, "immediate"},
                                                  {{}, &on_end, this, "immediate end"},
                                                  {{}, &on_ended, this, "immediate ended"}}};
    endpoint.register_handlers(entries);
    message_ = entries[0].index;
    end_ = entries[1].index;
    ended_ = entries[2].index;
  }

  [[nodiscard]] bool compares() const override { return endpoint_.rank() != Rank{0}; }

  BlockResult run(std::uint64_t iterations) override {
    SimTime of_static{};
    SimTime of_dynamic{};
    for (std::uint64_t i = 0; i < iterations; ++i) {
      if (op_ != ImmediateOp::dynamic) of_static += exchange(false, per_receiver_);
      if (op_ != ImmediateOp::all_static) of_dynamic += exchange(true, per_receiver_);
    }
    BlockResult result{of_static + of_dynamic, iterations, {}};
    const SimTime shown = op_ == ImmediateOp::all_static ? of_static : of_dynamic;
    const auto exchanges = static_cast<double>(iterations);
    if (op_ == ImmediateOp::compare) result.metrics.emplace_back("speedup", of_static.seconds() / of_dynamic.seconds());
    result.metrics.emplace_back("latency", shown.ns() / exchanges);
    const auto messages = static_cast<double>(per_receiver_ * receivers_);
    result.metrics.emplace_back("rate", exchanges * messages / shown.seconds());
    return result;
  }

  // Check both schedules, with so many messages that receivers must be waited for.
  Verification verify() override {
    const std::uint64_t checked = std::clamp(kChecked / receivers_, kFewestChecked, kMostChecked);
    verifying_ = true;
    found_ = {};
    for (const bool dynamic : {false, true}) {
      const bool receives = endpoint_.rank() != Rank{0};
      if (receives) messages_.expect(seed_of(dynamic, endpoint_.rank()), source_.size(), checked, checked);
      (void)exchange(dynamic, checked);
      if (receives) messages_.finish(found_);
    }
    verifying_ = false;
    return found_;
  }

  // Report the default payload, where it has been lowered to the largest Medium.
  [[nodiscard]] Resolved resolved() override {
    if (default_payload_ <= source_.size()) return {};
    return {{"payload", std::to_string(source_.size())}};
  }

  static std::uint64_t share_of(const Settings& settings) {
    const auto receivers = std::max<std::uint64_t>(1, settings.ranks - 1);
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(settings.integer("messages")) / receivers);
  }

 private:
  // Messages of a verification: 600 to all receivers together, but more to each than it has room for.
  static constexpr std::uint64_t kChecked = 600;
  static constexpr std::uint64_t kFewestChecked = 30;
  static constexpr std::uint64_t kMostChecked = 150;
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  // Run one exchange; the time is rank 0's, until it knows that the exchange has finished.
  SimTime exchange(bool dynamic, std::uint64_t per_receiver) {
    ended_seen_ = 0;
    received_ = 0;
    expected_ = kUnknown;
    endpoint_.barrier();
    const SimTime start = endpoint_.host().read_clock();
    if (endpoint_.rank() == Rank{0}) {
      verifying_ ? send<true>(dynamic, per_receiver) : send<false>(dynamic, per_receiver);
      teams_ ? meet() : finish(per_receiver);
    } else if (teams_) {
      sleep_until_all_meet();
    } else {
      while (received_ != expected_) {
        sleep(endpoint_.host(), sleep_);
        (void)endpoint_.poll();
      }
      (void)endpoint_.request_short(Rank{0}, ended_, core::Flags::none);
    }
    const SimTime elapsed = endpoint_.host().read_clock() - start;
    if (teams_ && endpoint_.rank() != Rank{0}) {
      endpoint_.wait_until([&] { return received_ >= per_receiver; });  // a barrier may end before they come
    }
    endpoint_.barrier();
    return elapsed;
  }

  // With finish=barrier, receivers enter the barrier before anything has come, rank 0 when all is sent.
  void meet() {
    core::Event all = teams_->world().barrier_nb();
    if (!all.is_done()) endpoint_.wait(all);
  }
  void sleep_until_all_meet() {
    core::Event all = teams_->world().barrier_nb();
    while (!endpoint_.test(all)) {
      sleep(endpoint_.host(), sleep_);
      (void)endpoint_.poll();
    }
  }

  template <bool kChecking>
  void send(bool dynamic, std::uint64_t per_receiver) {
    std::vector<std::uint64_t> sent(receivers_, 0);
    std::uint64_t left = per_receiver * receivers_;
    while (left != 0) {
      for (std::uint32_t receiver = 0; receiver < receivers_; ++receiver) {
        const std::uint64_t until = std::min(per_receiver, sent[receiver] + block_);
        while (sent[receiver] < until && send_one<kChecking>(dynamic, receiver, sent[receiver])) {
          ++sent[receiver];
          --left;
        }
      }
    }
  }

  // Send a message; false: it is another receiver's turn. Nothing is polled between messages that are sent.
  template <bool kChecking>
  bool send_one(bool dynamic, std::uint32_t receiver, std::uint64_t number) {
    const auto attempt = [&](core::Flags flags) {
      const Rank to{receiver + 1};
      if constexpr (kChecking) numbered::fill(source_, seed_of(dynamic, to), number);
      const Status status = endpoint_.request_medium(to, message_, source_.data(), source_.size(), flags,
                                                     static_cast<std::int32_t>(number));
      // The message is locally complete: its source may change.
      if constexpr (kChecking) numbered::clear(source_, seed_of(dynamic, to), number);
      return status == Status::ok;
    };
    if (!dynamic) return attempt(core::Flags::none);
    if (attempt(core::Flags::immediate)) return true;
    (void)endpoint_.poll();
    return retries_ && attempt(core::Flags::immediate);
  }

  // End an exchange of either schedule: nobody waits for a receiver while another could be told.
  void finish(std::uint64_t per_receiver) {
    std::vector<bool> notified(receivers_, false);
    std::uint32_t count = 0;
    while (count < receivers_) {
      for (std::uint32_t receiver = 0; receiver < receivers_; ++receiver) {
        if (notified[receiver]) continue;
        notified[receiver] = endpoint_.request_short(Rank{receiver + 1}, end_, core::Flags::immediate,
                                                     static_cast<std::int32_t>(per_receiver)) == Status::ok;
        count += notified[receiver] ? 1U : 0U;
      }
      if (count < receivers_ && endpoint_.poll() == 0) endpoint_.host().idle(next_look());
    }
    endpoint_.wait_until([&] { return ended_seen_ == receivers_; });
  }
  // Return the seed of a checked message's data: every schedule and receiver has its own.
  [[nodiscard]] std::uint64_t seed_of(bool dynamic, Rank receiver) const {
    return seed_ + 2 * index(receiver) + (dynamic ? 1U : 0U);
  }
  // Return when to look again: a real host gives its core away, a modelled one looks again soon.
  [[nodiscard]] SimTime next_look() { return endpoint_.host().read_clock() + SimTime::from_ns(1000); }

  static Immediate& of(core::Token<H>& token) { return token.template context_as<Immediate>(); }
  static void on_message(core::Token<H>& token) {
    Immediate& self = of(token);
    ++self.received_;
    if (GASMETER_LIKELY(!self.verifying_)) return;
    const std::uint64_t number = static_cast<std::uint32_t>(token.argument(0));
    self.messages_.arrived(self.found_, number, token.payload(), token.size());
  }
  // Note how many messages there are; this may come before the last of them.
  static void on_end(core::Token<H>& token) {
    of(token).expected_ = static_cast<std::uint64_t>(static_cast<std::uint32_t>(token.argument(0)));
  }
  static void on_ended(core::Token<H>& token) { ++of(token).ended_seen_; }

  core::Endpoint<H>& endpoint_;
  std::optional<core::Teams<H>> teams_;  // with finish=barrier alone, since teams add to the price of each poll
  ImmediateOp op_;
  bool retries_;
  std::uint32_t receivers_;
  std::uint64_t per_receiver_;
  std::uint64_t block_;
  SimTime sleep_;
  std::uint64_t seed_;
  Bytes default_payload_;  // 0: the client chose it
  AlignedBuffer source_;
  HandlerIndex message_{};
  HandlerIndex end_{};
  HandlerIndex ended_{};
  std::uint32_t ended_seen_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t expected_ = kUnknown;
  bool verifying_ = false;
  numbered::Messages messages_;
  Verification found_;
};

void check_settings(const Settings& settings) {
  const auto refuse = [&](const std::string& name, const std::string& allowed) {
    throw UsageError("kernel immediate: option '" + name + "=" + settings.text(name) + "': allowed are " + allowed);
  };
  constexpr std::int64_t kMostMessages = 1'000'000'000;
  if (settings.integer("messages") < 1 || settings.integer("messages") > kMostMessages) {
    refuse("messages", "1 to " + std::to_string(kMostMessages));
  }
  if (settings.integer("block") < 0) refuse("block", "messages in a row to one receiver, 1 and more; 0: all of them");
  if (settings.integer("payload") < 0) refuse("payload", "bytes, 0 and more");
  if (!(settings.number("sleep") >= 0) || settings.number("sleep") > 1e6) refuse("sleep", "0 to 1000000 us");
}

}  // namespace

void register_immediate(Registry& registry) {
  const auto latency = [](const std::string& schedule) {
    return MetricInfo{
        "latency", "the whole exchange by the " + schedule +
                       " schedule, until rank 0 knows that every receiver has handled its last message, or by option "
                       "finish that a barrier is over"};
  };
  const auto rate = [](const std::string& schedule) {
    return MetricInfo{"rate", "messages to all receivers together, by the " + schedule + " schedule"};
  };
  Kernel kernel = kernel_of<Immediate>(
      {.name = "immediate",
       .summary = "Mediums from rank 0 to receivers that sleep: what refusing instead of waiting gains",
       .ops = {{"compare",
                "both schedules, one after the other",
                {{"speedup", "time of the static schedule over that of the dynamic one, of whole exchanges"},
                 latency("dynamic"),
                 rate("dynamic")},
                false},
               {"static",
                "in a fixed order; a message waits until its receiver makes room",
                {latency("static"), rate("static")},
                false},
               {"dynamic",
                "immediate messages; one that is refused goes after the other receivers' turns",
                {latency("dynamic"), rate("dynamic")},
                false}},
       .variants = {},
       .options =
           {{"block", "int", "0", "messages", {}, "in a row to one receiver before the next; 0: all of them"},
            {"messages", "int", "20000", "messages", {}, "of one exchange, to all receivers together"},
            {"payload",
             "size",
             "4032",
             "B",
             {},
             "payload of a message; by default no more than the largest Medium of the conduit",
             false,
             true},
            {"policy",
             "choice",
             "retry",
             "",
             {"retry", "next"},
             "after a refusal: poll and try once more, or poll and go to the next receiver"},
            {"finish",
             "choice",
             "messages",
             "",
             {"messages", "barrier"},
             "what ends an exchange: receivers are told how many messages there were, and say when they have "
             "handled them; or a non-blocking barrier, which receivers enter first, and rank 0 when all is sent"},
            {"sleep", "float", "500", "us", {}, "between two polls of a receiver"}}},
      [](const Settings&) { return Bytes{64}; });
  kernel.check = &check_settings;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
