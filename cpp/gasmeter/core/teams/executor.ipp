// Execution of plans: the state machine of collectives. The file has definitions of Teams' members, for teams.cpp
// alone.
//
//   first  (Short, Medium)  team, number, tag, signature [, total low, high]: a message, or its first part
//   piece  (Medium, Long)   team, number, tag, offset low, high: more of a message, after the receiver's ready
//   ready  (Short)          team, number, tag, rank in the team [, address low, high]: where Longs may go
//
// A first part is sent at once; a member that has not entered the collective keeps it. No function here waits.
// Handlers only change this rank's state; the step after the poll sends messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/core/library_handlers.hpp"
#include "gasmeter/core/teams/teams.hpp"
#include "gasmeter/core/teams/wire.hpp"
#include "gasmeter/core/word_halves.hpp"

namespace gasmeter::core {
namespace teams {

// Bytes of a piece, limited since other operations want to send, too
inline constexpr Bytes kMostPiece = Bytes{128} * 1024;

inline std::byte* target_of(const Buffers& buffers, Spot spot) {
  return (spot.place == Place::result ? buffers.result : buffers.temporary) + spot.at;
}
inline const std::byte* source_of(const Buffers& buffers, Spot spot) {
  return spot.place == Place::source ? buffers.source + spot.at : target_of(buffers, spot);
}

}  // namespace teams

// Return the size of a first part, which fits a ring of any neighbour and the conduit.
template <class H>
Bytes Teams<H>::first_part() const {
  return std::min(teams::kMostFirst, endpoint_.max_medium());
}

template <class H>
Team<H>* Teams<H>::find(std::uint32_t id) const {
  for (const auto& team : live_) {
    if (team->id_ == id) return team.get();
  }
  return nullptr;
}

template <class H>
typename Teams<H>::Operation* Teams<H>::find(Team<H>& team, std::uint32_t number) {
  for (const auto& operation : team.active_) {
    if (operation->number == number) return operation.get();
  }
  return nullptr;
}

template <class H>
typename Teams<H>::Transfer* Teams<H>::find(Operation& operation, teams::Act act, std::uint32_t tag,
                                            std::uint32_t peer) {
  for (Transfer& transfer : operation.transfers) {
    const teams::Step& step = transfer.step;
    if (step.act == act && step.tag == tag && (act == teams::Act::receive || step.peer == peer)) return &transfer;
  }
  return nullptr;
}

// ---- the step after a poll

template <class H>
unsigned Teams<H>::step() {
  const std::lock_guard guard(lock_);
  unsigned did = untold_.empty() ? 0 : tell();
  if (active_ == 0) return did;
  for (const auto& team : live_) {
    for (std::size_t i = 0; i < team->active_.size();) {
      const std::size_t before = team->active_.size();
      did += advance(*team, *team->active_[i]);
      if (team->active_.size() == before) ++i;  // otherwise the operation is finished and removed
    }
  }
  return did;
}

template <class H>
Event Teams<H>::begin(Team<H>& team, std::unique_ptr<Operation> operation) {
  const Bytes temporary = operation->rules->temporary(operation->call);
  endpoint_.host().charge(PrivatePrice::call);
  OperationId id{};
  {
    const std::lock_guard guard(internals(endpoint_).operations_lock());
    id = internals(endpoint_).operations().start(OperationKind::am, 1, nullptr);
  }
  operation->id = id;
  Event event = internals(endpoint_).operations().event_of(id);
  try {
    const std::lock_guard guard(lock_);
    void* scratch = team.scratch_.address;
    Bytes room = team.scratch_.bytes;
    if (temporary != 0 && !team.scratch_in_use_ && scratch != nullptr &&
        std::align(alignof(std::max_align_t), temporary, scratch, room) != nullptr) {
      team.scratch_in_use_ = operation->has_scratch = true;
      operation->buffers.temporary = static_cast<std::byte*>(scratch);
    } else if (temporary != 0) {
      operation->memory = std::make_unique_for_overwrite<std::byte[]>(temporary);
      operation->buffers.temporary = operation->memory.get();
    }
    operation->number = team.next_number_++;
    launch(team, std::move(operation));
  } catch (...) {
    (void)endpoint_.test(event);  // a mismatch has ended the operation
    throw;
  }
  (void)endpoint_.test(event);  // if the operation is done already, the returned event is done
  return event;
}

template <class H>
void Teams<H>::launch(Team<H>& team, std::unique_ptr<Operation> operation) {
  Operation& started = *operation;
  team.active_.push_back(std::move(operation));
  ++active_;
  const auto mine = [&](const auto& early) { return early.number == started.number; };
  for (const auto& early : team.early_clearances_) {
    if (mine(early)) started.clearances.push_back(early.clearance);
  }
  std::erase_if(team.early_clearances_, mine);
  const std::uint32_t number = started.number;
  const std::uint32_t signature = started.signature;
  (void)advance(team, started);  // first, so that the other members can notice a mismatch, too
  const auto contradicts = [&](const teams::Early& early) {
    return early.number == number && early.signature != signature;
  };
  const auto contradiction = std::find_if(team.early_.begin(), team.early_.end(), contradicts);
  if (contradiction == team.early_.end()) return;
  const teams::Early early = std::move(*contradiction);
  team.early_.erase(contradiction);
  mismatch(team, early, find(team, number));
}

// Advance as far as possible. Rounds of local work only, and rounds whose messages have all arrived, end at once.
template <class H>
unsigned Teams<H>::advance(Team<H>& team, Operation& operation) {
  unsigned did = 0;
  for (;;) {
    if (operation.owing != 0) did += communicate(team, operation);
    if (operation.open != 0) return did;
    ++did;
    steps_.clear();
    if (!operation.rules->fill(operation.call, operation.next_round, steps_)) {
      finish(team, operation);
      return did;
    }
    ++operation.next_round;
    if (!steps_.empty() && (steps_.front().act == teams::Act::send || steps_.front().act == teams::Act::receive)) {
      begin_round(team, operation, steps_);
    } else {
      work(operation, steps_);
    }
  }
}

template <class H>
void Teams<H>::work(Operation& operation, const teams::Steps& steps) {
  H& host = endpoint_.host();
  const Reduction& reduction = operation.reduction;
  constexpr Bytes kLine = 64;
  for (const teams::Step& step : steps) {
    std::byte* const to = teams::target_of(operation.buffers, step.to);
    const std::byte* const from = teams::source_of(operation.buffers, step.from);
    if (step.bytes == 0 || to == from) continue;
    if (step.act == teams::Act::copy) {
      host.synchronise();  // neighbours may see source and destination
      host.copy(to, from, step.bytes);
      continue;
    }
    if constexpr (H::kModelled) {
      for (Bytes line = 0; line < step.bytes; line += kLine) host.charge(PrivatePrice::update, kLine);
    }
    const std::size_t count = step.bytes / reduction.element;
    if (step.act == teams::Act::combine_left) {
      reduction.function(from, to, count, reduction.context);
    } else if (reduction.mirrored != nullptr) {
      reduction.mirrored(from, to, count, reduction.context);
    } else {
      // The operand arrived in temporary memory, which may be overwritten
      std::byte* const incoming = teams::target_of(operation.buffers, step.from);
      reduction.function(to, incoming, count, reduction.context);
      host.copy(to, incoming, step.bytes);
    }
  }
}

template <class H>
void Teams<H>::begin_round(Team<H>& team, Operation& operation, const teams::Steps& steps) {
  operation.transfers.clear();
  operation.open = static_cast<std::uint32_t>(steps.size());
  for (const teams::Step& step : steps) operation.transfers.push_back({.step = step});
  for (Transfer& transfer : operation.transfers) {
    const teams::Step& step = transfer.step;
    if (step.act == teams::Act::send) {
      ++operation.owing;
      for (const teams::Clearance& clearance : operation.clearances) {
        if (clearance.tag != step.tag || clearance.peer != step.peer) continue;
        clear(team, operation, transfer, clearance.destination);
      }
    } else if (step.bytes > first_part()) {
      transfer.owes_ready = true;
      ++operation.owing;
    }
  }
  // Early messages are handled last, since a message that contradicts this call ends it.
  for (std::size_t i = 0; i < team.early_.size();) {
    teams::Early& early = team.early_[i];
    Transfer* const transfer =
        early.number == operation.number ? find(operation, teams::Act::receive, early.tag, 0) : nullptr;
    if (transfer == nullptr) {
      ++i;
      continue;
    }
    const teams::Early taken = std::move(early);
    team.early_.erase(team.early_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!fits(team, operation, *transfer, taken, taken.data.size())) mismatch(team, taken, &operation);
    take_first(operation, *transfer, taken.total, taken.data.data(), taken.data.size());
  }
}

// Send what can be sent. Refused messages are tried again after the next poll.
template <class H>
unsigned Teams<H>::communicate(Team<H>& team, Operation& operation) {
  constexpr unsigned kMostRefusals = 4;  // more than one, since peers differ in room
  unsigned did = 0;
  unsigned refusals = 0;
  for (Transfer& transfer : operation.transfers) {
    if (operation.owing == 0 || refusals == kMostRefusals) break;
    if (!transfer.is_open) continue;
    const bool is_send = transfer.step.act == teams::Act::send;
    if (is_send) {
      // Parts after the first wait until the receiver has cleared them.
      while (transfer.is_open && (!transfer.has_first || transfer.is_cleared)) {
        if (!send_something(team, operation, transfer)) {
          ++refusals;
          break;
        }
        ++did;
      }
    } else if (transfer.owes_ready) {
      if (send_ready(team, operation, transfer)) {
        ++did;
      } else {
        ++refusals;
      }
    }
  }
  return did;
}

template <class H>
bool Teams<H>::send_something(Team<H>& team, Operation& operation, Transfer& transfer) {
  const teams::Step& step = transfer.step;
  const Rank to = team.job_rank(step.peer);
  const std::byte* const from = teams::source_of(operation.buffers, step.from);
  const auto id = static_cast<std::int32_t>(team.id_);
  const auto number = static_cast<std::int32_t>(operation.number);
  const auto tag = static_cast<std::int32_t>(step.tag);
  const auto signature = static_cast<std::int32_t>(operation.signature);
  Status status = Status::ok;
  if (!transfer.has_first) {
    const Bytes bytes = std::min(step.bytes, first_part());
    if (bytes == 0) {
      status = endpoint_.request_short(to, teams::kFirst, kTryOnce, id, number, tag, signature);
    } else if (bytes == step.bytes) {
      status = endpoint_.request_medium(to, teams::kFirst, from, bytes, kTryOnce, id, number, tag, signature);
    } else {
      status = endpoint_.request_medium(to, teams::kFirst, from, bytes, kTryOnce, id, number, tag, signature,
                                        low(step.bytes), high(step.bytes));
    }
    if (status != Status::ok) return false;
    transfer.has_first = true;
    transfer.done = bytes;
    if (transfer.done != step.bytes && !transfer.is_cleared) --operation.owing;  // until the receiver is ready
  } else {
    const Bytes left = step.bytes - transfer.done;
    Bytes bytes = 0;
    if (transfer.destination != nullptr) {
      bytes = std::min({left, teams::kMostPiece, endpoint_.max_long()});
      status =
          endpoint_.request_long(to, teams::kPiece, from + transfer.done, bytes, transfer.destination + transfer.done,
                                 kTryOnce, id, number, tag, low(transfer.done), high(transfer.done));
    } else {
      bytes = std::min(left, endpoint_.max_medium());
      status = endpoint_.request_medium(to, teams::kPiece, from + transfer.done, bytes, kTryOnce, id, number, tag,
                                        low(transfer.done), high(transfer.done));
    }
    if (status != Status::ok) return false;
    transfer.done += bytes;
  }
  if (transfer.done == step.bytes) {
    transfer.is_open = false;
    --operation.open;
    --operation.owing;
  }
  return true;
}

// Clear the rest of a message. Longs may go into this rank's segment, Mediums anywhere.
template <class H>
bool Teams<H>::send_ready(Team<H>& team, Operation& operation, Transfer& transfer) {
  const teams::Step& step = transfer.step;
  const Rank to = team.job_rank(step.peer);
  std::byte* const target = teams::target_of(operation.buffers, step.to);
  const auto id = static_cast<std::int32_t>(team.id_);
  const auto number = static_cast<std::int32_t>(operation.number);
  const auto tag = static_cast<std::int32_t>(step.tag);
  const auto self = static_cast<std::int32_t>(team.self_);
  const auto address = reinterpret_cast<std::uint64_t>(target);
  const Status status =
      endpoint_.segment().holds(target, step.bytes)
          ? endpoint_.request_short(to, teams::kReady, kTryOnce, id, number, tag, self, low(address), high(address))
          : endpoint_.request_short(to, teams::kReady, kTryOnce, id, number, tag, self);
  if (status != Status::ok) return false;
  transfer.owes_ready = false;
  transfer.is_cleared = true;
  --operation.owing;
  return true;
}

template <class H>
void Teams<H>::finish(Team<H>& team, Operation& operation) {
  if (operation.has_scratch) team.scratch_in_use_ = false;
  const conduit::OperationId id = operation.id;
  std::erase_if(team.active_, [&](const auto& each) { return each.get() == &operation; });
  --active_;
  internals(endpoint_).complete(id);
}

// ---- arriving messages

template <class H>
void Teams<H>::take_first(Operation& operation, Transfer& transfer, Bytes total, const void* data, Bytes bytes) {
  if (bytes != 0) {
    H& host = endpoint_.host();
    host.synchronise();  // neighbours may see the buffer
    host.copy(teams::target_of(operation.buffers, transfer.step.to), data, bytes);
  }
  transfer.has_first = true;
  transfer.done += bytes;
  // Only the sender knows how large its first part is.
  const bool owes = transfer.done != total && !transfer.is_cleared;
  if (owes && !transfer.owes_ready) ++operation.owing;
  if (!owes && transfer.owes_ready) --operation.owing;
  transfer.owes_ready = owes;
  if (transfer.done != total) return;
  transfer.is_open = false;
  --operation.open;
}

template <class H>
bool Teams<H>::is_member(const Team<H>& team, const teams::EarlyClearance& early) {
  return team.rank_of(Rank{early.source}) == early.clearance.peer;
}

template <class H>
bool Teams<H>::fits(const Team<H>& team, const Operation& operation, const Transfer& transfer,
                    const teams::Early& early, Bytes bytes) {
  const teams::Step& step = transfer.step;
  return early.signature == operation.signature && early.total == step.bytes && bytes <= step.bytes - transfer.done &&
         team.job_rank(step.peer) == Rank{early.source};
}

template <class H>
void Teams<H>::clear(Team<H>& team, Operation& operation, Transfer& transfer, std::byte* destination) {
  const teams::Step& step = transfer.step;
  const Rank peer = team.job_rank(step.peer);
  if (destination != nullptr && !endpoint_.segment(peer).holds(destination, step.bytes)) {
    throw UsageError(where(team) + ": collective " + std::to_string(operation.number) + ": rank " +
                     std::to_string(index(peer)) + " of the job asks for " + std::to_string(step.bytes) +
                     " bytes outside its segment");
  }
  if (transfer.has_first && !transfer.is_cleared) ++operation.owing;
  transfer.is_cleared = true;
  transfer.destination = destination;
}

template <class H>
template <class Kept>
void Teams<H>::keep(const Incoming<H>& message, std::vector<Kept>& kept, std::uint32_t ranks, Kept&& entry) const {
  if (const std::size_t most = teams::most_early(ranks); kept.size() >= most) {
    message.refuse(std::to_string(most) + " messages of collectives that this rank has not entered are kept already; " +
                   "whoever goes so far ahead is expected to wait for the others now and then, as a barrier does");
  }
  kept.push_back(std::forward<Kept>(entry));
}

template <class H>
void Teams<H>::on_first(Token<H>& token) {
  const Incoming<H> message(token);
  const bool is_part = token.category() == Category::medium && token.arguments().size() == 6;
  message.expect_form(token.is_long() ? Category::medium : token.category(), Incoming<H>::Sent::request,
                      is_part ? 6 : 4);
  teams::Early early{.number = message.word(1),
                     .tag = message.word(2),
                     .signature = message.word(3),
                     .source = index(token.source()),
                     .total = is_part ? message.wide(4) : token.size(),
                     .data = {}};
  message.expect(token.size() <= teams::kMostFirst && token.size() <= early.total,
                 "its first part is more than a first part is");
  token.template context_as<Teams>().first_arrived(message, message.word(0), std::move(early), token.payload(),
                                                   token.size());
}

template <class H>
void Teams<H>::first_arrived(const Incoming<H>& message, std::uint32_t id, teams::Early&& early, const void* data,
                             Bytes bytes) {
  const std::lock_guard guard(lock_);
  const auto copied = [&]() -> teams::Early&& {
    const auto* const from = static_cast<const std::byte*>(data);
    if (bytes != 0) early.data.assign(from, from + bytes);
    endpoint_.host().charge(PrivatePrice::call);
    return std::move(early);
  };
  Team<H>* const team = find(id);
  if (team == nullptr) {
    if (id < next_id_) {
      throw UsageError("rank " + std::to_string(index(endpoint_.rank())) + ": rank " + std::to_string(early.source) +
                       " is in a collective of team " + std::to_string(id) + ", which is destroyed here");
    }
    keep(message, foreign_, endpoint_.ranks(), Foreign{id, copied()});
    return;
  }
  message.expect(team->rank_of(Rank{early.source}).has_value(), "it is no member of the team");
  Operation* const operation = find(*team, early.number);
  if (operation == nullptr) {
    if (static_cast<std::int32_t>(early.number - team->next_number_) < 0) mismatch(*team, early, nullptr);
    keep(message, team->early_, team->ranks_, copied());
    return;
  }
  if (early.signature != operation->signature) mismatch(*team, early, operation);
  Transfer* const transfer = find(*operation, teams::Act::receive, early.tag, 0);
  if (transfer == nullptr || transfer->has_first) {  // the message belongs to a later round
    keep(message, team->early_, team->ranks_, copied());
    return;
  }
  if (!fits(*team, *operation, *transfer, early, bytes)) mismatch(*team, early, operation);
  take_first(*operation, *transfer, early.total, data, bytes);
}

template <class H>
void Teams<H>::on_piece(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect_form(token.is_long() ? Category::long_message : Category::medium, Incoming<H>::Sent::request, 5);
  auto& self = token.template context_as<Teams>();
  const std::lock_guard guard(self.lock_);
  Team<H>* const team = self.find(message.word(0));
  Operation* const operation = team != nullptr ? find(*team, message.word(1)) : nullptr;
  Transfer* const transfer = operation != nullptr ? find(*operation, teams::Act::receive, message.word(2), 0) : nullptr;
  if (transfer == nullptr) return;  // the piece belongs to a collective that a mismatch has ended
  const teams::Step& step = transfer->step;
  const std::uint64_t offset = message.wide(3);
  message.expect(transfer->is_cleared && team->job_rank(step.peer) == token.source(), "nobody asked for this piece");
  message.expect(
      offset <= step.bytes && token.size() <= step.bytes - offset && token.size() <= step.bytes - transfer->done,
      "the piece reaches beyond the message");
  std::byte* const target = teams::target_of(operation->buffers, step.to) + offset;
  if (!token.is_long()) {
    H& host = self.endpoint_.host();
    host.synchronise();
    host.copy(target, token.payload(), token.size());
  } else {
    message.expect(token.payload() == target, "the piece went elsewhere");
  }
  transfer->done += token.size();
  if (transfer->done != step.bytes || !transfer->has_first) return;
  transfer->is_open = false;
  --operation->open;
}

template <class H>
void Teams<H>::on_ready(Token<H>& token) {
  const Incoming<H> message(token);
  const bool has_address = token.arguments().size() > 4;
  message.expect_form(Category::short_message, Incoming<H>::Sent::request, has_address ? 6 : 4);
  auto& self = token.template context_as<Teams>();
  const std::lock_guard guard(self.lock_);
  const std::uint32_t id = message.word(0);
  const teams::EarlyClearance early{message.word(1),
                                    index(token.source()),
                                    {message.word(2), message.word(3), has_address ? message.address(4) : nullptr}};
  const teams::Clearance& clearance = early.clearance;
  Team<H>* const team = self.find(id);
  if (team == nullptr) {  // if the team was destroyed, no message remains to be cleared
    if (id >= self.next_id_) {
      self.keep(message, self.foreign_clearances_, self.endpoint_.ranks(), ForeignClearance{id, early});
    }
    return;
  }
  message.expect(is_member(*team, early), "it is no member of the team, or another one");
  Operation* const operation = find(*team, early.number);
  if (operation == nullptr) {
    if (static_cast<std::int32_t>(early.number - team->next_number_) < 0) return;
    self.keep(message, team->early_clearances_, team->ranks_, teams::EarlyClearance(early));
    return;
  }
  Transfer* const transfer = find(*operation, teams::Act::send, clearance.tag, clearance.peer);
  if (transfer == nullptr || !transfer->is_open) {
    self.keep(message, operation->clearances, team->ranks_, teams::Clearance(clearance));
    return;
  }
  self.clear(*team, *operation, *transfer, clearance.destination);
}

// ---- mismatches

// Send the messages that a mismatch prevented, without payload, since the buffers belong to the caller again. The
// signature is enough for the receivers.
template <class H>
unsigned Teams<H>::tell() {
  unsigned did = 0;
  for (; did != untold_.size(); ++did) {
    const Untold& next = untold_[did];
    if (endpoint_.request_short(next.to, teams::kFirst, kTryOnce, static_cast<std::int32_t>(next.team),
                                static_cast<std::int32_t>(next.number), static_cast<std::int32_t>(next.tag),
                                static_cast<std::int32_t>(next.signature)) != Status::ok) {
      break;
    }
  }
  untold_.erase(untold_.begin(), untold_.begin() + static_cast<std::ptrdiff_t>(did));
  return did;
}

// Report that two members make different calls. The member that notices gives up its operation, so that it can throw
// and continue.
template <class H>
void Teams<H>::mismatch(Team<H>& team, const teams::Early& early, const Operation* mine) {
  const auto theirs = static_cast<teams::Collective>(early.signature >> 28);
  const bool is_known = theirs <= teams::Collective::scan;
  std::string text = where(team) + ": collective " + std::to_string(early.number) + ": rank " +
                     std::to_string(team.rank_of(Rank{early.source}).value_or(0)) + " of the team (" +
                     std::to_string(early.source) + " of the job) calls " +
                     (is_known ? teams::name_of(theirs) : "what is no collective");
  if (mine == nullptr) {
    text += " and sends " + std::to_string(early.total) + " bytes to this rank, which expected none of it";
  } else if (theirs != mine->call.collective) {
    text += std::string(", this rank calls ") + teams::name_of(mine->call.collective);
  } else {
    text += ", as this rank does, but with another root, size, type, operation or algorithm; this rank's: root " +
            std::to_string(mine->call.root) + ", " + std::to_string(mine->call.block) + " bytes, " +
            teams::name_of(mine->call.algorithm);
  }
  if (mine != nullptr) {
    for (const Transfer& transfer : mine->transfers) {
      const teams::Step& step = transfer.step;
      if (!transfer.is_open || step.act != teams::Act::send || transfer.has_first) continue;
      untold_.push_back({team.job_rank(step.peer), team.id_, mine->number, step.tag, mine->signature});
    }
    finish(team, const_cast<Operation&>(*mine));
  }
  throw UsageError(text);
}

}  // namespace gasmeter::core
