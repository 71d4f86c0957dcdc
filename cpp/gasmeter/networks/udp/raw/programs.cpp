#include "gasmeter/networks/udp/raw/programs.hpp"

#include "gasmeter/bench/raw_datagram_flood.hpp"
#include "gasmeter/bench/raw_datagram_ping_pong.hpp"

namespace gasmeter::networks::udp::raw {

const RawPrograms<Context>& programs() {
  static const RawPrograms<Context> all = {{"ping-pong", &bench::make_program<bench::RawDatagramPingPong, Context>},
                                           {"flood", &bench::make_program<bench::RawDatagramFlood, Context>},
                                           {"random-access", &make_random_access}};
  return all;
}

}  // namespace gasmeter::networks::udp::raw
