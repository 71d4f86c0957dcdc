#include "gasmeter/launch/exchange.hpp"

#include <exception>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {

// A blob is what was prepared behind a zero byte, or the text of a failure.
std::vector<std::string> exchange_or_fail(RankLink& link, const std::function<std::string()>& prepare) {
  std::string blob;
  std::exception_ptr own;
  try {
    blob = '\0' + prepare();
  } catch (const BrokenJob&) {
    throw;
  } catch (const Error& error) {
    blob = error.what();
    own = std::current_exception();
  }
  std::vector<std::string> all = link.exchange(blob);
  if (own) std::rethrow_exception(own);
  for (std::uint32_t rank = 0; rank < link.size(); ++rank) {
    if (all[rank].empty() || all[rank].front() != '\0') {
      throw ResourceError("rank " + std::to_string(rank) + ": " + all[rank]);
    }
    all[rank].erase(0, 1);
  }
  return all;
}

}  // namespace gasmeter::launch
