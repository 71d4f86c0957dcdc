// Medium requests and replies between ranks 0 and 1, by how the payload comes into the message: fixed payload,
// negotiated payload in the client's buffer, negotiated payload in the library's buffer.
#include <cstring>

#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/core/negotiated.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/operations.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

enum class Way : std::uint8_t { fixed, client, library };
enum class Generate : std::uint8_t { none, fill, copy };

Way parse_way(const std::string& op) {
  if (op == "medium") return Way::fixed;
  return op == "np-medium" ? Way::library : Way::client;
}

Generate parse_generate(const std::string& text) {
  if (text == "none") return Generate::none;
  return text == "fill" ? Generate::fill : Generate::copy;
}

template <class H>
class Am final : public Program {
 public:
  Am(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        way_(parse_way(settings.op)),
        generate_(parse_generate(settings.text("generate"))),
        size_(settings.size),
        seed_(settings.seed),
        source_(size_),
        buffer_(size_) {
    require_ranks(settings, 2);
    require_size(endpoint, settings, true, false, 0);
    fill_pattern(source_, seed_);
    fill_pattern(buffer_, seed_);
    std::array<core::HandlerEntry<H>, 2> entries{
        {{{}, &on_request, this, "am request"}, {{}, &on_reply, this, "am reply"}}};
    endpoint.register_handlers(entries);
    request_ = entries[0].index;
    reply_ = entries[1].index;
  }

  [[nodiscard]] bool compares() const override { return index(endpoint_.rank()) < 2; }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    const SimTime start = endpoint_.host().read_clock();
    if (endpoint_.rank() == Rank{0}) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        const std::uint64_t before = replies_;
        endpoint_.host().mark(Mark::begin);
        send_request();
        endpoint_.wait_until([&] { return replies_ != before; });
        endpoint_.host().mark(Mark::end);
      }
    }
    BlockResult result{endpoint_.host().read_clock() - start, iterations, {}};
    result.add_time_per_operation("round_trip");
    if (size_ != 0) result.add_bandwidth(2 * size_);
    endpoint_.barrier();
    return result;
  }

  // Check payloads that both sides know, one for each message, whatever `generate` is.
  Verification verify() override {
    endpoint_.barrier();
    verifying_ = true;
    arrived_ = sent_ = 0;
    (void)run(8);
    verifying_ = false;
    const Verification verification = found_;
    found_ = {};
    const bool takes_part = index(endpoint_.rank()) < 2;
    return {verification.checked,
            verification.errors + (takes_part && verification.checked != 8 * (size_ + 1) ? 1U : 0U), 0};
  }

 private:
  static Am& of(core::Token<H>& token) { return token.template context_as<Am>(); }

  // Make the payload in the buffer that is sent. A checked payload has the number of its round trip.
  void generate(void* at) {
    H& host = endpoint_.host();
    if (verifying_ || generate_ == Generate::copy) {
      host.copy(at, source_.data(), size_);
      return;
    }
    if (generate_ == Generate::none) return;
    if constexpr (H::kModelled) {
      host.generate(at, source_.data(), size_);
    } else {
      // Nothing in this loop is read back through memory, so that it is as fast as the stores.
      auto* const bytes = static_cast<std::byte*>(at);
      const Bytes words = size_ / 4;
      const std::uint32_t first = counter_;
      for (Bytes i = 0; i < words; ++i) {
        const std::uint32_t value = first + static_cast<std::uint32_t>(i);
        std::memcpy(bytes + 4 * i, &value, sizeof value);
      }
      counter_ = first + static_cast<std::uint32_t>(words);
    }
  }
  // Return the source of a fixed payload. A payload that is copied from elsewhere is sent from there, so that the
  // library's copy is the only one.
  [[nodiscard]] const void* fixed_source() {
    if (generate_ == Generate::copy || verifying_) return source_.data();
    generate(buffer_.data());
    return buffer_.data();
  }
  [[nodiscard]] void* client() const { return way_ == Way::client ? buffer_.data() : nullptr; }

  void send_request() {
    if (GASMETER_UNLIKELY(verifying_)) return send_checked([this] { request(); });
    request();
  }
  GASMETER_INLINE void request() {
    if (way_ == Way::fixed) {
      (void)endpoint_.request_medium(Rank{1}, request_, fixed_source(), size_, core::Flags::none);
      return;
    }
    core::Prepared<H> sd = endpoint_.prepare_medium(Rank{1}, client(), size_, size_, 0);
    generate(sd.data());
    (void)sd.commit(request_, size_, core::Flags::none);
  }
  GASMETER_INLINE void send_reply(core::Token<H>& token) {
    if (way_ == Way::fixed) {
      (void)token.reply_medium(reply_, fixed_source(), size_);
      return;
    }
    core::Prepared<H> sd = token.prepare_medium(client(), size_, size_, 0);
    generate(sd.data());
    (void)sd.commit(reply_, size_, core::Flags::none);
  }

  // Send a message with the number of its round trip. It is locally complete when the call returns: its source may
  // change.
  template <class Send>
  GASMETER_NOINLINE void send_checked(Send send) {
    const std::uint64_t number = sent_++;
    numbered::fill(source_, seed_, number);
    send();
    numbered::clear(source_, seed_, number);
    numbered::clear(buffer_, seed_, number);
  }

  void arrived(core::Token<H>& token) {
    if (GASMETER_LIKELY(!verifying_)) return;
    ++found_.checked;
    found_.errors += token.size() != size_ ? 1U : 0U;
    numbered::compare(found_, token.payload(), token.size(), seed_, arrived_++);
  }
  static void on_request(core::Token<H>& token) {
    Am& self = of(token);
    if (GASMETER_UNLIKELY(self.verifying_)) {
      self.arrived(token);
      return self.send_checked([&] { self.send_reply(token); });
    }
    self.send_reply(token);
  }
  static void on_reply(core::Token<H>& token) {
    of(token).arrived(token);
    ++of(token).replies_;
  }

  core::Endpoint<H>& endpoint_;
  Way way_;
  Generate generate_;
  Bytes size_;
  std::uint64_t seed_;
  AlignedBuffer source_;
  AlignedBuffer buffer_;
  HandlerIndex request_{};
  HandlerIndex reply_{};
  std::uint64_t replies_ = 0;
  std::uint32_t counter_ = 0;
  bool verifying_ = false;
  std::uint64_t arrived_ = 0;  // checked messages at this rank
  std::uint64_t sent_ = 0;     // checked messages from this rank
  Verification found_;
};

}  // namespace

void register_am(Registry& registry) {
  const MetricInfo round_trip{"round_trip", "a Medium request and a Medium reply of the same size"};
  const MetricInfo bandwidth{"bandwidth", "payload of requests and replies, one after the other"};
  registry.add(kernel_of<Am>(
      {.name = "am",
       .summary = "Medium requests and replies by how the payload comes into them: fixed or negotiated payload",
       .ops = {{"medium", "fixed payload: the library copies it", {round_trip, bandwidth}},
               {"np-medium", "negotiated payload in the library's own buffer", {round_trip, bandwidth}},
               {"np-medium-client", "negotiated payload in the client's buffer", {round_trip, bandwidth}}},
       .variants = {},
       .options =
           {{"generate",
             "choice",
             "none",
             "",
             {"none", "fill", "copy"},
             "what makes each payload, also of replies: nothing, integers stored one by one, a copy from elsewhere"}}},
      [](const Settings&) { return Bytes{64}; }));
}

}  // namespace gasmeter::kernels
