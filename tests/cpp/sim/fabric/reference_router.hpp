// The router architecture of sim/fabric once more, as plainly as possible: time in ticks, every router visited in every
// tick. Nothing is known ahead. It shares only wiring and ways (Topology) with the fabric.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/sim/topology/topology.hpp"

namespace gasmeter::sim::testing {

struct LinkTicks {
  unsigned wire = 10;     // ticks of a packet's bytes; all packets are alike
  unsigned latency = 10;  // of a link, and of a credit
  unsigned buffer = 0;    // packets per link and channel; 0: no limit
};

// When a packet is chosen for a link, the oldest that has a buffer: as soon as a buffer exists, or when the link falls
// free.
enum class Chosen : bool { with_buffer, with_link };

struct RouterOptions : LinkTicks {
  Chosen chosen = Chosen::with_buffer;
  unsigned window = 1;                       // packets of a terminal under way
  std::map<std::string, LinkTicks> classes;  // of links that differ
  // On one-way rings:
  unsigned echo = 8;  // factor by which an echo is shorter than a packet
  unsigned turn = 0;  // ticks from the last byte in one ring to the next ring
};

// Links may differ by class. Each ring of a way over one-way rings has its echo, which nobody receives.
//
// Each terminal keeps a window of packets under way. A packet's source learns of its arrival one latency after its last
// byte, without a link, and sends the next packet.
class ReferenceRouters {
 public:
  // `next_destination`: returns a terminal's next destination; called once per packet.
  ReferenceRouters(Topology topology, const RouterOptions& options,
                   std::function<std::uint32_t(std::uint32_t)> next_destination)
      : topology_(std::move(topology)),
        options_(options),
        next_destination_(std::move(next_destination)),
        routers_(topology_.vertices()) {
    for (std::uint32_t vertex = 0; vertex < topology_.vertices(); ++vertex) {
      for (std::uint32_t port = 0; port < topology_.ports(vertex); ++port) {
        if (!topology_.neighbour(vertex, port)) continue;
        Output& output = routers_[vertex].outputs[port];
        const auto link_class = options_.classes.find(topology_.link_classes()[topology_.port_class(vertex, port)]);
        output.link = link_class == options_.classes.end() ? LinkTicks(options_) : link_class->second;
        output.credits.assign(topology_.channels(), output.link.buffer);
      }
    }
    for (std::uint32_t terminal = 0; terminal < topology_.terminals(); ++terminal) {
      for (unsigned n = 0; n < options_.window; ++n) acknowledged_[0].push_back(terminal);
    }
  }

  // Return how many packets' last bytes have arrived by then.
  std::uint64_t run_until(std::int64_t tick) {
    for (; now_ < tick; ++now_) step();
    return delivered_;
  }

 private:
  struct Place {  // a buffer
    std::uint32_t vertex = 0;
    std::uint32_t port = 0;  // port of the link that ends here, at the link's beginning
    std::uint32_t channel = 0;
    bool exists = false;  // false: in the queue of a source
  };
  struct Waiting {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    Route route;
    Place place;
    std::uint32_t channel = 0;  // channel that it asks for
    std::int64_t tail = 0;      // tick of its last byte
    bool echo = false;
  };
  struct Output {
    LinkTicks link;
    std::list<Waiting> queue;    // in order of arrival
    std::deque<Waiting> chosen;  // packets with a buffer, in the order in which they go
    std::vector<unsigned> credits;
    std::int64_t free_at = 0;
  };
  struct Router {
    std::map<std::uint32_t, Output> outputs;  // by port
  };

  void step() {
    for (const Place& place : take(credits_)) {
      ++routers_[place.vertex].outputs.at(place.port).credits[place.channel];
    }
    delivered_ += take(complete_).size();
    for (auto& [vertex, packet] : take(starting_)) ask(vertex, packet);
    for (auto& [vertex, packet] : take(arriving_)) arrive(vertex, packet);
    for (const std::uint32_t terminal : take(acknowledged_)) {
      Waiting packet;
      packet.from = terminal;
      packet.to = next_destination_(terminal);
      packet.route = topology_.route(terminal, packet.to);
      packet.tail = now_;
      arrive(terminal, packet);
    }
    for (std::uint32_t vertex = 0; vertex < routers_.size(); ++vertex) {
      for (auto& [port, output] : routers_[vertex].outputs) serve(vertex, port, output);
    }
  }

  void arrive(std::uint32_t vertex, Waiting& packet) {
    const bool ends_ring = !packet.echo && topology_.one_way() && packet.place.exists && leaves_ring(vertex, packet);
    if (ends_ring) send_echo(vertex, packet);
    if (vertex == packet.to) {
      give_back(packet.place, packet.tail);
      if (packet.echo) return;
      complete_[packet.tail].push_back(vertex);
      acknowledged_[packet.tail + options_.latency].push_back(packet.from);
    } else if (ends_ring) {
      starting_[packet.tail + options_.turn].push_back({vertex, packet});
    } else {
      ask(vertex, packet);
    }
  }

  [[nodiscard]] bool leaves_ring(std::uint32_t vertex, const Waiting& packet) const {
    Route rest = packet.route;
    return vertex == packet.to || topology_.next(vertex, packet.to, rest).port != packet.place.port;
  }

  // Send an echo to the vertex of this ring whose coordinate in the ring's dimension is that of the packet's source.
  void send_echo(std::uint32_t vertex, const Waiting& packet) {
    const std::uint32_t dimension = packet.place.port / 2;
    std::uint32_t stride = 1;
    for (std::uint32_t i = 0; i < dimension; ++i) stride *= topology_.extents()[i];
    const std::uint32_t extent = topology_.extents()[dimension];
    Waiting echo;
    echo.echo = true;
    echo.from = vertex;
    echo.to = vertex - vertex / stride % extent * stride + packet.from / stride % extent * stride;
    echo.route = topology_.route(echo.from, echo.to);
    echo.tail = packet.tail;
    starting_[packet.tail].push_back({vertex, echo});
  }

  void ask(std::uint32_t vertex, Waiting& packet) {
    const Hop hop = topology_.next(vertex, packet.to, packet.route);
    packet.channel = hop.channel;
    routers_[vertex].outputs.at(hop.port).queue.push_back(packet);
  }

  void serve(std::uint32_t vertex, std::uint32_t port, Output& output) {
    const bool is_free = output.free_at <= now_;
    if (is_free || options_.chosen == Chosen::with_buffer) choose(output);
    if (!is_free || output.chosen.empty()) return;
    Waiting packet = output.chosen.front();
    output.chosen.pop_front();
    const unsigned wire = packet.echo ? output.link.wire / options_.echo : output.link.wire;
    output.free_at = std::max(now_ + wire, packet.tail);
    give_back(packet.place, output.free_at);
    packet.place = {vertex, port, packet.channel, true};
    packet.tail = output.free_at + output.link.latency;
    arriving_[now_ + output.link.latency].push_back({topology_.neighbour(vertex, port)->vertex, packet});
  }

  // Choose the oldest packet whose channel has a buffer, or all such packets.
  void choose(Output& output) {
    for (auto each = output.queue.begin(); each != output.queue.end();) {
      if (output.link.buffer != 0 && output.credits[each->channel] == 0) {
        ++each;
        continue;
      }
      if (output.link.buffer != 0) --output.credits[each->channel];
      output.chosen.push_back(*each);
      each = output.queue.erase(each);
      if (options_.chosen == Chosen::with_link) return;
    }
  }

  void give_back(const Place& place, std::int64_t left) {
    if (!place.exists) return;
    const LinkTicks& link = routers_[place.vertex].outputs.at(place.port).link;
    if (link.buffer != 0) credits_[left + link.latency].push_back(place);
  }

  template <class T>
  std::vector<T> take(std::map<std::int64_t, std::vector<T>>& calendar) {
    if (calendar.empty() || calendar.begin()->first != now_) return {};
    std::vector<T> list = std::move(calendar.begin()->second);
    calendar.erase(calendar.begin());
    return list;
  }

  Topology topology_;
  RouterOptions options_;
  std::function<std::uint32_t(std::uint32_t)> next_destination_;
  std::vector<Router> routers_;
  std::map<std::int64_t, std::vector<std::pair<std::uint32_t, Waiting>>> arriving_;  // heads, by instant
  std::map<std::int64_t, std::vector<std::pair<std::uint32_t, Waiting>>> starting_;  // echoes, and packets that turn
  std::map<std::int64_t, std::vector<std::uint32_t>> complete_;
  std::map<std::int64_t, std::vector<std::uint32_t>> acknowledged_;
  std::map<std::int64_t, std::vector<Place>> credits_;
  std::int64_t now_ = 0;
  std::uint64_t delivered_ = 0;
};

}  // namespace gasmeter::sim::testing
