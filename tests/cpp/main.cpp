#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

// Asked for by the thread sanitizer. Kernels whose rules allow the race it would report:
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:update_by_put_get\n"      // HPCC: concurrent read-modify-writes may lose updates
         "race:Barrier<*>::verify\n"     // a peer may be one round ahead and write its counter again
         "race:Flood<*>::on_message\n";  // a Long is read while the next one brings the same bytes
}
