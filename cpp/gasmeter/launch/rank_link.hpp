// A rank's end of the link to its launcher.
//
// One thread uses a link at a time. Waiting sleeps in the kernel: an idle rank costs no CPU time. Commands that arrive
// while a collective waits are kept for next_command().
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gasmeter/base/keyed_hash.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/launch/address_window.hpp"
#include "gasmeter/launch/frame.hpp"
#include "gasmeter/launch/sealed_stream.hpp"
#include "gasmeter/launch/shared_mapping.hpp"
#include "gasmeter/launch/unique_fd.hpp"

namespace gasmeter::launch {

// Environment variable of ranks that were started by exec: "fd,rank,size,jobfd,cpu,oversubscribed(0|1)".
inline constexpr const char* kRankLinkVariable = "GASMETER_RANK_LINK";

struct RankIdentity {
  int link_fd = -1;
  Rank rank{0};
  std::uint32_t size = 1;
  int job_fd = -1;
  int cpu = -1;  // kNotPinned where the kernel chooses
  bool oversubscribed = false;
  AddressWindow window = {};  // of ranks that were forked; those started by exec have addresses of their own
  std::string address = {};   // HOST:PORT of this rank in a job of several hosts, else empty
  HashKey secret = {};        // of such a job
  std::optional<SessionKeys> session = {};  // of a link between hosts; one on this host only its ends can open

  [[nodiscard]] std::string text() const;                          // the form of kRankLinkVariable
  [[nodiscard]] static RankIdentity parse(std::string_view text);  // throws UsageError
};

// What a rank does for its peers while it waits on its link: a network whose peers need answers.
struct Servant {
  int fd = -1;                     // serve() is called when it is readable ...
  std::function<SimTime()> serve;  // ... and at the instant that the last call returned (of the calibrated clock)
};

class RankLink {
 public:
  // Takes ownership of both descriptors.
  explicit RankLink(const RankIdentity& identity);
  // For ranks started by exec; throws UsageError outside a job.
  [[nodiscard]] static RankLink from_environment();

  RankLink(RankLink&&) = default;
  RankLink& operator=(RankLink&&) = default;
  RankLink(const RankLink&) = delete;
  RankLink& operator=(const RankLink&) = delete;
  ~RankLink() = default;

  [[nodiscard]] Rank rank() const { return identity_.rank; }
  [[nodiscard]] std::uint32_t size() const { return identity_.size; }
  [[nodiscard]] int cpu() const { return identity_.cpu; }
  // Where this rank's sockets are to be bound; empty in a job of one host.
  [[nodiscard]] const std::string& address() const { return identity_.address; }
  // Known to the ranks of a job of several hosts and to nobody else.
  [[nodiscard]] const HashKey& secret() const { return identity_.secret; }
  // More ranks than CPUs: a rank that waits has to yield.
  [[nodiscard]] bool oversubscribed() const { return identity_.oversubscribed; }
  // True after the launcher asked to leave; every later call of the link throws BrokenJob.
  [[nodiscard]] bool ended() const { return ended_; }

  // The payload of the next command; nothing when the job ends in order. Throws BrokenJob if the launcher vanished.
  [[nodiscard]] std::optional<std::string> next_command();
  // Exactly one per command and rank.
  void reply(std::string_view payload);
  // Until forget(number): waiting on this link, whatever for, serves it. Returns the number.
  [[nodiscard]] int add_servant(Servant servant);
  void forget_servant(int number) { servants_.erase(number); }

  // Why this rank is about to leave; the client reads it in the message about its death.
  void last_words(std::string_view text) noexcept;
  // Name a child of this rank that leads a process group and may not outlive the job, such as mpiexec: the launcher
  // waits for it once the ranks are gone, and ends its group if it stays.
  void helper(pid_t pid);

  // Collectives: every rank calls the same ones in the same order. They throw BrokenJob when the job ends meanwhile.

  // `bytes` (at least 1) of memory that all ranks share, zeroed, really allocated. All ranks name the same id and
  // bytes. Throws ResourceError with the launcher's text, on every rank alike, if it does not fit; UsageError if the
  // ranks disagree or the id is in use. If only the mapping fails on one rank, the range stays held until release().
  [[nodiscard]] SharedMapping reserve(std::string_view id, Bytes bytes);
  // Gives the range back once every rank has released it. Destroy the mapping before. Does not wait.
  void release(std::string_view id);
  // Hands a blob to every rank; returns those of all, in rank order.
  [[nodiscard]] std::vector<std::string> exchange(std::string_view blob);
  // Returns when every rank has arrived. Passes through the launcher (tens of microseconds): not for measured loops.
  void barrier();

 private:
  void send(FrameKind kind, std::string_view payload);
  [[nodiscard]] bool send_plain_or_sealed(FrameKind kind, std::string_view payload);
  [[nodiscard]] Frame receive();
  [[nodiscard]] std::optional<Frame> next_frame();
  void serve_until_readable();
  [[nodiscard]] std::string wait_for(FrameKind kind, const char* call);

  RankIdentity identity_;
  UniqueFd link_;
  UniqueFd job_;
  FrameReader reader_;
  std::optional<Sealer> sealer_;  // of a link between hosts
  std::optional<Unsealer> unsealer_;
  std::deque<std::string> commands_;
  std::map<int, Servant> servants_;
  int next_servant_ = 0;
  std::map<std::string, Bytes, std::less<>> held_;  // id -> bytes
  bool ended_ = false;
};

}  // namespace gasmeter::launch
