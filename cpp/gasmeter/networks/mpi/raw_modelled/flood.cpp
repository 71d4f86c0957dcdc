// Flood of raw_message_flood.hpp by sends and receives with equal numbers.
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/raw_message_flood.hpp"
#include "gasmeter/networks/mpi/raw_modelled/programs.hpp"

namespace gasmeter::networks::mpi::raw_modelled {

using namespace bench;

namespace {

constexpr Tag kStreamed{kFirstTag};
constexpr Tag kAnswer{kFirstTag + 1};
constexpr std::uint32_t kMostWindow = 65536;

template <class H>
class Windows {
 public:
  using Context = raw_modelled::Context<H>;

  Windows(const Context& context, Rank peer, std::uint32_t window)
      : mail_(context), peer_(peer), answer_(kFirstSlot + window) {}
  // The answer's send and a barrier's sends also take numbers.
  [[nodiscard]] static std::uint32_t most_messages(const Context& context) {
    return std::min(kMostWindow, context.service.limits().most_sends - kFirstSlot - 1);
  }

  void barrier() { mail_.barrier(); }
  void start_send(std::uint32_t number, std::span<const std::byte> bytes) {
    mutants::message(bytes.data(), bytes.size(), [&](const void* data) {
      mail_.wait_until([&] { return mail_.done(kFirstSlot + number); });
      mail_.start(kFirstSlot + number, peer_, kStreamed, {static_cast<const std::byte*>(data), bytes.size()});
    });
  }
  void start_receive(std::uint32_t number, std::span<std::byte> bytes) {
    mail_.post(kFirstSlot + number, bytes, peer_, kStreamed);
    ++posted_;
  }
  void wait_for_all(std::uint32_t /*count*/) {
    for (; posted_ != 0; --posted_) (void)mail_.receive();
    mail_.wait_until([&] { return mail_.all_done(); });
  }
  void send_word() {
    mail_.start(answer_, peer_, kAnswer, std::as_bytes(std::span(&word_, 1)));
    mail_.wait_until([&] { return mail_.done(answer_); });
  }
  void receive_word() {
    mail_.post(answer_, std::as_writable_bytes(std::span(&word_, 1)), peer_, kAnswer);
    (void)mail_.receive();
  }

 private:
  Mail<H> mail_;
  Rank peer_;
  std::uint32_t answer_;      // slot and number
  std::uint32_t posted_ = 0;  // receives whose messages have not been taken
  std::uint64_t word_ = 0;
};

}  // namespace

template <class H>
std::unique_ptr<Program> make_flood(Context<H> context, const Settings& settings) {
  return std::make_unique<RawMessageFlood<Windows<H>>>(context, settings);
}
template std::unique_ptr<Program> make_flood(Context<RealHost> context, const Settings& settings);
template std::unique_ptr<Program> make_flood(Context<sim::ModelHost> context, const Settings& settings);

}  // namespace gasmeter::networks::mpi::raw_modelled
