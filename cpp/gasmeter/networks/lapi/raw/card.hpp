// A task for raw programs. Every wait runs the dispatcher. Messages are Amsends whose header handler names a buffer.
// Words beside the measured operations (CardWord) lie in user headers. Puts and gets use RDMA mode or packet mode. A
// message after a put in RDMA mode would overtake that put. The message therefore waits until earlier puts are done.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <span>

#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/raw_card.hpp"
#include "gasmeter/networks/lapi/raw/programs.hpp"

namespace gasmeter::networks::lapi::raw {

template <class Owner>
class Card : public bench::CardBase<Card<Owner>>, private HeaderHandler {
  using Base = bench::CardBase<Card>;
  using Word = bench::CardWord;

 public:
  static constexpr const char* kNetwork = "lapi";
  static constexpr bool kNotifiesTarget = false;   // the completion counter belongs to the origin
  static constexpr bool kSendsRegistered = false;  // the FIFO has the bytes when send() returns

  Card(Context context, Owner& owner, Bytes message)
      : Base(context.host, context.rank, context.ranks),
        task_(context.task),
        owner_(owner),
        rdma_(context.rdma),
        received_(std::max(message, sizeof(Word))) {
    task_.on_header(*this);
  }

  [[nodiscard]] bool fits(Bytes bytes) const { return task_.packets_of(0, bytes) <= task_.most_packets(); }
  // Windows limit senders, so that programs need no credits.
  [[nodiscard]] unsigned most_waiting() const { return std::numeric_limits<unsigned>::max(); }
  void register_memory(std::span<std::byte> memory) { task_.register_memory(memory); }

  // Handle one packet, or send a message that waits.
  bool step() {
    if (!owed_.empty() && owed_.front().behind <= done_ && task_.reserve(owed_.front().to, 1)) {
      const Rank to = owed_.front().to;
      owed_.pop_front();
      task_.amsend(to, {}, {});
      return true;
    }
    const auto event = task_.probe();
    if (!event) return false;
    if (event->type == Event::Type::message) {
      if (event->counter != kWord) {
        owner_.received(received_.data(), event->counter);
      } else if (!this->take_word(word_)) {
        owner_.told(word_);
      }
    } else if (event->type == Event::Type::completion) {
      take_completion(event->counter);
    }
    return true;
  }

  void tell(Rank to, const Word& word) {
    this->wait_until([&] { return task_.reserve(to, 1); });
    task_.amsend(to, std::as_bytes(std::span(&word, 1)), {});
  }
  // A message behind puts has to wait: in a list if it has no payload, else in this call.
  void send(Rank to, std::span<const std::byte> message) {
    if (!message.empty()) this->wait_until([&] { return done_ == begun_; });
    if (done_ != begun_) {
      owed_.push_back({to, begun_});
      return;
    }
    this->wait_until([&] { return task_.reserve(to, task_.packets_of(0, message.size())); });
    task_.amsend(to, {}, message);
  }
  // Put in pieces that the windows hold. The pieces arrive in order, so that the last one tells of all.
  void put(Rank to, void* remote, const void* local, Bytes bytes, bool notify) {
    const Bytes most = rdma_ ? bytes : task_.most_packets() * task_.parameters().mtu;
    Bytes done = 0;
    do {
      const Bytes part = std::min(bytes - done, most);
      const bool last = done + part == bytes;
      auto* const to_piece = static_cast<std::byte*>(remote) + done;
      const auto* const from_piece = static_cast<const std::byte*>(local) + done;
      this->wait_until([&] {
        if (rdma_)
          return task_.rdma_put(to, to_piece, from_piece, part, notify ? bytes : kSilent | begun_) == Status::ok;
        return task_.put(to, to_piece, from_piece, part, notify && last ? bytes : kNoCounter) == Status::ok;
      });
      done += part;
    } while (done != bytes);
    if (!rdma_ || notify) return;
    is_done_.push_back(false);
    ++begun_;
  }
  void get(Rank from, void* local, void* remote, Bytes bytes) {
    this->wait_until([&] {
      return (rdma_ ? task_.rdma_get(from, local, remote, bytes, bytes)
                    : task_.get(from, local, remote, bytes, bytes)) == Status::ok;
    });
  }

 private:
  // Counters of messages and completions hold a number of bytes. A word has a number of its own.
  static constexpr std::uint64_t kWord = kNoCounter - 1;
  // Flag of a put that is not reported. The rest is its number.
  static constexpr std::uint64_t kSilent = std::uint64_t{1} << 62U;

  struct Owed {
    Rank to{};
    std::uint64_t behind = 0;  // number of puts
  };

  Landing begin(Rank /*from*/, std::span<const std::byte> user_header, Bytes bytes) override {
    if (user_header.empty()) return {.to = received_.data(), .counter = bytes};
    this->host().copy(&word_, user_header.data(), sizeof word_);
    return {.counter = kWord};
  }

  void take_completion(std::uint64_t counter) {
    if ((counter & kSilent) == 0) return owner_.notified(counter);
    is_done_[(counter & ~kSilent) - done_] = true;
    for (; !is_done_.empty() && is_done_.front(); ++done_) is_done_.pop_front();
  }

  LapiTask& task_;
  Owner& owner_;
  bool rdma_;
  bench::AlignedBuffer received_;
  Word word_;
  std::uint64_t begun_ = 0;   // puts that are not reported to the owner
  std::uint64_t done_ = 0;    // how many of those puts, from the first on, are done
  std::deque<bool> is_done_;  // from done_ on
  std::deque<Owed> owed_;
};

}  // namespace gasmeter::networks::lapi::raw
