// The command line of autophi op.
#include "tools/op_command.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "tools/cli/command_line.h"
#include "tools/cli/parse_layout.h"
#include "tools/op/check.h"
#include "tools/op/document.h"

DEFINE_string(cases, "", "files of recorded calls, or folders of them, with commas between");
DEFINE_string(differences, "", "a file, or a folder of files, of known differences");
DEFINE_string(ops, "", "libraries of operators to load first, with commas between");
DEFINE_bool(list, false, "print the operators");
DEFINE_bool(document, false, "print the page of operators");
DEFINE_string(place, "cpu", "where recorded calls run: cpu or gpu");
DEFINE_int32(draws, 4, "random placements of a call's tensors on --mesh");

namespace {

using phi::cli::UsageError;

constexpr const char* kHelp =
    "autophi op: operators, and recorded calls of them with results.\n"
    "\n"
    "  autophi op --list                          the operators, with tensors and attributes\n"
    "  autophi op --document                      the page of operators\n"
    "  autophi op --cases=PATH,... [FILE.yaml ...] [--differences=PATH] [--mesh=2x2 [--draws=4]]\n"
    "                                             [--place=gpu]\n"
    "                                             run recorded calls (files FILE.yaml with\n"
    "                                             FILE.safetensors beside them, or folders of\n"
    "                                             them) and compare results and gradients;\n"
    "                                             status 0 if all agree\n"
    "\n"
    "With --mesh the tensors are distributed with --draws random placements, on threads of this\n"
    "process. With --place=gpu calls run on a GPU, on a mesh each rank on a GPU of its own; calls\n"
    "without a GPU kernel are counted. --ops=LIB.so,... loads libraries of operators first.\n";

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (size_t start = 0; start < list.size();) {
    const size_t end = std::min(list.find(',', start), list.size());
    if (end > start) parts.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

phi::op_tool::CheckOptions check_options() {
  phi::op_tool::CheckOptions options;
  if (!FLAGS_mesh.empty()) options.mesh = phi::cli::parse_mesh(FLAGS_mesh, "", "--mesh");
  if (FLAGS_draws < 1) throw UsageError(fmt::format("--draws is {}; 1 is the least.", FLAGS_draws));
  options.placements = static_cast<size_t>(FLAGS_draws);
  options.differences = FLAGS_differences;
  if (FLAGS_place != "cpu" && FLAGS_place != "gpu") {
    throw UsageError(fmt::format("--place is '{}'; use cpu or gpu.", FLAGS_place));
  }
  options.on_gpus = FLAGS_place == "gpu";
  return options;
}

int run(std::vector<std::string> files, void (*load)(const char* path)) {
  for (const std::string& path : parts_of(FLAGS_cases)) files.push_back(path);
  const bool checks = !files.empty();
  phi::cli::check_flag_is_read({"differences", checks, "--cases"}, !FLAGS_differences.empty());
  phi::cli::check_flag_is_read({"mesh", checks, "--cases"}, !FLAGS_mesh.empty());
  phi::cli::check_flag_is_read({"place", checks, "--cases"}, FLAGS_place != "cpu");
  if (FLAGS_list + FLAGS_document + checks != 1) {
    throw UsageError(
        "pass --list, --document, or --cases with files of recorded calls; see autophi op --help.");
  }
  for (const std::string& library : parts_of(FLAGS_ops)) load(library.c_str());
  if (FLAGS_list) {
    phi::op_tool::list_operators(stdout);
    return 0;
  }
  if (FLAGS_document) {
    std::fputs(phi::op_tool::operators_document().c_str(), stdout);
    return 0;
  }
  return phi::op_tool::check_recorded(files, check_options(), stdout) == 0 ? 0 : 1;
}

}  // namespace

int op_command(int argc, char** argv, void (*load)(const char* path)) {
  static const std::array<std::string, 8> flags = {"cases", "differences", "ops",  "document",
                                                   "list",  "draws",       "mesh", "place"};
  if (phi::cli::has_help_flag(argc, argv)) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  return phi::cli::status_of("op",
                             [&] { return run(phi::cli::parse_flags(argc, argv, flags), load); });
}
