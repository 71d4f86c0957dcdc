// Flood of raw_message_flood.hpp by a real MPI's non-blocking sends and receives.
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/raw_message_flood.hpp"
#include "gasmeter/networks/mpi/mpi_library.hpp"
#include "gasmeter/networks/mpi/raw/programs.hpp"

namespace gasmeter::networks::mpi::raw {

using namespace bench;

namespace {

class Windows {
 public:
  using Context = raw::Context;

  Windows(const Context& context, Rank peer, std::uint32_t /*window*/) : mpi_(context.messages), peer_(peer) {}
  [[nodiscard]] static std::uint32_t most_messages(const Context& /*context*/) { return 65536; }

  void barrier() { mpi_.barrier(); }
  void start_send(std::uint32_t number, std::span<const std::byte> bytes) {
    mutants::message(bytes.data(), bytes.size(),
                     [&](const void* data) { mpi_.start_send(number, peer_, data, bytes.size(), kTag); });
  }
  void start_receive(std::uint32_t number, std::span<std::byte> bytes) {
    mpi_.start_receive(number, peer_, bytes.data(), bytes.size(), kTag);
  }
  void wait_for_all(std::uint32_t count) { mpi_.wait_for_all(count); }
  void send_word() { mpi_.send(peer_, &word_, sizeof word_, kTag); }
  void receive_word() { (void)mpi_.receive(peer_, &word_, sizeof word_, kTag); }

 private:
  RawMessages& mpi_;
  Rank peer_;
  std::uint64_t word_ = 0;
};

}  // namespace

std::unique_ptr<Program> make_flood(Context context, const Settings& settings) {
  return std::make_unique<RawMessageFlood<Windows>>(context, settings);
}

}  // namespace gasmeter::networks::mpi::raw
