#include "gasmeter/launch/job_memory.hpp"

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/error_name.hpp"
#include "gasmeter/launch/fields.hpp"

namespace gasmeter::launch {
namespace {

std::string one_line(const std::string& payload) {
  std::string text;
  for (const auto& [key, value] : Fields::parse(payload))
    text.append(text.empty() ? "" : " ").append(key).append("=").append(value);
  return text;
}

// Check that all ranks ask for the same: a difference is a mistake in the program.
void check_agreement(const std::vector<CollectiveRequest>& requests, const std::string& call) {
  for (std::size_t rank = 1; rank < requests.size(); ++rank)
    if (requests[rank].payload != requests[0].payload)
      throw UsageError("the ranks disagree in " + call + ": rank 0 asks for " + one_line(requests[0].payload) +
                       ", rank " + std::to_string(rank) + " for " + one_line(requests[rank].payload));
}

std::string failure(const Error& error) {
  return Fields{{"error", error.what()}, {"kind", std::string(error_name(error))}}.text();
}

}  // namespace

std::optional<std::string> JobMemory::reserve(const std::vector<CollectiveRequest>& requests) {
  try {
    check_agreement(requests, "reserve");
    const Fields asked = Fields::parse(requests[0].payload);
    std::string id(asked.at("id"));
    if (held_.contains(id)) throw UsageError("the id is in use");
    pending_ = Pending{std::move(id), file_.begin_reserve(static_cast<Bytes>(asked.number("bytes")))};
    return std::nullopt;
  } catch (const Error& error) {
    return failure(error);
  }
}

std::optional<std::string> JobMemory::step() {
  try {
    file_.advance(pending_->range);
  } catch (const Error& error) {
    pending_.reset();
    return failure(error);
  }
  if (!pending_->range.complete()) return std::nullopt;
  const Bytes offset = pending_->range.offset;
  held_.emplace(std::move(pending_->id), offset);
  pending_.reset();
  return Fields{{"offset", std::to_string(offset)}}.text();
}

void JobMemory::release(const std::vector<CollectiveRequest>& requests) {
  try {
    check_agreement(requests, "release");
    const Fields asked = Fields::parse(requests[0].payload);
    const auto held = held_.find(asked.at("id"));
    if (held == held_.end()) throw UsageError("release of " + std::string(asked.at("id")) + ", which is not reserved");
    file_.release(held->second);
    held_.erase(held);
  } catch (const UsageError& error) {
    throw BrokenJob(error.what());
  }
}

}  // namespace gasmeter::launch
