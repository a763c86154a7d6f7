// A job file: read, and its mesh settled for one process and for four. The same bytes as a row of
// a layout.
#include "tests/fuzz/fuzz_input.h"
#include "tools/job/config/config.h"
#include "tools/job/config/keys/resolved_values.h"
#include "tools/job/config/placement_rows.h"
#include "tools/job/config/rewrite_job.h"

namespace {

using namespace phi;

// A rewritten job is read, and is the same.
void expect_same_job(const std::string& text) {
  const auto values = job::resolved_values(job::parse_job(text, "job.yaml"));
  try {
    const std::string again = job::rewrite_job(text, "job.yaml", {});
    if (job::resolved_values(job::parse_job(again, "job.yaml")) == values) return;
  } catch (const Error&) {
  }
  std::abort();
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(fuzz::text_of(data, size));
  for (const int64_t processes : {1, 4}) {
    fuzz::expect_result_or_error([&] {
      job::JobConfig config = job::parse_job(text, "job.yaml");
      std::string note;
      job::resolve_mesh(&config, processes, "", &note);
      job::resolved_values(config);
    });
  }
  fuzz::expect_result_or_error([&] { expect_same_job(text); });
  fuzz::expect_result_or_error([&] { job::parse_row(text); });
  return 0;
}
