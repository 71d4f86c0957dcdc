#include <sys/prctl.h>

#include <cstdlib>

#include "gasmeter/launch/error_name.hpp"
#include "gasmeter/launch/launcher.hpp"
#include "gasmeter/launch/pinning.hpp"

namespace gasmeter::launch {

int join_job(const JoinOptions& options, const RankMain& rank_main) {
  const auto ranks = static_cast<std::uint32_t>(options.job.addresses.size());
  const char* policy = std::getenv("GASMETER_PIN");
  const std::vector<int> cpus = allowed_cpus();
  Connection connection = join(options.job, options.rank);
  const RankIdentity identity{
      .link_fd = connection.fd.release(),
      .rank = Rank{options.rank},
      .size = ranks,
      .job_fd = -1,
      .cpu = policy == nullptr ? cpus[options.rank % cpus.size()] : place_ranks(1, cpus, policy).cpus.front(),
      .oversubscribed = false,
      .window = {},
      .address = options.job.addresses[options.rank],
      .secret = options.job.secret,
      .session = connection.keys};
  if (identity.cpu != kNotPinned) pin_to(identity.cpu);
  ::prctl(PR_SET_NAME, ("gm-rank-" + std::to_string(options.rank)).c_str());
  RankLink link(identity);
  try {
    return rank_main(link);
  } catch (const std::exception& error) {
    if (link.ended()) return 0;  // the rank was told to leave in the middle of a collective
    link.last_words(std::string(error_name(error)) + ": " + error_text(error));
    throw;
  }
}

}  // namespace gasmeter::launch
