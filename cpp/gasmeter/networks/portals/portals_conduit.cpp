// The sending half of the conduit. portals_receive.cpp has the receiving half.
#include "gasmeter/networks/portals/portals_conduit.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/prepare_check.hpp"

namespace gasmeter::networks::portals {

using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::Category;
using conduit::kNoOperation;
using conduit::OperationId;

namespace {

constexpr std::uint32_t kCreditsOfChunk = kChunk / kCreditBytes;
// The bank of dynamic credits, beside the granted ones: as many as one rank may borrow.
constexpr std::uint32_t kReserve = kMostHeld;

Kind kind_of(Category category, bool apart) {
  if (category == Category::short_message) return Kind::short_message;
  if (category == Category::medium) return Kind::medium;
  return apart ? Kind::long_header : Kind::packed_long;
}

// Bytes in a buffer, with the padding that keeps the next message aligned.
Bytes message_bytes(bool of_long, unsigned arguments, Bytes payload) {
  return payload_at(of_long, arguments) + aligned(payload);
}

CreditRules rules_of(const PortalsOptions& options, std::uint32_t ranks, std::uint32_t credits) {
  return {.dynamic = options.dynamic,
          .granted = options.credits_per_peer,
          .total = options.dynamic ? credits : options.credits_per_peer * ranks,
          .peers = ranks};
}

// Every lender may ask a borrower for loans, and every revocation of this rank is answered.
std::uint32_t system_events(const PortalsOptions& options, std::uint32_t ranks) {
  return options.dynamic ? std::min(ranks, kMostHeld) + kRevocationsAtOnce : 1;
}

}  // namespace

RequestRoom request_room(const PortalsOptions& options, std::uint32_t ranks) {
  const std::uint64_t granted = std::uint64_t{options.credits_per_peer} * ranks;
  const std::string asked = "portals: credits_per_peer=" + std::to_string(options.credits_per_peer);
  if (options.credits_per_peer < kCreditsOfChunk) {
    throw UsageError(asked + "; the largest message takes " + std::to_string(kCreditsOfChunk) + " (" +
                     std::to_string(kChunk) + " B, " + std::to_string(kCreditBytes) + " each): allowed are " +
                     std::to_string(kCreditsOfChunk) + " and more");
  }
  const std::uint64_t filled = options.request_buffers - 1;  // the last buffer is spare
  std::uint64_t chunks = options.request_memory / options.request_buffers / kChunk;
  if (options.request_memory == 0) {
    const std::uint64_t needed = granted + (options.dynamic ? kReserve : 0);
    chunks = (needed + filled * kCreditsOfChunk - 1) / (filled * kCreditsOfChunk) + 1;
  }
  // The last chunk of each buffer is spare, too.
  const std::uint64_t credits = chunks == 0 ? 0 : filled * (chunks - 1) * kCreditsOfChunk;
  if (granted > credits) {
    throw UsageError(asked + " of " + std::to_string(ranks) + " ranks are " + std::to_string(granted) +
                     " credits; request_memory=" + std::to_string(options.request_memory) + " is " +
                     std::to_string(options.request_buffers) + " buffers of " + std::to_string(chunks) +
                     " chunks, good for (" + std::to_string(options.request_buffers) + " - 1) x (" +
                     std::to_string(chunks) + " - 1) x " + std::to_string(kCreditsOfChunk) + " = " +
                     std::to_string(credits) + ": grant fewer, or give more memory");
  }
  if (credits > kUnlimited / 2) {
    throw UsageError(asked + " of " + std::to_string(ranks) + " ranks need an event queue of " +
                     std::to_string(credits) + " events; at most " + std::to_string(kUnlimited / 2) + " are allowed");
  }
  return {chunks * kChunk, static_cast<std::uint32_t>(credits)};
}

PortalsConduit::PortalsConduit(Portals& portals, sim::ModelHost host, std::uint32_t ranks,
                               const PortalsOptions& options, SegmentBases& bases)
    : portals_(portals),
      host_(host),
      ranks_(ranks),
      room_(request_room(options, ranks)),
      transfers_(portals, host, options, bases, done_),
      request_events_(room_.credits + options.request_buffers),  // each buffer has an event when it is full
      system_events_(system_events(options, ranks)),
      requests_eq_(portals.eq_alloc(request_events_, "AM_EQ")),
      system_eq_(portals.eq_alloc(system_events_, "SYS_EQ")),
      requests_(portals, options.request_buffers, room_.bytes_each, requests_eq_, transfers_.events()),
      credits_(rules_of(options, ranks, room_.credits)),
      reply_memory_("portals", kReplyChunks, kChunk) {
  capabilities_.max_request_medium = capabilities_.max_reply_medium = kMostMedium;
  capabilities_.max_request_long = capabilities_.max_reply_long = kMostLong;
  capabilities_.native_put = true;
  capabilities_.native_get = true;
  capabilities_.max_transfer = transfers_.most_transfer();
  capabilities_.long_in_place = most_packed_long(conduit::kMaxArguments);
  const std::span<std::byte> replies = reply_memory_.memory();
  replies_md_ = portals_.md_bind({.start = replies.data(),
                                  .length = replies.size(),
                                  .no_start_events = true,
                                  .events = transfers_.events(),
                                  .name = "RplSB"});
  bare_md_ = portals_.md_bind({.no_start_events = true, .no_end_events = true, .name = "no payload"});
  const MeHandle system =
      portals_.me_attach(kAmPortal, {.match = bits_of(Md::system, Kind::system), .ignore = kIgnored});
  portals_.md_attach(system,
                     {.put = true, .no_ack = true, .no_start_events = true, .events = system_eq_, .name = "SYS"});
  host_.price_misses({2 * portals_.parameters().eq_empty.ps});  // SAFE_EQ and AM_EQ
}

Bytes PortalsConduit::reserved_bytes() const {
  return transfers_.reserved_bytes() + requests_.reserved_bytes() + reply_memory_.memory().size() +
         (Bytes{request_events_} + system_events_) * kEventEntry;
}

// ---- resources of a message

Status PortalsConduit::take(const AmHeader& header, Taken& taken) {
  if (header.is_reply) {
    if (transfers_.tokens() < taken.tokens || reply_memory_.free() == 0) return Status::no_resource;
  } else {
    if (transfers_.tokens() < Transfers::kReplyTokens + taken.tokens || transfers_.chunks().empty()) {
      return Status::no_resource;
    }
  }
  if (taken.large != kNone) {
    const std::uint32_t large = transfers_.take_large(header.is_reply);
    if (large == Transfers::kNone) return Status::no_resource;
    taken.large = static_cast<std::uint16_t>(large);
  }
  if (!header.is_reply && !credits_.take(header.peer, taken.credits)) {
    if (taken.large != kNone) transfers_.give_large(taken.large);
    return Status::no_resource;
  }
  taken.chunk = static_cast<std::uint16_t>(header.is_reply ? reply_memory_.take() : transfers_.chunks().take());
  transfers_.take_tokens(taken.tokens);
  return Status::ok;
}

void PortalsConduit::give(const AmHeader& header, const Taken& taken) {
  if (taken.large != kNone) transfers_.give_large(taken.large);
  transfers_.give_tokens(taken.tokens);
  if (header.is_reply) {
    reply_memory_.give(taken.chunk);
  } else {
    transfers_.chunks().give(taken.chunk);
    credits_.give(header.peer, taken.credits);
  }
}

Status PortalsConduit::prepare(const AmHeader& header, const void* client, Bytes least, Bytes most, AmBuffer& out) {
  const Bytes room = conduit::check_prepare("portals", capabilities_, header, least, most);
  services::check_peer("portals", header.peer, ranks_);
  const bool of_long = header.category == Category::long_message;
  Taken taken;
  taken.apart = of_long && room > most_packed_long(header.arguments);
  taken.large = taken.apart && client == nullptr ? 0 : kNone;
  taken.tokens = taken.apart ? 2 : 1;
  if (!header.is_reply) {
    const Bytes bytes = message_bytes(of_long, header.arguments, taken.apart ? 0 : room);
    taken.credits = static_cast<std::uint8_t>(taken.apart ? kApartCredits : credits_for(bytes));
  }
  if (const Status status = take(header, taken); status != Status::ok) {
    ++handed_.stalls;
    return status;
  }
  out.header = header;
  out.size = room;
  out.data = nullptr;
  if (taken.apart) {
    out.data = client != nullptr ? const_cast<void*>(client) : transfers_.large(taken.large);
  } else if (header.category != Category::short_message) {
    out.data = chunk(header, taken.chunk) + payload_at(of_long, header.arguments);
  }
  out.slot = std::bit_cast<std::uint64_t>(taken);
  return Status::ok;
}

void PortalsConduit::cancel(const AmBuffer& buffer) {
  give(buffer.header, std::bit_cast<Taken>(buffer.slot));
}

bool PortalsConduit::send_payload(const AmBuffer& buffer, const AmCommit& commit, const Taken& taken, std::uint32_t lid,
                                  OperationId local) {
  const Md md = buffer.header.is_reply ? Md::rar_src : Md::rar_am;
  const std::uint32_t large = taken.large == kNone ? Transfers::kNone : taken.large;
  return transfers_.put_payload(buffer.header.peer, md, commit.destination, buffer.data, commit.size, lid, local,
                                large);
}

Status PortalsConduit::commit(const AmBuffer& buffer, const AmCommit& commit, OperationId local) {
  const AmHeader& header = buffer.header;
  auto taken = std::bit_cast<Taken>(buffer.slot);
  const bool of_long = header.category == Category::long_message;
  std::byte* const message = chunk(header, taken.chunk);
  const Bytes at = payload_at(of_long, header.arguments);
  const bool fits = taken.apart && commit.size <= most_packed_long(header.arguments);  // it was prepared for more bytes
  const bool apart = taken.apart && !fits;
  LongHeader of_header{static_cast<std::uint32_t>(commit.size), 0};
  host_.charge(conduit::PrivatePrice::header_build);
  if (apart) {
    of_header.lid = ++lids_;
    if (!send_payload(buffer, commit, taken, of_header.lid, local)) return Status::no_resource;
  } else {
    if (fits) {
      host_.synchronise();  // node mates may write the source
      host_.copy(message + at, buffer.data, commit.size);
      if (taken.large != kNone) transfers_.give_large(taken.large);
      transfers_.give_tokens(1);
    }
    done_.add(local);
  }
  const Bytes payload = apart ? 0 : commit.size;
  const Bytes bytes = message_bytes(of_long, header.arguments, payload);
  AmBits bits;
  bits.kind = kind_of(header.category, apart);
  bits.handler = static_cast<std::uint8_t>(index(commit.handler));
  bits.arguments = header.arguments & 31U;
  bits.padding = static_cast<std::uint32_t>(aligned(payload) - payload);
  std::uint64_t header_data = 0;
  if (of_long) {
    const auto destination = std::uint64_t{reinterpret_cast<std::uintptr_t>(commit.destination)};
    std::memcpy(message, &destination, sizeof destination);
    header_data = std::bit_cast<std::uint64_t>(of_header);
  }
  const std::size_t in_header = of_long ? 0 : std::min<std::size_t>(kHeaderArguments, commit.arguments.size());
  if (in_header != 0) std::memcpy(&header_data, commit.arguments.data(), in_header * sizeof(std::int32_t));
  const std::span<const std::int32_t> others = commit.arguments.subspan(in_header);
  if (!others.empty()) std::memcpy(message + arguments_at(of_long), others.data(), others.size_bytes());
  handed_.message(commit.size);
  if (header.is_reply) {
    bits.credits = handling_->says;
    bits.answer = static_cast<std::uint32_t>(header.cookie);
    handling_->replied = true;
    portals_.put(replies_md_, taken.chunk * kChunk, bytes, Ack::none,
                 {.rank = header.peer, .portal = kAmPortal, .match_bits = bits.packed(Md::send), .offset = bits.answer},
                 header_data);
    return Status::ok;
  }
  const std::uint32_t used = apart ? kApartCredits : credits_for(bytes);
  credits_.give(header.peer, taken.credits - used);
  bits.credits = credits_.of_request(header.peer, used);
  bits.answer = static_cast<std::uint32_t>(taken.chunk * kChunk);
  if (asked_.size() <= taken.chunk) asked_.resize(taken.chunk + 1);
  asked_[taken.chunk] = bits.credits.extra;
  portals_.put(transfers_.chunks_md(), bits.answer, bytes, Ack::none,
               {.rank = header.peer, .portal = kAmPortal, .match_bits = bits.packed(Md::request)}, header_data);
  return Status::ok;
}

void PortalsConduit::add_to(conduit::Counts& counts) const {
  using conduit::Count;
  handed_.add_to(counts);
  counts.add(Count::credits, implicit_replies_);
  counts.add(Count::loans, credits_.counters().lent);
  counts.add(Count::revocations, credits_.counters().revoked);
  counts.add(Count::caught, 0);  // a caught message ends the run
  transfers_.add_to(counts);
}

}  // namespace gasmeter::networks::portals
