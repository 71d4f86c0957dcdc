#include "gasmeter/conduit/prepare_check.hpp"

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::conduit {

void refuse_prepare(const char* conduit, const AmHeader& header, Bytes least, Bytes most, Bytes largest) {
  throw UsageError(std::string(conduit) + ": message of " + std::to_string(least) + " to " + std::to_string(most) +
                   " bytes and " + std::to_string(header.arguments) + " arguments; at most " + std::to_string(largest) +
                   " bytes and " + std::to_string(kMaxArguments) + " arguments fit");
}

}  // namespace gasmeter::conduit
