#include "gasmeter/launch/exchange.hpp"

#include <exception>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/error_name.hpp"

namespace gasmeter::launch {

// A blob is the prepared text behind a zero byte; or the name of a failure's class, a line break and its text.
std::vector<std::string> exchange_or_fail(RankLink& link, const std::function<std::string()>& prepare) {
  std::string blob;
  std::exception_ptr failure;
  try {
    blob = '\0' + prepare();
  } catch (const BrokenJob&) {
    throw;
  } catch (const std::exception& error) {
    blob = std::string(error_name(error)) + '\n' + error_text(error);
    failure = std::current_exception();
  }
  std::vector<std::string> all = link.exchange(blob);
  if (failure) std::rethrow_exception(failure);
  for (std::uint32_t rank = 0; rank < link.size(); ++rank) {
    if (all[rank].empty() || all[rank].front() != '\0') {
      const std::size_t end = all[rank].find('\n');
      throw_named(all[rank].substr(0, end), "rank " + std::to_string(rank) + ": " + all[rank].substr(end + 1));
    }
    all[rank].erase(0, 1);
  }
  return all;
}

}  // namespace gasmeter::launch
