// The receiving half of the conduit.
#include <cstring>
#include <span>

#include "gasmeter/networks/sci/sci_conduit.hpp"

namespace gasmeter::networks::sci {

using conduit::AmView;
using conduit::Category;
using conduit::Delivery;
using conduit::PollFilter;
using conduit::SharedPrice;

// The exist flag stays in the cache while no peer writes it. A poll without success is one look at that flag, and with
// transfers in flight a read of the card. Ibel's queues have no exist flag: their polls look at a flag of every queue.
// (The calling wait charges the looks of a poll without success.)
unsigned SciConduit::poll(Delivery& sink, unsigned budget, PollFilter filter) {
  news_ = false;
  finish_transfers();
  unsigned handed = done_.report(sink, budget);
  handed += near_.poll(sink, budget - handed, filter);
  host_.synchronise();
  if (control_.take_news()) news_ = true;
  const bool replies_only = filter == PollFilter::replies_only;
  const bool paired = layout_.queues == Queues::paired;
  const bool is_there =
      paired ? control_.exists() || (replies_only ? left_replies_ : scan_at_ || left_requests_) : control_.any();
  if (is_there && handed < budget) {
    handed += scan(sink, budget - handed, replies_only);
  } else if (!is_there && (handed != 0 || news_)) {
    host_.charge(conduit::PrivatePrice::poll_miss);
    host_.pay_poll_price();
  }
  return services::poll_result(handed, news_);
}

// Clear the exist flag first. A message that arrives during the scan sets it again, so that no message is missed. The
// price is a useless scan if this one has already found the message. A scan that stopped at its budget continues where
// it was. The scan starts anew if earlier flags may be new: the exist flag was set again, or a scan for replies has
// cleared it.
unsigned SciConduit::scan(Delivery& sink, unsigned budget, bool replies_only) {
  const bool paired = layout_.queues == Queues::paired;
  bool anew = replies_only || left_requests_ || !paired;
  if (paired && control_.exists()) {
    host_.charge_shared(SharedPrice::line_transfer);
    control_.clear_exists();
    anew = true;
  }
  std::uint32_t at = anew ? 0 : scan_at_.value_or(0);
  if (!replies_only) {
    left_requests_ = false;
    left_replies_ = true;  // until the scan is complete: handlers may scan for replies meanwhile
    scan_at_ = at;
  }
  if (!paired) host_.spend(sisci_.parameters().flag_looks(layout_.looks()), sim::Step::scan);
  unsigned handed = 0;
  while (handed < budget) {
    host_.synchronise();
    const auto flag = control_.next(at);
    if (paired) {
      const std::uint32_t looked = (flag ? flag->slot : layout_.slots()) - at;
      host_.spend(sisci_.parameters().flag_looks(looked), sim::Step::scan);
    }
    at = flag ? flag->slot + 1 : layout_.slots();
    if (paired && !replies_only) scan_at_ = at;
    if (!flag) break;
    if (!may_take(flag->slot, replies_only)) {
      left_requests_ = true;
      continue;
    }
    host_.charge_shared(SharedPrice::line_transfer);
    control_.clear(flag->slot);
    take(sink, *flag);
    ++handed;
  }
  const bool is_over = at == layout_.slots();
  if (replies_only) {
    left_requests_ = true;
    left_replies_ = !is_over;
  } else if (is_over) {
    scan_at_.reset();
    left_replies_ = left_requests_;
  }
  return handed;
}

bool SciConduit::is_reply(std::uint32_t slot) const {
  if (layout_.queues != Queues::split) return layout_.holds_replies(slot);
  AmWord word;
  std::memcpy(&word, commands_.slot(slot), sizeof word);
  return word.is_reply != 0;
}

// A split queue's messages are taken in order. A request at the head that has to wait holds up the replies behind it.
bool SciConduit::may_take(std::uint32_t slot, bool replies_only) const {
  if (layout_.queues == Queues::split) {
    const auto from = peers_.find(index(layout_.sender_of(slot)));
    const std::uint32_t taken = from == peers_.end() ? 0 : from->second.taken;
    if (layout_.pair_of(slot) != taken % options_.pairs) return false;
  }
  return !replies_only || is_reply(slot);
}

void SciConduit::take(Delivery& sink, const ControlSegment::Flag& flag) {
  is_reply(flag.slot) ? take_reply(sink, flag) : take_request(sink, flag.slot);
}

void SciConduit::take_reply(Delivery& sink, const ControlSegment::Flag& flag) {
  const Rank source = layout_.queues == Queues::ibel ? *asked_ : layout_.sender_of(flag.slot);
  const auto handle = [&] {
    if (flag.says == kMessage) hand_over(sink, source, flag.slot);
  };
  // The request and its reply have been handled, so that their slots are free.
  services::handle_then_free(handle, [&] {
    Peer& from = peer(source);
    if (layout_.queues == Queues::split) {
      tell_taken(source);
    } else if (layout_.queues == Queues::ibel) {
      asked_.reset();
    } else {
      from.under_way = static_cast<std::uint16_t>(from.under_way & ~(1U << layout_.pair_of(flag.slot)));
    }
    news_ = true;
  });
}

// The reply's flags wait until the handler has returned: a requester that sees them may write into the slot that the
// handler reads.
void SciConduit::take_request(Delivery& sink, std::uint32_t slot) {
  const Rank source = layout_.sender_of(slot);
  Handling handling{layout_.slot(host_.rank(), true, layout_.pair_of(slot)), false, false};
  Handling* const outer = handling_;
  handling_ = &handling;
  const auto handle = [&] { hand_over(sink, source, slot); };
  services::handle_then_free(handle, [&] {
    handling_ = outer;
    if (handling.announces) {
      announce(source, handling.answer, kMessage);
    } else if (!handling.replied && layout_.queues != Queues::split) {
      announce(source, handling.answer, kNoReply);
    }
    if (layout_.queues == Queues::split) tell_taken(source);
  });
}

// Tell the sender that a slot of its split queue is free again.
void SciConduit::tell_taken(Rank source) {
  const auto taken = static_cast<std::byte>(++peer(source).taken);
  store({source, peer(source).control}, layout_.taken_by(host_.rank()), {&taken, 1}, sim::Step::flag);
}

void SciConduit::hand_over(Delivery& sink, Rank source, std::uint32_t slot) {
  host_.charge_shared(SharedPrice::line_transfer);
  std::byte* const message = commands_.slot(slot);
  AmHead head;
  std::memcpy(&head.word, message, sizeof head.word);
  const Category category = head.word.kind();
  std::memcpy(&head, message, kLayout.arguments_at(category));
  AmView view = services::view_of(head.word, source, message + kLayout.arguments_at(category));
  view.size = head.size;
  view.cookie = layout_.pair_of(slot);
  std::byte* const payload = message + kLayout.payload_at(category, head.word.arguments);
  if (category == Category::medium) view.payload = payload;
  if (category == Category::long_message) {
    auto* const destination = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(head.destination));
    view.payload = destination;
    host_.synchronise();  // node mates see the segment
    if (head.word.by_dma == 0) {
      if (head.size != 0) host_.copy(destination, payload, head.size);
    } else {
      if (head.word.head != 0) host_.copy(destination, payload, head.word.head);
      if (head.word.tail != 0) {
        host_.copy(destination + head.size - head.word.tail, payload + head.word.head, head.word.tail);
      }
    }
  }
  sink.arrived(view);
}

}  // namespace gasmeter::networks::sci
