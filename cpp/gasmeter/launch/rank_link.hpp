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
  AddressWindow window = {};                // for forked ranks; ranks started by exec have addresses of their own
  std::string address = {};                 // HOST:PORT of this rank in a job of several hosts, else empty
  HashKey secret = {};                      // secret of a job of several hosts
  std::optional<SessionKeys> session = {};  // keys of a link between hosts; a link on this host needs none

  [[nodiscard]] std::string text() const;                          // the form of kRankLinkVariable
  [[nodiscard]] static RankIdentity parse(std::string_view text);  // throws UsageError
};

// Work that a rank does for its peers while it waits on its link, for a network whose peers need answers.
struct Servant {
  int fd = -1;                     // serve() is called when it is readable ...
  std::function<SimTime()> serve;  // ... and at the instant that the last call returned (of the calibrated clock)
};

class RankLink {
 public:
  // Takes ownership of both descriptors.
  explicit RankLink(const RankIdentity& identity);
  // Make the link of a rank started by exec; throws UsageError outside a job.
  [[nodiscard]] static RankLink from_environment();

  RankLink(RankLink&&) = default;
  RankLink& operator=(RankLink&&) = default;
  RankLink(const RankLink&) = delete;
  RankLink& operator=(const RankLink&) = delete;
  ~RankLink() = default;

  [[nodiscard]] Rank rank() const { return identity_.rank; }
  [[nodiscard]] std::uint32_t size() const { return identity_.size; }
  [[nodiscard]] int cpu() const { return identity_.cpu; }
  // Return the address to which this rank's sockets are bound; empty in a job of one host.
  [[nodiscard]] const std::string& address() const { return identity_.address; }
  // Return the secret, which only ranks of a job of several hosts know.
  [[nodiscard]] const HashKey& secret() const { return identity_.secret; }
  // Tell whether there are more ranks than CPUs, so that a waiting rank must yield.
  [[nodiscard]] bool oversubscribed() const { return identity_.oversubscribed; }
  // Tell whether the launcher has asked this rank to leave; every later call of the link throws BrokenJob.
  [[nodiscard]] bool ended() const { return ended_; }

  // Return the payload of the next command; empty when the job ends in order. Throws BrokenJob if the launcher
  // vanished.
  [[nodiscard]] std::optional<std::string> next_command();
  // Reply; exactly one reply per command and rank.
  void reply(std::string_view payload);
  // Add a servant, which every wait on this link serves until forget_servant(number). Returns the number.
  [[nodiscard]] int add_servant(Servant servant);
  void forget_servant(int number) { servants_.erase(number); }

  // Say why this rank is about to leave; the client reads it in the message about its death.
  void last_words(std::string_view text) noexcept;
  // Name a child of this rank that leads a process group and may not outlive the job, such as mpiexec: the launcher
  // waits for it once the ranks are gone, and ends its group if it stays.
  void helper(pid_t pid);

  // Collectives: every rank makes the same calls in the same order. They throw BrokenJob when the job ends meanwhile.

  // Reserve `bytes` (at least 1) of memory that all ranks share, zeroed and allocated. All ranks pass the same id and
  // bytes. Throws ResourceError with the launcher's text, on every rank alike, if it does not fit; UsageError if the
  // ranks disagree or the id is in use. If only the mapping fails on one rank, the range stays held until release().
  [[nodiscard]] SharedMapping reserve(std::string_view id, Bytes bytes);
  // Give the range back once every rank has released it. The mapping must be destroyed before. Does not wait.
  void release(std::string_view id);
  // Pass a blob to every rank; return the blobs of all, in rank order.
  [[nodiscard]] std::vector<std::string> exchange(std::string_view blob);
  // Wait until every rank has arrived. Passes through the launcher (tens of microseconds): not for measured loops.
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
  std::optional<Sealer> sealer_;  // for a link between hosts
  std::optional<Unsealer> unsealer_;
  std::deque<std::string> commands_;
  std::map<int, Servant> servants_;
  int next_servant_ = 0;
  std::map<std::string, Bytes, std::less<>> held_;  // id -> bytes
  bool ended_ = false;
};

}  // namespace gasmeter::launch
