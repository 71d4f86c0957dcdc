#include "gasmeter/launch/available_memory.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace gasmeter::launch::available_memory_test {
namespace {

constexpr gasmeter::Bytes kMiB = gasmeter::Bytes{1} << 20;

// A file system tree as the kernel would show it.
class FakeRoot {
 public:
  FakeRoot() {
    std::string name = (std::filesystem::temp_directory_path() / "gasmeter-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
    write("/proc/meminfo", "MemTotal:  8388608 kB\nMemFree:  1 kB\nMemAvailable:    4194304 kB\n");
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  ~FakeRoot() { std::filesystem::remove_all(path_); }

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + file).parent_path());
    std::ofstream(path_ + file) << text;
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST_CASE("without_control_groups_available_memory_is_that_of_the_machine") {
  const FakeRoot root;
  CHECK(available_memory(root.path()) == 4096 * kMiB);
  CHECK(available_memory() > 0);
}

TEST_CASE("limit_of_a_control_group_above_counts_and_cached_files_do_not") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "0::/batch/job\n");
  root.write("/sys/fs/cgroup/batch/job/memory.max", "max\n");
  root.write("/sys/fs/cgroup/batch/job/memory.current", "1000\n");
  root.write("/sys/fs/cgroup/batch/memory.max", std::to_string(1000 * kMiB));
  root.write("/sys/fs/cgroup/batch/memory.current", std::to_string(600 * kMiB));
  root.write("/sys/fs/cgroup/batch/memory.stat", "anon 5\ninactive_file " + std::to_string(80 * kMiB) +
                                                     "\nactive_file " + std::to_string(20 * kMiB) + "\n");
  CHECK(available_memory(root.path()) == 500 * kMiB);
}

TEST_CASE("container_whose_group_path_is_hidden_uses_the_root_group") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "5:devices:/\n4:memory:/docker/abc\n");
  root.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(300 * kMiB));
  root.write("/sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(400 * kMiB));
  root.write("/sys/fs/cgroup/memory/memory.stat", "total_inactive_file " + std::to_string(200 * kMiB) + "\n");
  CHECK(available_memory(root.path()) == 100 * kMiB);
}

}  // namespace
}  // namespace gasmeter::launch::available_memory_test
