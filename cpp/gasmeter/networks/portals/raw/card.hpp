// Portals for raw programs. Every wait takes events that have arrived. A message is a put to one of two memory
// descriptors, which take turns and whose offset the target manages. A control word is a put without payload: its
// content is in match bits and header data. Puts and gets reach a descriptor of the target's memory, and a put ends
// with its acknowledgement.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/raw_card.hpp"
#include "gasmeter/networks/portals/raw/programs.hpp"

namespace gasmeter::networks::portals::raw {

template <class Owner>
class Card : public bench::CardBase<Card<Owner>> {
  using Base = bench::CardBase<Card>;
  using Word = bench::CardWord;

 public:
  static constexpr const char* kNetwork = "portals";
  static constexpr bool kNotifiesTarget = false;  // an acknowledgement goes to the origin
  static constexpr bool kSendsRegistered = true;
  static constexpr bool kAnnouncesPuts = true;  // by an event of the target's descriptor

  Card(Context context, Owner& owner, Bytes message)
      : Base(context.host, context.rank, context.ranks),
        portals_(context.portals),
        owner_(owner),
        message_size_(std::max(message, Bytes{1})),
        receives_(kBuffers * kWaiting * message_size_),
        bases_(context.ranks),
        most_(portals_.parameters().dma_slots),
        events_(portals_.eq_alloc(kEvents + 2 * most_)) {
    this->host().price_misses(portals_.parameters().eq_empty);
    for (std::uint64_t i = 0; i < kBuffers; ++i) provide(i);
    const MeHandle words = portals_.me_attach(kWords, {.ignore = ~std::uint64_t{0}});
    portals_.md_attach(words, {.put = true, .no_start_events = true, .events = events_});
    told_ = portals_.md_bind({.no_start_events = true, .no_end_events = true});
  }

  [[nodiscard]] bool fits(Bytes /*bytes*/) const { return true; }
  [[nodiscard]] unsigned most_waiting() const { return kWaiting; }
  // Expose memory to peers. Peers reach the memory that was registered last.
  void register_memory(std::span<std::byte> memory) {
    MemoryDescriptor of = {.start = memory.data(),
                           .length = memory.size(),
                           .put = true,
                           .get = true,
                           .remote_offset = true,
                           .no_start_events = true,
                           .no_end_events = true};
    portals_.md_attach(portals_.me_attach(kMemory, {}, Position::before), of);
    of.no_end_events = false;
    of.events = events_;
    portals_.md_attach(portals_.me_attach(kAnnounced, {}, Position::before), of);
    MemoryDescriptor local = {.start = of.start, .length = of.length, .no_start_events = true, .events = events_};
    own_.push_back({memory, portals_.md_bind(local)});
  }

  // Take one event.
  bool step() {
    const auto event = portals_.eq_get(events_);
    if (!event) return false;
    switch (event->type) {
      case EventType::put_end:
        take_put(*event);
        break;
      case EventType::unlink:  // all its messages have been taken, since events come in order
        provide(reinterpret_cast<std::uintptr_t>(event->user));
        break;
      case EventType::send_end:
        --under_way_;
        break;
      case EventType::ack:
      case EventType::reply_end:
        owner_.notified(event->manipulated);
        break;
      default:
        break;
    }
    return true;
  }

  void tell(Rank to, const Word& word) {
    std::uint64_t content = 0;
    std::memcpy(&content, word.content().data(), word.content().size());
    portals_.put(told_, 0, 0, Ack::none, {.rank = to, .portal = kWords, .match_bits = word.kind}, content);
  }
  void send(Rank to, std::span<const std::byte> message) {
    if (message.empty()) return portals_.put(told_, 0, 0, Ack::none, {.rank = to, .portal = kMessages});
    wait_for_slot();
    const auto [md, offset] = local(message.data());
    portals_.put(md, offset, message.size(), Ack::none, {.rank = to, .portal = kMessages});
  }
  void put(Rank to, void* remote, const void* local_memory, Bytes bytes, bool notify) {
    wait_for_slot();
    const auto [md, offset] = local(local_memory);
    portals_.put(md, offset, bytes, notify ? Ack::wanted : Ack::none, place(to, remote));
  }
  // Put, and tell the target's owner by `notified` when the data have landed. A message behind a put would not do: it
  // may be handed over before the put's last bytes are there.
  void put_announced(Rank to, void* remote, const void* local_memory, Bytes bytes) {
    wait_for_slot();
    const auto [md, offset] = local(local_memory);
    Target target = place(to, remote);
    target.portal = kAnnounced;
    portals_.put(md, offset, bytes, Ack::none, target);
  }
  void get(Rank from, void* local_memory, void* remote, Bytes bytes) {
    const auto [md, offset] = local(local_memory);
    portals_.get(md, offset, bytes, place(from, remote));
  }

 private:
  static constexpr std::uint32_t kMessages = 0;
  static constexpr std::uint32_t kWords = 1;
  static constexpr std::uint32_t kMemory = 2;
  static constexpr std::uint32_t kAnnounced = 3;  // the same memory, with an event for each put
  static constexpr std::uint64_t kBuffers = 2;
  static constexpr unsigned kWaiting = 64;  // messages of one descriptor: the other may be full of unseen ones
  static constexpr std::uint32_t kEvents = 4 * kWaiting + 4096;

  struct Own {
    std::span<std::byte> memory;
    MdHandle md;
  };
  struct Local {
    MdHandle md;
    Bytes offset;
  };

  void provide(std::uint64_t which) {
    const Bytes length = kWaiting * message_size_;
    portals_.md_attach(portals_.me_attach(kMessages, {}),
                       {.start = receives_.data() + which * length,
                        .length = length,
                        .put = true,
                        .no_start_events = true,
                        .most = message_size_,
                        .events = events_,
                        .user = reinterpret_cast<void*>(which)},
                       Unlink::unlink);
  }
  void take_put(const Event& event) {
    if (event.portal == kAnnounced) return owner_.notified(event.manipulated);
    event.portal == kMessages ? take_message(event) : take_word(event);
  }
  void take_message(const Event& event) {
    const auto which = reinterpret_cast<std::uintptr_t>(event.user);
    owner_.received(receives_.data() + which * kWaiting * message_size_ + event.offset, event.manipulated);
  }
  void take_word(const Event& event) {
    const Word word =
        Word::of(static_cast<std::uint32_t>(event.match_bits), reinterpret_cast<const std::byte*>(&event.header_data));
    if (word.kind == Word::kAddress) bases_[index(event.initiator)] = word.address;
    if (!Base::take_word(word)) owner_.told(word);
  }
  // Wait until fewer puts are in flight than a card has DMA slots. Further puts would wait in software.
  void wait_for_slot() {
    this->wait_until([&] { return under_way_ < most_; });
    ++under_way_;
  }
  [[nodiscard]] Local local(const void* memory) const {
    const auto* const first = static_cast<const std::byte*>(memory);
    for (const Own& each : own_) {
      if (first >= each.memory.data() && first <= each.memory.data() + each.memory.size()) {
        return {each.md, static_cast<Bytes>(first - each.memory.data())};
      }
    }
    return {};
  }
  [[nodiscard]] Target place(Rank of, void* remote) const {
    const auto offset = static_cast<Bytes>(static_cast<std::byte*>(remote) - bases_[index(of)]);
    return {.rank = of, .portal = kMemory, .offset = offset};
  }

  Portals& portals_;
  Owner& owner_;
  Bytes message_size_;
  bench::AlignedBuffer receives_;
  std::vector<std::byte*> bases_;  // begin of the memory of each rank
  std::uint32_t most_;
  EqHandle events_;
  MdHandle told_;
  std::vector<Own> own_;
  std::uint32_t under_way_ = 0;  // puts that have not left
};

}  // namespace gasmeter::networks::portals::raw
