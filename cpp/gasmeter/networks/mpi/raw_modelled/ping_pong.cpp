// Ping-pong of raw_message_ping_pong.hpp by a send and a receive on each side. Each receive is posted while the next
// send is on its way, as in programs with blocking receives.
#include <utility>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/raw_message_ping_pong.hpp"
#include "gasmeter/networks/mpi/raw_modelled/programs.hpp"

namespace gasmeter::networks::mpi::raw_modelled {

using namespace bench;

namespace {

constexpr Tag kMessage{kFirstTag};
constexpr std::uint32_t kNumber = kFirstSlot;  // numbers below are the barrier's, one per round

template <class H>
class Line {
 public:
  using Context = raw_modelled::Context<H>;

  Line(const Context& context, Rank peer, std::span<std::byte> incoming) : mail_(context), peer_(peer) {
    if (index(context.rank) < 2) mail_.post(kFirstSlot, incoming, peer, kMessage);
  }

  void barrier() { mail_.barrier(); }
  void send(std::span<const std::byte> bytes) {
    mutants::message(bytes.data(), bytes.size(), [&](const void* data) {
      mail_.wait_until([&] { return mail_.done(kNumber); });
      mail_.start(kNumber, peer_, kMessage, {static_cast<const std::byte*>(data), bytes.size()});
    });
    finish();
  }
  Bytes receive() {
    is_over_ = true;
    return mail_.receive().bytes;
  }
  void finish() {
    if (std::exchange(is_over_, false)) mail_.restart(kFirstSlot);
  }

 private:
  Mail<H> mail_;
  Rank peer_;
  bool is_over_ = false;  // the receive has ended
};

}  // namespace

template <class H>
std::unique_ptr<Program> make_ping_pong(Context<H> context, const Settings& settings) {
  return std::make_unique<RawMessagePingPong<Line<H>>>(context, settings);
}
template std::unique_ptr<Program> make_ping_pong(Context<RealHost> context, const Settings& settings);
template std::unique_ptr<Program> make_ping_pong(Context<sim::ModelHost> context, const Settings& settings);

}  // namespace gasmeter::networks::mpi::raw_modelled
