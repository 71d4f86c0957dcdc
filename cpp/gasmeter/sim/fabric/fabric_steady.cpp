// State of a fabric's repeating traffic (engine/steady.hpp).
#include <functional>

#include "gasmeter/sim/engine/steady.hpp"
#include "gasmeter/sim/fabric/fabric_choices.hpp"
#include "gasmeter/sim/fabric/fabric_rings.hpp"
#include "gasmeter/sim/fabric/fabric_state.hpp"

namespace gasmeter::sim {

bool Fabric::add_way(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links,
                     std::uint32_t flow) const {
  if (rings_ || (choices_ && flow == kUnordered)) return false;
  Route route = topology_.route(from, to, flow);
  for (std::uint32_t vertex = from; vertex != to;) {
    const std::uint32_t link = first_output_[vertex] + topology_.next(vertex, to, route).port;
    links.push_back(link);
    vertex = outputs_[link].to;
  }
  return true;
}

void Fabric::walk(std::uint32_t link, StateWalk& walk, const std::function<void(Packet&)>& packet) {
  Output& output = outputs_[link];
  walk.free_from(output.free);
  walk.word(static_cast<std::uint64_t>(output.longest_wait.ps));
  walk.counter(output.bytes);
  walk.counter(output.packets);
  if (!has_limit()) return;
  CreditReturn credits = this->credits(output);
  // If nobody waits for credits, the time at which they are read makes no difference.
  if (!output.is_short) credits.take(walk.now(), output.room);
  for (std::uint32_t channel = 0; channel < channels_; ++channel) walk.word(output.room[channel]);
  credits.each([&walk](SimTime at, std::uint32_t channel) {
    walk.word(channel);
    walk.due(at);
    return at;
  });
  Input& input = inputs_[far_end(output)];
  const std::uint32_t channel = CreditReturn::channel_of(input.last);
  SimTime last = CreditReturn::instant(input.last);
  if (last > walk.now()) walk.word(channel);
  walk.free_from(last);
  input.last = CreditReturn::word(last, channel);
  walk.word(output.is_short ? 1 : 0);
  if (!output.shortage) return;
  Shortage& shortage = *output.shortage;
  walk.counter(shortage.packets);
  walk.word(shortage.waiting);
  walk.due(shortage.retry_at);
  for (std::uint32_t each = 0; each < channels_; ++each) {
    walk.word(shortage.found[each]);
    for (Action* blocked = shortage.blocked[each].front(); blocked != nullptr; blocked = blocked->next) {
      auto& waiting = static_cast<Packet&>(*blocked);
      walk_way(waiting, walk);
      walk.free_from(waiting.tail);
      packet(waiting);
    }
  }
}

void Fabric::walk(const Posted& entry, StateWalk& walk) const {
  if (entry.is_express()) return;  // the entry holds all that counts
  auto& packet = static_cast<Packet&>(*entry.action);
  walk_way(packet, walk);
  walk.due(packet.tail);
}

void Fabric::walk_way(const Packet& packet, StateWalk& walk) {
  walk.word(packet.vertex);
  walk.word(packet.link);
  walk.word(packet.channel);
  for (const std::uint32_t leg : packet.route.legs) walk.word(leg);
}

}  // namespace gasmeter::sim
