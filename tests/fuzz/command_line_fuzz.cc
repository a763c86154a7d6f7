// The words of a command line, a line each: flags of `autophi run`, and the texts that flags take.
#include <gflags/gflags.h>

#include <sstream>
#include <vector>

#include "tests/fuzz/fuzz_input.h"
#include "tools/cli/command_line.h"
#include "tools/job/config/config.h"
#include "tools/job/config/section.h"
#include "tools/job/dry_run.h"
#include "tools/job/output/job_trace.h"
#include "tools/job/run_flags.h"
#include "tools/spmd/infer.h"

namespace {

using namespace phi;

void infer(const std::vector<std::string>& words) {
  if (words.size() < 3) return;
  spmd_tool::infer_text({.op = words[0],
                         .mesh = words[1],
                         .inputs = {words.begin() + 2, words.end()},
                         .outputs = {},
                         .attrs = {}});
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const gflags::FlagSaver saver;
  std::istringstream in{std::string(fuzz::text_of(data, size))};
  std::vector<std::string> words = {"run"};
  for (std::string word; std::getline(in, word);) words.push_back(word);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  const auto parsed = [](const auto& parse) {
    fuzz::expect_result_or_error<cli::UsageError>(parse);
  };
  parsed([&] {
    const int argc = static_cast<int>(argv.size());
    for (const std::string& word : cli::parse_flags(argc, argv.data(), job::run_flags())) {
      job::parse_bytes(word);
    }
    job::check_run_flags(false);
    job::dry_run_of_flags();
  });
  parsed([&] { job::parse_mesh_flag(FLAGS_mesh); });
  parsed([&] { job::parse_traced_steps(FLAGS_trace_steps); });
  parsed([&] { infer({words.begin() + 1, words.end()}); });
  return 0;
}
