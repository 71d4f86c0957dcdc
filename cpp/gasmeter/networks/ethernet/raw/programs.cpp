#include "gasmeter/networks/ethernet/raw/programs.hpp"

#include "gasmeter/bench/raw_datagram_flood.hpp"
#include "gasmeter/bench/raw_datagram_ping_pong.hpp"

namespace gasmeter::networks::ethernet::raw {

const RawPrograms<Context>& programs() {
  static const RawPrograms<Context> all = {{"ping-pong", &bench::make_program<bench::RawDatagramPingPong, Context>},
                                           {"flood", &bench::make_program<bench::RawDatagramFlood, Context>}};
  return all;
}

}  // namespace gasmeter::networks::ethernet::raw
