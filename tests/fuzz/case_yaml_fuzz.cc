// A file of cases of sharding rules: read, and every case that is understood is asked.
#include <cstdio>

#include "tests/fuzz/fuzz_input.h"
#include "tools/spmd/check.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace phi;
  static std::FILE* const nowhere = std::fopen("/dev/null", "w");
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  fuzz::expect_result_or_error([&] { spmd_tool::check_cases({file.path()}, "", nowhere); });
  return 0;
}
