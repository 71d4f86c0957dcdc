// Measurements to which the LogGP model is fitted: round trips, trains, overheads of active messages. The experiments
// stand in bench/loggp_experiments.hpp.
#include <array>
#include <utility>
#include <vector>

#include "gasmeter/bench/loggp_experiments.hpp"
#include "gasmeter/bench/numbered_messages.hpp"
#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/operations.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

enum class Category : std::uint8_t { am_short, am_medium, am_long };

Category parse_category(const std::string& name) {
  if (name == "am-short") return Category::am_short;
  return name == "am-medium" ? Category::am_medium : Category::am_long;
}

// Return the number of slots for Longs; the first slot is the landing zone of timed blocks.
std::uint64_t slots_of_longs(const Settings& settings) {
  return numbered::slots_of(numbered::stride_of(settings.size), 0, settings.largest_segment);
}

// Segment: a landing zone for Longs, and behind it the slots of checking blocks.
template <class H>
class LogGp final : public Program {
 public:
  LogGp(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        category_(parse_category(settings.op)),
        size_(category_ == Category::am_short ? 0 : settings.size),
        slots_(slots_of_longs(settings)),
        seed_(settings.seed),
        buffer_(size_),
        experiments_(*this, loggp::messages_of(settings)) {
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

  [[nodiscard]] bool compares() const override { return index(endpoint_.rank()) < 2; }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    BlockResult result;
    if (endpoint_.rank() == Rank{0}) {
      result = experiments_.run(iterations);
      send(false);  // rank 1 waits for it, so that no measured poll meets the messages of rank 1's barrier
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
    spreads_ = category_ == Category::am_long && slots_ > 1 && !blocks_follow();
    has_slots_ = spreads_ && experiments_.received_by(2) + 1 <= slots_;
    for (std::uint64_t slot = 0; spreads_ && endpoint_.rank() == Rank{1} && slot < slots_; ++slot) {
      numbered::clear({landing(slot), size_}, seed_, slot);
    }
    next_ = 0;
    arrivals_.expect(seed_, size_,
                     endpoint_.rank() == Rank{0} ? experiments_.answers_to(2) : experiments_.received_by(2) + 1);
    (void)run(2);
    checking_ = spreads_ = has_slots_ = false;
    if (compares()) arrivals_.finish(found_);
    endpoint_.barrier();
    return std::exchange(found_, {});
  }

  // --- for the experiments, on rank 0
  H& host() { return endpoint_.host(); }
  void send(bool last) {
    const HandlerIndex handler = last ? last_ : message_;
    if (GASMETER_UNLIKELY(checking_)) return send_checked([=, this] { request(handler); });
    request(handler);
  }
  GASMETER_INLINE void request(HandlerIndex handler) {
    switch (category_) {
      case Category::am_short:
        (void)endpoint_.request_short(Rank{1}, handler, core::Flags::none);
        break;
      case Category::am_medium:
        (void)endpoint_.request_medium(Rank{1}, handler, buffer_.data(), size_, core::Flags::none);
        break;
      case Category::am_long:
        (void)endpoint_.request_long(
            Rank{1}, handler, buffer_.data(), size_,
            GASMETER_UNLIKELY(spreads_) ? landing(number_of(next_)) : endpoint_.segment(Rank{1}).address,
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

  // Return the number that the payload of a rank's n-th checked message carries.
  [[nodiscard]] std::uint64_t number_of(std::uint64_t n) const { return n % numbered::numbers_of(size_); }
  // Return the landing zone of a checked Long at rank 1, by number.
  [[nodiscard]] std::byte* landing(std::uint64_t number) const {
    return endpoint_.segment(Rank{1}).address + number % slots_ * numbered::stride_of(size_);
  }
  // Send a message that is locally complete when the call returns: its source may change.
  template <class Send>
  GASMETER_NOINLINE void send_checked(Send send) {
    const std::uint64_t number = number_of(next_);
    numbered::fill(buffer_, seed_, number);
    send();
    numbered::clear(buffer_, seed_, number);
    ++next_;
  }

  // Check an arrival. `stays`: nothing is written to the payload's memory before the handler returns.
  void arrived(core::Token<H>& token, bool stays) {
    if (GASMETER_LIKELY(!checking_)) return;
    if (!stays) return arrivals_.arrived_unread();
    const std::uint64_t number = arrivals_.arrived(found_, token.payload(), token.size());
    if (spreads_ && token.is_request() && token.payload() != landing(number)) ++found_.errors;
  }
  static void on_message(core::Token<H>& token) {
    LogGp& self = of(token);
    ++self.received_;
    // At a single place a later Long would overwrite this payload.
    self.arrived(token, self.category_ != Category::am_long || self.has_slots_);
  }
  static void on_last(core::Token<H>& token) {
    LogGp& self = of(token);
    ++self.received_;
    self.arrived(token, true);
    if (GASMETER_UNLIKELY(self.checking_)) return self.send_checked([&] { self.reply(token); });
    self.reply(token);
  }
  GASMETER_INLINE void reply(core::Token<H>& token) {
    switch (category_) {
      case Category::am_short:
        (void)token.reply_short(answer_);
        break;
      case Category::am_medium:
        (void)token.reply_medium(answer_, buffer_.data(), size_);
        break;
      case Category::am_long:
        (void)token.reply_long(answer_, buffer_.data(), size_, endpoint_.segment(token.source()).address);
        break;
    }
  }
  static void on_answer(core::Token<H>& token) {
    LogGp& self = of(token);
    ++self.answers_;
    self.arrived(token, true);
  }

  core::Endpoint<H>& endpoint_;
  Category category_;
  Bytes size_;
  std::uint64_t slots_;  // of checked Longs
  std::uint64_t seed_;
  AlignedBuffer buffer_;
  loggp::Experiments<LogGp> experiments_;
  HandlerIndex message_{};
  HandlerIndex last_{};
  HandlerIndex answer_{};
  std::uint64_t received_ = 0;
  std::uint64_t expected_ = 0;
  std::uint64_t answers_ = 0;
  std::uint64_t awaited_ = 0;
  bool checking_ = false;
  bool spreads_ = false;    // checked Longs have slots of their own
  bool has_slots_ = false;  // no later Long uses these slots again: a Long of an earlier train may come that late
  std::uint64_t next_ = 0;  // checked messages from this rank
  numbered::Messages arrivals_;
  Verification found_;
};

}  // namespace

void register_loggp(Registry& registry) {
  const std::vector<MetricInfo> metrics{
      {"round_trip", "PRTT(1,0,s): a request and a reply of the same payload"},
      {"train", "PRTT(n,0,s): n requests back to back, and the reply to the last one"},
      {"gap", "of a further request in a train: the slowest of sender, network and receiver"},
      {"send_overhead", "o_s: the call that sends a request after a pause"},
      {"receive_overhead", "o_r: a poll that handles a reply which came before it"}};
  Kernel kernel =
      kernel_of<LogGp>({.name = "loggp",
                        .summary = "what `gasmeter fit loggp` takes: round trips, trains, overheads by message size",
                        .ops = {{"am-medium", "Medium requests and replies", metrics},
                                {"am-long", "Long requests and replies", metrics},
                                {"am-short", "Short requests and replies; on conduits alone", metrics, false}},
                        .variants = {},
                        .options = {{"messages", "int", "8", "", {}, "n: requests of a train, 2 to 1024"}}},
                       [](const Settings& settings) {
                         if (settings.op != "am-long") return settings.size;
                         return slots_of_longs(settings) * numbered::stride_of(settings.size);
                       });
  kernel.check = [](const Settings& settings) { (void)loggp::messages_of(settings); };
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
