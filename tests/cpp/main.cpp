#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

// Asked for by the thread sanitizer. A kernel whose rules allow the race it would report:
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:update_by_put_get\n";  // HPCC: concurrent read-modify-writes may lose updates
}
