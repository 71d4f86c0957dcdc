#include "gasmeter/launch/rank_link.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "gasmeter/base/clock.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/fields.hpp"

namespace gasmeter::launch {
namespace {

std::int32_t number_of(Rank rank) {
  return static_cast<std::int32_t>(index(rank));
}

void keep_from_children(int fd) {
  if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
    throw_errno(std::string(kRankLinkVariable) + " names descriptor " + std::to_string(fd) +
                ", which is not open here (only a launcher's own child can be a rank)");
}

}  // namespace

std::string RankIdentity::text() const {
  std::string text;
  for (const std::int64_t value : {std::int64_t{link_fd}, std::int64_t{index(rank)}, std::int64_t{size},
                                   std::int64_t{job_fd}, std::int64_t{cpu}, std::int64_t{oversubscribed ? 1 : 0}})
    text.append(text.empty() ? "" : ",").append(std::to_string(value));
  return text;
}

RankIdentity RankIdentity::parse(std::string_view text) {
  std::array<int, 6> values{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [stop, code] = std::from_chars(at, end, values[i]);
    const bool last = i + 1 == values.size();
    if (code != std::errc() || (last ? stop != end : stop == end || *stop != ','))
      throw UsageError(std::string(kRankLinkVariable) + "=" + std::string(text) +
                       " is not fd,rank,size,jobfd,cpu,oversubscribed");
    at = last ? stop : stop + 1;
  }
  const auto [link_fd, rank, size, job_fd, cpu, oversubscribed] = values;
  if (rank < 0 || size <= rank || link_fd < 0 || job_fd < 0)
    throw UsageError(std::string(kRankLinkVariable) + "=" + std::string(text) + " names no rank of a job");
  return {.link_fd = link_fd,
          .rank = Rank{static_cast<std::uint32_t>(rank)},
          .size = static_cast<std::uint32_t>(size),
          .job_fd = job_fd,
          .cpu = cpu,
          .oversubscribed = oversubscribed != 0};
}

RankLink::RankLink(const RankIdentity& identity) : identity_(identity), link_(identity.link_fd), job_(identity.job_fd) {
  if (!identity.session) return;
  sealer_.emplace(identity.session->send);
  unsealer_.emplace(identity.session->receive);
}

RankLink RankLink::from_environment() {
  const char* text = std::getenv(kRankLinkVariable);
  if (text == nullptr)
    throw UsageError(std::string(kRankLinkVariable) + " is not set: this program is a rank, started by a launcher");
  const RankIdentity identity = RankIdentity::parse(text);
  keep_from_children(identity.link_fd);
  keep_from_children(identity.job_fd);
  return RankLink(identity);
}

void RankLink::send(FrameKind kind, std::string_view payload) {
  if (ended_) throw BrokenJob("rank " + std::to_string(index(rank())) + ": the job has ended");
  if (!send_plain_or_sealed(kind, payload))
    throw BrokenJob("rank " + std::to_string(index(rank())) + ": the launcher went away");
}

bool RankLink::send_plain_or_sealed(FrameKind kind, std::string_view payload) {
  if (!sealer_) return send_frame(link_.get(), kind, number_of(rank()), payload);
  check_payload(payload.size());
  const auto header = encode_header(kind, number_of(rank()), payload.size());
  std::string frame(header.data(), header.size());
  frame.append(payload);
  return send_bytes(link_.get(), sealer_->seal(frame));
}

// Return the next frame among the received bytes.
std::optional<Frame> RankLink::next_frame() {
  while (true) {
    if (auto frame = reader_.next()) return frame;
    const auto bytes = unsealer_ ? unsealer_->next() : std::nullopt;
    if (!bytes) return std::nullopt;
    reader_.append(*bytes);
  }
}

Frame RankLink::receive() {
  while (true) {
    if (auto frame = next_frame()) return std::move(*frame);
    if (!servants_.empty()) serve_until_readable();
    const Transfer transfer =
        unsealer_ ? unsealer_->receive(link_.get(), Waiting::yes) : reader_.receive(link_.get(), Waiting::yes);
    if (transfer == Transfer::closed)
      throw BrokenJob("rank " + std::to_string(index(rank())) + ": the launcher went away");
  }
}

int RankLink::add_servant(Servant servant) {
  servants_.emplace(next_servant_, std::move(servant));
  return next_servant_++;
}

void RankLink::serve_until_readable() {
  while (true) {
    SimTime next = kNever;
    std::vector<pollfd> fds{{link_.get(), POLLIN, 0}};
    for (auto& [number, servant] : servants_) {
      next = std::min(next, servant.serve());
      fds.push_back({servant.fd, POLLIN, 0});
    }
    int timeout_ms = -1;
    if (next != kNever) {
      constexpr std::int64_t kPerMillisecond = 1'000'000'000;
      const std::int64_t left = std::max<std::int64_t>((next - Clock::calibrated().now()).ps, 0);
      timeout_ms = static_cast<int>(std::min<std::int64_t>(left / kPerMillisecond + 1, 1000));
    }
    if (::poll(fds.data(), fds.size(), timeout_ms) < 0 && errno != EINTR) throw_errno("poll");
    if (fds.front().revents != 0) return;
  }
}

std::optional<std::string> RankLink::next_command() {
  while (!ended_) {
    if (!commands_.empty()) {
      std::string command = std::move(commands_.front());
      commands_.pop_front();
      return command;
    }
    Frame frame = receive();
    if (frame.kind == FrameKind::quit) ended_ = true;
    if (frame.kind == FrameKind::command) commands_.push_back(std::move(frame.payload));
  }
  return std::nullopt;
}

void RankLink::reply(std::string_view payload) {
  send(FrameKind::reply, payload);
}

void RankLink::last_words(std::string_view text) noexcept {
  try {
    // If the launcher is gone, nobody can be told.
    static_cast<void>(send_plain_or_sealed(FrameKind::last_words, text));
  } catch (const std::exception&) {
  }
}

void RankLink::helper(pid_t pid) {
  send(FrameKind::helper, Fields{{"pid", std::to_string(pid)}}.text());
}

std::string RankLink::wait_for(FrameKind kind, const char* call) {
  while (true) {
    Frame frame = receive();
    if (frame.kind == kind) return std::move(frame.payload);
    if (frame.kind == FrameKind::command) commands_.push_back(std::move(frame.payload));
    if (frame.kind == FrameKind::quit || frame.kind == FrameKind::died) {
      ended_ = true;
      throw BrokenJob("rank " + std::to_string(index(rank())) + ": the job ended during " + call);
    }
  }
}

SharedMapping RankLink::reserve(std::string_view id, Bytes bytes) {
  if (bytes == 0) throw UsageError("reserve(" + std::string(id) + "): 0 bytes; ask for at least 1");
  if (id.find('\n') != std::string_view::npos) throw UsageError("reserve: the id holds a line break");
  if (held_.contains(id)) throw UsageError("reserve(" + std::string(id) + "): the id is in use; release it before");
  send(FrameKind::reserve, Fields{{"id", std::string(id)}, {"bytes", std::to_string(bytes)}}.text());
  const Fields answer = Fields::parse(wait_for(FrameKind::reserved, "reserve"));
  if (const auto error = answer.find("error")) {
    const std::string text = "reserve(" + std::string(id) + "): " + std::string(*error);
    if (answer.find("kind") == "UsageError") throw UsageError(text);
    throw ResourceError(text);
  }
  if (!job_) throw ResourceError("reserve(" + std::string(id) + "): ranks of several hosts share no memory");
  held_.emplace(id, bytes);
  const auto offset = static_cast<Bytes>(answer.number("offset"));
  return SharedMapping(job_.get(), offset, bytes, identity_.window.place(offset, bytes));
}

void RankLink::release(std::string_view id) {
  const auto held = held_.find(id);
  if (held == held_.end()) throw UsageError("release(" + std::string(id) + "): nothing of that id is reserved");
  held_.erase(held);
  send(FrameKind::release, Fields{{"id", std::string(id)}}.text());
}

std::vector<std::string> RankLink::exchange(std::string_view blob) {
  send(FrameKind::exchange, blob);
  const std::string all = wait_for(FrameKind::exchanged, "exchange");
  std::vector<std::string> blobs;
  blobs.reserve(size());
  for (Bytes at = 0; at + sizeof(std::uint64_t) <= all.size();) {
    const Bytes length = static_cast<Bytes>(read_u64(all.data() + at));
    at += sizeof(std::uint64_t);
    blobs.push_back(all.substr(at, length));
    at += length;
  }
  if (blobs.size() != size())
    throw BrokenJob("exchange returned " + std::to_string(blobs.size()) + " blobs for " + std::to_string(size()) +
                    " ranks");
  return blobs;
}

void RankLink::barrier() {
  static_cast<void>(exchange({}));
}

}  // namespace gasmeter::launch
