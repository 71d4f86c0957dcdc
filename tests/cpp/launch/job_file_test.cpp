#include "gasmeter/launch/job_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/shared_mapping.hpp"

namespace gasmeter::launch::job_file_test {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

Bytes allocated_bytes(const JobFile& file) {
  struct stat facts{};
  REQUIRE(::fstat(file.fd(), &facts) == 0);
  return static_cast<Bytes>(facts.st_blocks) * 512;
}

bool all_are(const SharedMapping& mapping, std::byte value) {
  const auto bytes = mapping.bytes();
  return std::all_of(bytes.begin(), bytes.end(), [value](std::byte b) { return b == value; });
}

TEST_CASE("job_file_has_no_name") {
  const JobFile file;
  for (const auto& entry : std::filesystem::directory_iterator(gasmeter::launch::kSharedMemoryMount))
    CHECK(entry.path().filename().string().rfind("gasmeter", 0) == std::string::npos);
}

TEST_CASE("reserved_memory_is_allocated_zeroed_and_shared") {
  JobFile file;
  const Bytes offset = file.reserve(3 * kMiB + 1);
  CHECK(allocated_bytes(file) >= 3 * kMiB + 1);
  const SharedMapping writer(file.fd(), offset, 3 * kMiB + 1);
  const SharedMapping reader(file.fd(), offset, 3 * kMiB + 1);
  CHECK(all_are(reader, std::byte{0}));
  std::fill_n(writer.data(), writer.size(), std::byte{0x5a});
  CHECK(all_are(reader, std::byte{0x5a}));
}

TEST_CASE("ranges_do_not_overlap_and_are_aligned") {
  JobFile file;
  const auto page = static_cast<Bytes>(::sysconf(_SC_PAGESIZE));
  const Bytes a = file.reserve(1);
  const Bytes b = file.reserve(page + 1);
  const Bytes c = file.reserve(2 * kMiB);
  CHECK(a % page == 0);
  CHECK(b >= a + page);
  CHECK(c >= b + 2 * page);
  CHECK(c % (2 * kMiB) == 0);
}

TEST_CASE("released_range_gives_memory_back_and_is_zero_when_reused") {
  JobFile file;
  const Bytes first = file.reserve(kMiB);
  const Bytes second = file.reserve(kMiB);
  {
    const SharedMapping mapping(file.fd(), first, kMiB);
    std::fill_n(mapping.data(), mapping.size(), std::byte{1});
  }
  file.release(first);
  CHECK(allocated_bytes(file) == kMiB);
  const Bytes third = file.reserve(kMiB / 2);
  CHECK(third == first);
  CHECK(all_are(SharedMapping(file.fd(), third, kMiB / 2), std::byte{0}));
  CHECK(file.reserve(kMiB) > second);  // only half a range is left of the gap: too small
}

TEST_CASE("large_reservation_proceeds_in_pieces") {
  JobFile file;
  auto range = file.begin_reserve(100 * kMiB);
  file.advance(range);
  CHECK(range.allocated < range.bytes);
  while (!range.complete()) file.advance(range);
  CHECK(allocated_bytes(file) == 100 * kMiB);
}

TEST_CASE("too_large_reservation_names_sizes_mount_and_remedy_and_takes_nothing") {
  JobFile file;
  for (const Bytes bytes : {Bytes{1} << 50, std::numeric_limits<Bytes>::max()}) {
    try {
      static_cast<void>(file.reserve(bytes));
      FAIL("must not fit");
    } catch (const ResourceError& error) {
      const std::string text = error.what();
      CHECK(text.find(std::to_string(bytes)) != std::string::npos);
      CHECK(text.find("/dev/shm") != std::string::npos);
      CHECK(text.find("remount,size=") != std::string::npos);
      CHECK(text.find("--shm-size") != std::string::npos);
      CHECK(text.find('\n') == std::string::npos);
    }
  }
  CHECK(allocated_bytes(file) == 0);
  CHECK(file.reserve(kMiB) == 0);
}

TEST_CASE("misuse_of_the_job_file_is_a_usage_error") {
  JobFile file;
  CHECK_THROWS_AS(static_cast<void>(file.reserve(0)), UsageError);
  CHECK_THROWS_AS(file.release(4096), UsageError);
}

}  // namespace
}  // namespace gasmeter::launch::job_file_test
