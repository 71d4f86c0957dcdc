#include "gasmeter/networks/gm/gm_port.hpp"

#include <algorithm>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/networks/gm/gm_network.hpp"

namespace gasmeter::networks::gm {

using conduit::SharedPrice;

namespace {

std::string text_of(Rank rank) {
  return "rank " + std::to_string(index(rank));
}

void require_address(Rank by, const char* operation, const void* remote, Bytes bytes) {
  if (remote != nullptr && bytes <= most_bytes(kMostSizeClass)) return;
  throw UsageError("gm: " + text_of(by) + "'s " + operation + " of " + std::to_string(bytes) + " bytes; at most " +
                   std::to_string(most_bytes(kMostSizeClass)) + " to an address are allowed");
}

}  // namespace

GmPort::GmPort(GmNetwork& network, sim::ModelHost host)
    : network_(network),
      host_(host),
      events_(network.engine(), host.node(), host.rank()),
      registered_("gm", host.rank()),
      tokens_(0, network.parameters().send_tokens),
      sendings_(network.parameters().send_tokens),
      receive_tokens_(network.parameters().receive_tokens) {}

const GmParameters& GmPort::parameters() const {
  return network_.parameters();
}

// Each event belongs to a token.
Bytes GmPort::reserved_bytes() const {
  return (parameters().send_tokens + parameters().receive_tokens) * kEventEntry;
}

void GmPort::check_peer(Rank peer) const {
  if (index(peer) < network_.engine().ranks()) return;
  throw UsageError("gm: " + text_of(peer) + " does not exist; there are " + std::to_string(network_.engine().ranks()));
}

Connection& GmPort::connection(Rank peer, Priority priority) {
  Standing& standing = standings_[static_cast<std::size_t>(priority)][index(peer)];
  if (standing.connection == nullptr) {
    network_.card(host_.node()).lend_connection().open(*this, peer, priority, standing);
  }
  return *standing.connection;
}

void GmPort::take_interrupts() {
  if (!parameters().interrupt) throw UsageError("gm: an interrupt has no price: the machine has no host.interrupt");
  takes_interrupts_ = true;
  network_.engine().take_interrupts(rank());
}

void GmPort::wake(SimTime now) {
  if (takes_interrupts_ && network_.engine().computes(rank())) return;
  network_.engine().wake(rank(), now);
}

// A core that polls finds the event. A core that computes is interrupted, and polls after the interrupt.
void GmPort::tell(const Event& event, SimTime now) {
  if (takes_interrupts_ && !interrupted_ && network_.engine().computes(rank())) {
    interrupted_ = true;
    ++counters_.interrupts;
    network_.engine().interrupt(rank(), *parameters().interrupt, nullptr);
  }
  events_.write_now(event, now);
}

std::optional<Bytes> GmPort::dmaable_left() const {
  if (parameters().dmaable == 0) return std::nullopt;
  const Bytes share = parameters().dmaable / network_.engine().ranks_of(host_.node()).size();
  return share - std::min(share, own_pages_);
}

// The price depends on the whole pages of the length, not on the address: the same program costs the same in every
// process.
void GmPort::register_memory(std::span<std::byte> memory) {
  const Bytes pages = conduit::whole_pages(memory.size());
  if (const std::optional<Bytes> left = dmaable_left(); left && pages > *left) {
    throw UsageError("gm: " + text_of(rank()) + " registers " + std::to_string(pages) + " bytes; of its share of " +
                     "host.dmaable_memory " + std::to_string(*left) + " are left");
  }
  own_pages_ += pages;
  host_.charge_shared(SharedPrice::registration, pages);
  host_.synchronise();
  admit(memory);
}

// ---- sends

Status GmPort::post(Rank to, const Sending& sending, Priority priority) {
  check_peer(to);
  const bool is_get = sending.kind == PacketKind::get;
  require_registered(is_get ? sending.write_at : sending.read_at, sending.bytes, name_of(sending.kind), rank());
  if (tokens_.empty()) {
    ++counters_.refused;
    return Status::no_resource;
  }
  ++counters_.sends;
  const std::uint32_t token = tokens_.take();
  sendings_[token] = sending;
  host_.spend(parameters().send);
  host_.pay(SharedPrice::pio_store, parameters().descriptor);
  host_.synchronise();  // commands of the node's ranks reach the card in order of time
  connection(to, priority).post(token, host_.now());
  return Status::ok;
}

Status GmPort::send(Rank to, const void* message, Bytes bytes, SizeClass size, Priority priority, std::uint64_t id) {
  if (size > kMostSizeClass || size < size_class_of(bytes)) {
    throw UsageError("gm: " + text_of(rank()) + "'s message of " + std::to_string(bytes) + " bytes in size class " +
                     std::to_string(size) + "; classes " + std::to_string(size_class_of(bytes)) + ".." +
                     std::to_string(kMostSizeClass) + " are allowed");
  }
  return post(to, {.size = size, .read_at = static_cast<const std::byte*>(message), .bytes = bytes, .id = id},
              priority);
}

Status GmPort::directed_send(Rank to, void* remote, const void* local, Bytes bytes, Priority priority,
                             std::uint64_t id) {
  require_address(rank(), name_of(PacketKind::directed), remote, bytes);
  return post(to,
              {.kind = PacketKind::directed,
               .read_at = static_cast<const std::byte*>(local),
               .write_at = static_cast<std::byte*>(remote),
               .bytes = bytes,
               .id = id},
              priority);
}

Status GmPort::get(Rank from, void* local, const void* remote, Bytes bytes, Priority priority, std::uint64_t id) {
  if (!parameters().gets) {
    throw UsageError("gm: " + text_of(rank()) +
                     " asks for a get, which GM 1 does not have; it needs port.gm_version 2");
  }
  require_address(rank(), name_of(PacketKind::get), remote, bytes);
  return post(from,
              {.kind = PacketKind::get,
               .read_at = static_cast<const std::byte*>(remote),
               .write_at = static_cast<std::byte*>(local),
               .bytes = bytes,
               .id = id},
              priority);
}

// ---- receives

Status GmPort::provide_receive(const Receive& receive) {
  if (receive.size < size_class_of(0) || receive.size > kMostSizeClass ||
      receive.memory.size() < most_bytes(receive.size)) {
    throw UsageError("gm: " + text_of(rank()) + " provides " + std::to_string(receive.memory.size()) +
                     " bytes for size class " + std::to_string(receive.size) + "; classes " +
                     std::to_string(size_class_of(0)) + ".." + std::to_string(kMostSizeClass) +
                     " are allowed, with 8 bytes less than 2 to their power");
  }
  require_registered(receive.memory.data(), receive.memory.size(), "receive", rank());
  if (receive_tokens_ == 0) {
    ++counters_.refused;
    return Status::no_resource;
  }
  --receive_tokens_;
  host_.pay(SharedPrice::pio_store, parameters().descriptor);
  host_.synchronise();
  receives_[static_cast<unsigned>(receive.priority)].push_back(receive);
  return Status::ok;
}

bool GmPort::take_receive(SizeClass size, Priority priority, Receive& receive) {
  std::vector<Receive>& all = receives_[static_cast<unsigned>(priority)];
  for (auto each = all.rbegin(); each != all.rend(); ++each) {
    if (each->size != size) continue;
    receive = *each;
    all.erase(std::next(each).base());
    return true;
  }
  return false;
}

// ---- events

std::optional<Event> GmPort::poll() {
  host_.synchronise();
  interrupted_ = false;
  if (events_.empty()) return std::nullopt;
  const Event event = events_.take();
  host_.pay(SharedPrice::line_transfer);
  if (event.type == Event::Type::received) {
    host_.spend(parameters().receive, sim::Step::poll);
    ++receive_tokens_;
  } else {
    tokens_.give(event.token);
  }
  return event;
}

}  // namespace gasmeter::networks::gm
