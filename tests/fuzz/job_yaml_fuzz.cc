// A job file: read, and its mesh settled for one process and for four.
#include "tests/fuzz/fuzz_input.h"
#include "tools/job/config/config.h"
#include "tools/job/config/keys/resolved_values.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace phi;
  for (const int64_t processes : {1, 4}) {
    fuzz::expect_result_or_error([&] {
      job::JobConfig config = job::parse_job(std::string(fuzz::text_of(data, size)), "job.yaml");
      std::string note;
      job::resolve_mesh(&config, processes, "", &note);
      job::resolved_values(config);
    });
  }
  return 0;
}
