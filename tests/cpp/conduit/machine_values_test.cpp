#include "gasmeter/conduit/machine_values.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::conduit::machine_values_test {
namespace {

std::string refusal(const auto& read) {
  try {
    (void)read();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool names(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("values_are_read_in_the_units_of_the_model") {
  MachineValues machine(
      "toy",
      {{"a", 0.27e-6}, {"b", 625e6}, {"c", 64.0}, {"d", 512.0}, {"e", "mesh3d:4x4x4"}, {"f", 3.4567e-9}, {"g", 1.6e9}});
  CHECK(machine.time("a").ps == 270'000);
  CHECK(machine.per_byte_fs("b") == 1'600'000);
  CHECK(machine.bytes("c") == 64);
  CHECK(machine.count("d") == 512);
  CHECK(machine.text("e") == "mesh3d:4x4x4");
  CHECK(machine.time("f").ps == 3'457);
  CHECK(machine.per_byte_fs("g") == 625'000);
  machine.check_all_used();
}

TEST_CASE("what_is_missing_or_out_of_range_is_named") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  MachineValues machine("toy", {{"zero", 0.0},
                                {"negative", -1.0},
                                {"huge", 1e30},
                                {"half", 1.5},
                                {"nan", std::numeric_limits<double>::quiet_NaN()},
                                {"infinite", kInfinity},
                                {"tiny", 1e-13},
                                {"word", "fast"},
                                {"number", 3.0}});
  for (const char* key : {"missing", "zero", "negative", "huge", "nan", "infinite", "word"}) {
    CAPTURE(key);
    const std::string time = refusal([&] { return machine.time(key); });
    CHECK(names(time, std::string(": ") + key + " "));
    CHECK(names(time, "toy"));
    CHECK(names(refusal([&] { return machine.per_byte_fs(key); }), key));
    CHECK(names(refusal([&] { return machine.bytes(key); }), key));
    CHECK(names(refusal([&] { return machine.count(key); }), key));
  }
  CHECK(names(refusal([&] { return machine.time("tiny"); }), "tiny"));
  CHECK(names(refusal([&] { return machine.bytes("half"); }), "half"));
  CHECK(names(refusal([&] { return machine.count("half"); }), "half"));
  CHECK(names(refusal([&] { return machine.text("number"); }), "number"));
  CHECK(names(refusal([&] { return machine.text("missing"); }), "missing"));
}

TEST_CASE("keys_that_nobody_reads_are_named") {
  MachineValues machine("toy", {{"link.latency", 1e-6}, {"link.latnecy", 1e-6}, {"oops", "x"}});
  (void)machine.time("link.latency");
  const std::string text = refusal([&] {
    machine.check_all_used();
    return 0;
  });
  CHECK(names(text, "network toy"));
  CHECK(names(text, "link.latnecy, oops"));
}

}  // namespace
}  // namespace gasmeter::conduit::machine_values_test
