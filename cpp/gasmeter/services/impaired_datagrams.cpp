#include "gasmeter/services/impaired_datagrams.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::services {

void Impairment::check() const {
  for (const auto& [name, value] : {std::pair{"loss", loss}, std::pair{"dup", duplicate}, std::pair{"reorder", reorder},
                                    std::pair{"corrupt", corrupt}}) {
    if (!(value >= 0 && value < 1)) {
      throw UsageError(std::string("option ") + name + "=" + std::to_string(value) +
                       ": a probability from 0 to below 1, or nothing would ever arrive");
    }
  }
  if (delay.ps < 0) throw UsageError("option delay_us: at least 0");
}

ImpairedDatagrams::ImpairedDatagrams(DatagramService& inner, const Impairment& plan, std::function<SimTime()> now)
    : inner_(inner), plan_(plan), now_(std::move(now)), random_(plan.seed) {
  plan_.check();
}

bool ImpairedDatagrams::happens(double probability) {
  // 53 random bits make a double in [0, 1).
  return probability > 0 && static_cast<double>(random_() >> 11) * 0x1p-53 < probability;
}

unsigned ImpairedDatagrams::send(Rank to, std::span<const iovec> parts, Bytes segment) {
  release();
  if (is_full_) return 0;
  std::vector<std::byte> all;
  for (const iovec& part : parts) {
    const auto* data = static_cast<const std::byte*>(part.iov_base);
    all.insert(all.end(), data, data + part.iov_len);
  }
  unsigned taken = 0;
  for (Bytes at = 0; at < all.size(); at += segment, ++taken) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last = all.begin() + static_cast<std::ptrdiff_t>(std::min(at + segment, all.size()));
    send_one(to, {first, last});
  }
  release();
  return taken;
}

void ImpairedDatagrams::send_one(Rank to, std::vector<std::byte> datagram) {
  ++counters_.sent;
  for (Held& held : held_) held.overtakers -= held.overtakers != 0 ? 1U : 0U;
  if (happens(plan_.loss)) {
    ++counters_.lost;
    return;
  }
  if (happens(plan_.corrupt)) {
    ++counters_.corrupted;
    const std::uint64_t bit = random_() % (8 * datagram.size());
    datagram[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
  const bool twice = happens(plan_.duplicate);
  const bool late = happens(plan_.reorder);
  counters_.duplicated += twice ? 1U : 0U;
  counters_.reordered += late ? 1U : 0U;
  const unsigned overtakers = late ? 1 + static_cast<unsigned>(random_() % kDeepestReordering) : 0;
  const SimTime due = now_() + plan_.delay;
  if (twice) held_.push_back({to, datagram, due, 0});
  held_.push_back({to, std::move(datagram), due, overtakers});
}

void ImpairedDatagrams::release() {
  is_full_ = false;
  if (held_.empty()) return;
  const SimTime now = now_();
  for (auto held = held_.begin(); held != held_.end();) {
    if (now < held->leaves()) {
      ++held;
      continue;
    }
    const iovec part{held->bytes.data(), held->bytes.size()};
    if (inner_.send(held->to, {&part, 1}, held->bytes.size()) == 0) {
      is_full_ = true;
      retry_ = now + kRetry;
      return;
    }
    held = held_.erase(held);
  }
}

bool ImpairedDatagrams::receive(Inbox& inbox) {
  release();
  return inner_.receive(inbox);
}

Bytes ImpairedDatagrams::bytes_waiting() {
  release();
  return inner_.bytes_waiting();
}

SimTime ImpairedDatagrams::next_deadline() const {
  SimTime first = inner_.next_deadline();
  for (const Held& held : held_) first = std::min(first, is_full_ ? std::max(held.leaves(), retry_) : held.leaves());
  return first;
}

}  // namespace gasmeter::services
