#include "gasmeter/networks/aries/bte.hpp"

#include <algorithm>
#include <cstring>

#include "gasmeter/networks/aries/aries_network.hpp"

namespace gasmeter::networks::aries {

Bte::Bte(AriesNic& nic) : nic_(nic) {
  for (BteEngine& engine : engines_) engine.of = this;
}

void Bte::add(RequestPacket& request, SimTime now) {
  const auto last = engines_.begin() + nic_.parameters().bte_engines;
  const auto free = std::find_if(engines_.begin(), last, [](const BteEngine& e) { return e.request == nullptr; });
  if (free == last) {
    waiting_.push(&request);
  } else {
    begin(*free, request, now);
  }
}

void Bte::begin(BteEngine& engine, RequestPacket& request, SimTime now) {
  engine.request = &request;
  engine.before = 0;
  const SimTime taken = nic_.take_request(std::max(now, engine.end));
  engine.becomes(&Bte::on_started);
  nic_.engine().post(nic_.node(), nic_.node(), taken + nic_.parameters().bte_start, engine);
}

void Bte::on_started(sim::Action& self, SimTime now) {
  auto& engine = static_cast<BteEngine&>(self);
  engine.end = now;
  if (engine.request->type == PostType::rdma_put) {
    engine.of->read(engine, now);
  } else {
    engine.of->ask(engine, now);
  }
}

void Bte::rest(BteEngine& engine, SimTime now) {
  engine.request = nullptr;
  if (!waiting_.empty()) begin(engine, static_cast<RequestPacket&>(*waiting_.pop()), now);
}

// ---- puts

// Read the next piece. The piece leaves so early that its last byte leaves when that byte is in the card.
void Bte::read(BteEngine& engine, SimTime now) {
  const AriesParameters& p = nic_.parameters();
  const Bytes size = std::min(engine.request->length - engine.before, p.grain);
  engine.end = nic_.from_host(engine.end, size);
  engine.becomes(&Bte::on_piece);
  nic_.engine().post(nic_.node(), nic_.node(), std::max(now, engine.end - nic_.on_link(p.on_wire(size))), engine);
}

// The piece takes the bytes that the memory holds now. The receiver owns the request from the last piece on.
void Bte::on_piece(sim::Action& self, SimTime now) {
  auto& engine = static_cast<BteEngine&>(self);
  Bte& bte = *engine.of;
  RequestPacket& request = *engine.request;
  const Bytes size = std::min(request.length - engine.before, bte.nic_.parameters().grain);
  DataPacket& piece = bte.nic_.piece_of(request, PacketKind::put_data, engine.before, size);
  piece.engine = &engine;
  piece.watched = 1;
  std::memcpy(piece.payload.data(), request.local + engine.before, size);
  engine.before += size;
  ++engine.leaving;
  const bool is_last = engine.before == request.length;
  if (is_last && (request.cq_mode & kLocalEvent) != 0) bte.nic_.tell_local(request, engine.end);
  bte.nic_.inject(piece, now);
  if (is_last) {
    bte.rest(engine, now);
  } else if (engine.leaving < kAhead) {
    bte.read(engine, now);
  } else {
    engine.waits_to_read = true;
  }
}

void Bte::departed(BteEngine& engine, SimTime end) {
  --engine.leaving;
  if (!engine.waits_to_read) return;
  engine.waits_to_read = false;
  engine.end = std::max(engine.end, end);
  read(engine, end);
}

// ---- gets

// Ask for pieces, of which a limited number of bytes may be in flight.
void Bte::ask(BteEngine& engine, SimTime now) {
  RequestPacket& request = *engine.request;
  const Bytes length = request.length;
  while (engine.before != length) {
    const Bytes size = std::min(length - engine.before, nic_.parameters().grain);
    if (engine.asked + size > kAsked) {
      engine.waits_to_ask = true;
      return;
    }
    RequestPacket& piece = nic_.part_of(request, engine.before, size);
    piece.engine = &engine;
    engine.before += size;
    engine.asked += size;
    nic_.inject(piece, now);
  }
  rest(engine, now);
}

void Bte::answered(BteEngine& engine, Bytes bytes, SimTime now) {
  engine.asked -= bytes;
  if (!engine.waits_to_ask) return;
  engine.waits_to_ask = false;
  ask(engine, now);
}

}  // namespace gasmeter::networks::aries
