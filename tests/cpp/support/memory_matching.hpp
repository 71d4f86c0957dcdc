// Matched messages between the ranks of one process, by two lists per rank: the posted receives, and the messages
// without one. Any thread may drive a rank.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

#include "gasmeter/services/two_sided_service.hpp"

namespace gasmeter::testing {

struct MatchingOptions {
  Bytes eager = 4096;  // larger messages wait for their receive
  std::uint32_t most_sends = 512;
  double refuse = 0;          // probability that a send is refused
  bool eager_is_done = true;  // false: the end of every send is reported later
  std::uint64_t seed = 1;
};

class MemoryMatching {
 public:
  class Port;

  MemoryMatching(std::uint32_t ranks, const MatchingOptions& options) : options_(options), random_(options.seed) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) ports_.push_back(std::make_unique<Port>(*this, Rank{rank}));
  }

  [[nodiscard]] Port& port(std::uint32_t rank) { return *ports_[rank]; }

 private:
  struct Message {
    Rank source{};
    services::Tag tag{};
    std::vector<std::byte> bytes;                 // of an eager message
    std::span<const std::byte> where;             // of a message that waits
    std::optional<std::uint32_t> waiting_number;  // ... whose sender is told when it is received
  };
  struct Receive {
    std::span<std::byte> buffer;
    std::optional<Rank> source;
    std::optional<services::Tag> tag;
    [[nodiscard]] bool takes(const Message& message) const {
      return (!source || *source == message.source) && (!tag || *tag == message.tag);
    }
  };

 public:
  class Port final : public services::TwoSidedService {
   public:
    Port(MemoryMatching& all, Rank self) : all_(all), self_(self) {
      limits_ = {.eager = all.options_.eager, .most_sends = all.options_.most_sends};
      busy_.resize(limits_.most_sends);
    }

    [[nodiscard]] const services::TwoSidedLimits& limits() const override { return limits_; }

    void post(std::uint32_t slot, std::span<std::byte> buffer, std::optional<Rank> source,
              std::optional<services::Tag> tag) override {
      const std::lock_guard guard(all_.mutex_);
      if (slot >= receives_.size()) receives_.resize(slot + 1);
      receives_[slot] = {buffer, source, tag};
      start(slot);
    }
    void forget(std::span<const std::byte> memory) override {
      if (!memory.empty()) forgotten.push_back(memory);
    }
    void restart(std::uint32_t slot) override {
      const std::lock_guard guard(all_.mutex_);
      start(slot);
    }

    services::SendState send(std::uint32_t number, Rank to, services::Tag tag,
                             std::span<const std::byte> bytes) override {
      const std::lock_guard guard(all_.mutex_);
      if (busy_.at(number)) throw std::logic_error("a number that is on its way is used again");
      if (static_cast<std::uint32_t>(tag) > services::kMostTag) throw std::logic_error("no such tag");
      if (refuses || std::bernoulli_distribution(all_.options_.refuse)(all_.random_))
        return services::SendState::refused;
      Port& peer = *all_.ports_[index(to)];
      ++sends;
      Message message{self_, tag, {}, {}, std::nullopt};
      const bool is_eager = bytes.size() <= limits_.eager;
      if (is_eager) {
        message.bytes.assign(bytes.begin(), bytes.end());
      } else {
        message.where = bytes;
        message.waiting_number = number;
      }
      busy_[number] = !is_eager || !all_.options_.eager_is_done;
      if (is_eager && busy_[number]) events_.push_back({true, number, self_, tag, 0});
      const auto found = std::find_if(peer.posted_.begin(), peer.posted_.end(),
                                      [&](std::uint32_t slot) { return peer.receives_[slot].takes(message); });
      if (found == peer.posted_.end()) {
        peer.unexpected_.push_back(std::move(message));
        peer.most_unexpected = std::max(peer.most_unexpected, peer.unexpected_.size());
      } else {
        const std::uint32_t slot = *found;
        peer.posted_.erase(found);
        peer.deliver(slot, message);
      }
      return busy_[number] ? services::SendState::under_way : services::SendState::done;
    }

    unsigned test_some(Sink& sink, unsigned budget) override {
      unsigned told = 0;
      for (; told < budget; ++told) {
        Event event{};
        {
          const std::lock_guard guard(all_.mutex_);
          if (events_.empty()) break;
          event = events_.front();
          events_.pop_front();
          if (event.is_send) busy_[event.which] = false;
        }
        event.is_send ? sink.sent(event.which) : sink.received(event.which, event.source, event.tag, event.bytes);
      }
      return told;
    }
    [[nodiscard]] bool has_news() const override {
      const std::lock_guard guard(all_.mutex_);
      return !events_.empty();
    }

    std::uint64_t sends = 0;
    std::size_t most_unexpected = 0;
    bool refuses = false;
    std::vector<std::span<const std::byte>> forgotten;

   private:
    struct Event {
      bool is_send;
      std::uint32_t which;
      Rank source;
      services::Tag tag;
      Bytes bytes;
    };

    void start(std::uint32_t slot) {
      const auto found = std::find_if(unexpected_.begin(), unexpected_.end(),
                                      [&](const Message& message) { return receives_[slot].takes(message); });
      if (found == unexpected_.end()) {
        posted_.push_back(slot);
        return;
      }
      const Message message = std::move(*found);
      unexpected_.erase(found);
      deliver(slot, message);
    }

    void deliver(std::uint32_t slot, const Message& message) {
      const std::span<const std::byte> bytes = message.waiting_number ? message.where : std::span(message.bytes);
      if (bytes.size() > receives_[slot].buffer.size()) throw std::logic_error("a message is longer than its receive");
      if (!bytes.empty()) std::memcpy(receives_[slot].buffer.data(), bytes.data(), bytes.size());
      events_.push_back({false, slot, message.source, message.tag, bytes.size()});
      if (message.waiting_number) {
        all_.ports_[index(message.source)]->events_.push_back(
            {true, *message.waiting_number, message.source, message.tag, 0});
      }
    }

    MemoryMatching& all_;
    Rank self_;
    services::TwoSidedLimits limits_;
    std::vector<Receive> receives_;  // by slot
    std::deque<std::uint32_t> posted_;
    std::deque<Message> unexpected_;
    std::deque<Event> events_;
    std::vector<bool> busy_;  // by number
  };

 private:
  MatchingOptions options_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Port>> ports_;
};

}  // namespace gasmeter::testing
