// Ping-pong of raw_message_ping_pong.hpp by MPI_Send and MPI_Recv.
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/raw_message_ping_pong.hpp"
#include "gasmeter/networks/mpi/mpi_library.hpp"
#include "gasmeter/networks/mpi/raw/programs.hpp"

namespace gasmeter::networks::mpi::raw {

using namespace bench;

namespace {

class Line {
 public:
  using Context = raw::Context;

  Line(const Context& context, Rank peer, std::span<std::byte> incoming)
      : messages_(context.messages), peer_(peer), incoming_(incoming) {}

  void finish() {}
  void barrier() { messages_.barrier(); }
  void send(std::span<const std::byte> bytes) {
    mutants::message(bytes.data(), bytes.size(),
                     [&](const void* data) { messages_.send(peer_, data, bytes.size(), kTag); });
  }
  Bytes receive() { return messages_.receive(peer_, incoming_.data(), incoming_.size(), kTag).bytes; }

 private:
  RawMessages& messages_;
  Rank peer_;
  std::span<std::byte> incoming_;
};

}  // namespace

std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings) {
  return std::make_unique<RawMessagePingPong<Line>>(context, settings);
}

}  // namespace gasmeter::networks::mpi::raw
