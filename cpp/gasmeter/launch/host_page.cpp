#include "gasmeter/launch/host_page.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <random>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/unique_fd.hpp"

namespace gasmeter::launch {
namespace {

// A rank recognises the page by its head: on another host the same path may lead to another file.
using Head = std::array<std::uint64_t, 2>;
static_assert(sizeof(Head) <= kPageHead);

Head draw_head() {
  std::random_device random;
  Head head{};
  for (std::uint64_t& word : head) word = std::uint64_t{random()} << 32U | random();
  return head;
}

// Make a file without a name, which others open by the descriptor of the rank that made it.
UniqueFd make_page(SharedMapping& page, const Head& head) {
  UniqueFd file(::memfd_create("gasmeter-told", MFD_CLOEXEC));
  if (!file || ::ftruncate(file.get(), kPageBytes) != 0) return {};
  page = SharedMapping(file.get(), 0, kPageBytes);
  std::memcpy(page.data(), head.data(), sizeof head);
  return file;
}

SharedMapping open_page(const std::string& path, const std::string& head) {
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file || ::lseek(file.get(), 0, SEEK_END) != static_cast<off_t>(kPageBytes)) return {};
  SharedMapping page(file.get(), 0, kPageBytes);
  if (std::memcmp(page.data(), head.data(), head.size()) != 0) return {};
  return page;
}

}  // namespace

SharedMapping share_page(RankLink& link) {
  SharedMapping page;
  UniqueFd file;
  std::string location;
  const Head head = draw_head();
  try {
    if (link.rank() == Rank{0}) file = make_page(page, head);
  } catch (const ResourceError&) {
    file.reset();
  }
  if (file) {
    location = std::string(reinterpret_cast<const char*>(head.data()), sizeof head) + "/proc/" +
               std::to_string(::getpid()) + "/fd/" + std::to_string(file.get());
  }
  const std::string of_first = link.exchange(location).front();
  if (of_first.empty()) return {};
  try {
    if (link.rank() != Rank{0}) page = open_page(of_first.substr(sizeof head), of_first.substr(0, sizeof head));
  } catch (const ResourceError&) {
    page = {};
  }
  bool all = true;
  for (const std::string& theirs : link.exchange(page.data() != nullptr ? "mapped" : "")) all &= !theirs.empty();
  if (!all) page = {};
  return page;
}

}  // namespace gasmeter::launch
