#include "gasmeter/base/error.hpp"

#include <cerrno>
#include <system_error>

namespace gasmeter {

void throw_errno(const std::string& call) {
  const int code = errno;
  throw ResourceError(call + ": " + std::generic_category().message(code));
}

}  // namespace gasmeter
