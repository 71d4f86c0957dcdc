// Two ranks, as threads that exchange messages over sockets, and a record of every datagram they send.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/networks/udp/socket_datagrams.hpp"
#include "gasmeter/networks/udp/udp_conduit.hpp"
#include "networks/udp/made_datagrams.hpp"
#include "support/pattern.hpp"
#include "support/shared_block.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::networks::udp {

inline constexpr Bytes kTalkPut = 60'000;
inline constexpr HandlerIndex kCountRequest{200};
inline constexpr HandlerIndex kCountReply{201};

// Record of all datagrams, as a listener on the wire would have it.
class Tap {
 public:
  void keep(std::span<const std::byte> datagram) {
    const std::lock_guard guard(lock_);
    MadeDatagram copy(datagram.begin(), datagram.end());
    if (kept_.size() < 4000) {
      kept_.push_back(std::move(copy));
    } else {
      kept_[next_++ % kept_.size()] = std::move(copy);
    }
  }
  [[nodiscard]] std::vector<MadeDatagram> all() {
    const std::lock_guard guard(lock_);
    return kept_;
  }

 private:
  std::mutex lock_;
  std::vector<MadeDatagram> kept_;
  std::size_t next_ = 0;
};

class TappedDatagrams final : public services::DatagramService {
 public:
  TappedDatagrams(services::DatagramService& inner, Tap& tap) : inner_(inner), tap_(tap) {}
  [[nodiscard]] const services::DatagramLimits& limits() const override { return inner_.limits(); }
  unsigned send(Rank to, std::span<const iovec> parts, Bytes segment) override {
    MadeDatagram all;
    for (const iovec& part : parts) {
      const auto* data = static_cast<const std::byte*>(part.iov_base);
      all.insert(all.end(), data, data + part.iov_len);
    }
    for (Bytes at = 0; at < all.size(); at += segment) {
      tap_.keep({all.data() + at, std::min(segment, all.size() - at)});
    }
    return inner_.send(to, parts, segment);
  }
  bool receive(services::Inbox& inbox) override { return inner_.receive(inbox); }

 private:
  services::DatagramService& inner_;
  Tap& tap_;
};

struct RunSetup {
  Bytes mtu = 1500;
  bool offload = true;
  Authentication covers = Authentication::header;
  HashKey key{11, 12};
  std::uint32_t session = 1;
  std::array<std::string, 2> by_way_of{};  // proxy for the other rank's datagrams to this rank; empty: none
};

// How often each message of one rank arrived, and how often its answer.
struct Traffic {
  std::vector<unsigned> served;
  std::vector<unsigned> answered;
  std::uint64_t arrivals = 0;
  std::uint64_t answers = 0;
  std::uint64_t damaged = 0;
  std::byte* put_at = nullptr;

  static void count(std::vector<unsigned>& counts, std::int32_t number) {
    counts.resize(std::max(counts.size(), static_cast<std::size_t>(number) + 1));
    ++counts[static_cast<std::size_t>(number)];
  }
};

// Arguments: number of the message, seed of the put before it (0: no put).
inline void on_request(core::Token<RealHost>& token) {
  auto& traffic = token.context_as<Traffic>();
  const std::int32_t number = token.argument(0);
  Traffic::count(traffic.served, number);
  ++traffic.arrivals;
  const bool is_whole = testing::has_pattern(token.payload(), token.size(), static_cast<std::uint64_t>(number));
  const std::int32_t put = token.argument(1);
  const bool has_put = put == 0 || testing::has_pattern(traffic.put_at, kTalkPut, static_cast<std::uint64_t>(put));
  if (!is_whole || !has_put) ++traffic.damaged;
  (void)token.reply_short(kCountReply, number);
}

inline void on_reply(core::Token<RealHost>& token) {
  auto& traffic = token.context_as<Traffic>();
  Traffic::count(traffic.answered, token.argument(0));
  ++traffic.answers;
}

struct RunReport {
  std::array<UdpCounters, 2> counters{};
  std::array<Traffic, 2> traffic;
  std::array<std::atomic<std::int32_t>, 2> sent{-1, -1};  // messages; -1: not at the end yet
  std::array<std::string, 2> failure;
  Tap tap;
};

class TappedRun {
 public:
  TappedRun(const RunSetup& setup, RunReport& report) : setup_(setup), report_(report) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      memory_[rank] = std::make_unique<testing::SharedBlock>(layout_.total());
      blocks_[rank] = memory_[rank]->map();
      segments_[rank] = {blocks_[rank] + layout_.segment_at(0), layout_.segment_bytes};
      sockets_[rank] = std::make_unique<SocketDatagrams>(
          SocketOptions{.bind = "127.0.0.1:0", .mtu = setup.mtu, .offload = setup.offload});
    }
    for (std::size_t rank = 0; rank < 2; ++rank) {
      std::vector<std::string> reached = addresses();
      if (!setup.by_way_of[1 - rank].empty()) reached[1 - rank] = setup.by_way_of[1 - rank];
      sockets_[rank]->set_peers(reached, sockets_[rank]->limits().largest);
    }
  }
  [[nodiscard]] std::vector<std::string> addresses() const { return {sockets_[0]->address(), sockets_[1]->address()}; }

  // Run attack() on this thread while the ranks exchange messages.
  void play(const std::function<void()>& attack) {
    std::array<std::thread, 2> threads;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      threads[rank] = std::thread([this, rank] {
        try {
          talk(rank);
        } catch (const std::exception& error) {
          report_.failure[rank] = error.what();
          report_.sent[rank] = 0;
          ++finished_;
        }
      });
    }
    attack();
    is_over_ = true;
    for (std::thread& thread : threads) thread.join();
  }

 private:
  void talk(std::uint32_t rank) {
    const Rank peer{1 - rank};
    TappedDatagrams service(*sockets_[rank], report_.tap);
    UdpSettings settings;
    settings.key = setup_.key;
    settings.session = setup_.session;
    settings.covers = setup_.covers;
    settings.patience = SimTime{30'000'000'000'000};
    const RealHost host(WaitMode::yield);
    UdpConduit conduit(host, service, Rank{rank}, 2, {segments_[rank].address, segments_[rank].size}, settings);
    const core::JobView view{Rank{rank}, 2, Rank{rank}, layout_, blocks_[rank], segments_};
    core::Endpoint<RealHost> endpoint(host, view, &conduit);
    Traffic& mine = report_.traffic[rank];
    mine.put_at = segments_[rank].address;
    std::array<core::HandlerEntry<RealHost>, 2> handlers{
        {{kCountRequest, &on_request, &mine, "request"}, {kCountReply, &on_reply, &mine, "reply"}}};
    endpoint.register_handlers(handlers);
    std::vector<std::byte> source(kTalkPut);
    std::vector<std::byte> fetched(kTalkPut);
    std::int32_t number = 0;
    for (; number < 500 || !is_over_; ++number) {
      const std::int32_t put = number % 100 == 99 ? number : 0;
      if (put != 0) {
        endpoint.wait_until([&] { return mine.answers == static_cast<std::uint64_t>(number); });
        testing::write_pattern(source.data(), kTalkPut, static_cast<std::uint64_t>(put));
        endpoint.put(peer, segments_[1 - rank].address, source.data(), kTalkPut);
        endpoint.get(peer, fetched.data(), segments_[1 - rank].address, kTalkPut);
        if (fetched != source) ++mine.damaged;
      }
      const Bytes bytes = static_cast<Bytes>(number) * 37 % 900;
      std::array<std::byte, 900> payload{};
      testing::write_pattern(payload.data(), bytes, static_cast<std::uint64_t>(number));
      (void)endpoint.request_medium(peer, kCountRequest, payload.data(), bytes, core::Flags::none, number, put);
      endpoint.wait_until([&] { return mine.answers + 20 > static_cast<std::uint64_t>(number); });
    }
    endpoint.wait_until([&] { return mine.answers == static_cast<std::uint64_t>(number); });
    report_.sent[rank] = number;
    endpoint.wait_until([&] {
      const std::int32_t theirs = report_.sent[1 - rank];
      return theirs >= 0 && mine.arrivals >= static_cast<std::uint64_t>(theirs);
    });
    ++finished_;
    while (finished_ < 2) {
      (void)endpoint.poll();
      std::this_thread::yield();
    }
    report_.counters[rank] = conduit.counters();
    // No put writes beyond this.
    const bool is_untouched =
        testing::is_filled(segments_[rank].address + kTalkPut, segments_[rank].size - kTalkPut, 0);
    if (!is_untouched) ++mine.damaged;
  }

  RunSetup setup_;
  RunReport& report_;
  core::NeighbourhoodLayout layout_ = testing::layout_of(1, 16 * 1024, 128 * 1024);
  std::array<std::unique_ptr<testing::SharedBlock>, 2> memory_;
  std::array<std::byte*, 2> blocks_{};
  std::array<core::Segment, 2> segments_;
  std::array<std::unique_ptr<SocketDatagrams>, 2> sockets_;
  std::atomic<bool> is_over_{false};
  std::atomic<unsigned> finished_{0};
};

// Check that every message and every answer arrived once, and whole.
inline void check_exact(const RunReport& report) {
  for (std::size_t rank = 0; rank < 2; ++rank) {
    CHECK(report.failure[rank] == "");
    const Traffic& mine = report.traffic[rank];
    const auto is_one = [](unsigned count) { return count == 1; };
    CHECK(mine.served.size() == static_cast<std::size_t>(report.sent[1 - rank].load()));
    CHECK(std::all_of(mine.served.begin(), mine.served.end(), is_one));
    CHECK(mine.answered.size() == static_cast<std::size_t>(report.sent[rank].load()));
    CHECK(std::all_of(mine.answered.begin(), mine.answered.end(), is_one));
    CHECK(mine.damaged == 0);
  }
}

}  // namespace gasmeter::networks::udp
