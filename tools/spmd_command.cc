// The command line of autophi spmd.
#include "tools/spmd_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "phi/common/errors.h"
#include "tools/cli/command_line.h"
#include "tools/spmd/check.h"
#include "tools/spmd/document.h"
#include "tools/spmd/infer.h"

namespace {

using phi::cli::UsageError;

constexpr const char* kHelp =
    "autophi spmd: how operators place their inputs and outputs.\n"
    "\n"
    "  autophi spmd --list                        the operators, with tensors, attributes and "
    "rule\n"
    "  autophi spmd --document                    the page of placement rules\n"
    "  autophi spmd --cases=PATH,... [FILE.yaml ...] [--differences=FILE.yaml]\n"
    "                                             check recorded cases (files, or folders of "
    "them);\n"
    "                                             status 0 if all agree\n"
    "  autophi spmd matmul --mesh=2x3 --in='64x32[0,_]' --in='32x48[_,1]' --attr "
    "transpose_x=false\n"
    "                                             infer one call\n"
    "\n"
    "A tensor is its shape and its placements, one per mesh dim as in autophi show and reshard:\n"
    "64x32[S0,R]. Or, for each tensor dim, the mesh dim that splits it, _ for none, 0+1 for two:\n"
    "64x32[0,_]; p1 means partial over mesh dim 1, p1:max by the maximum. i64:8[0] sets the "
    "dtype,\n"
    "which else is float32, or int64 or bool where the operator accepts no other. A list argument "
    "is\n"
    "one --in with blanks between the tensors, an optional one that is left out --in='[]'.\n"
    "Attributes that are left out have the operator's defaults. --out='...' infers the inputs "
    "from\n"
    "the outputs. --strict rejects calls whose tensors request conflicting placements.\n"
    "--ops=LIB.so,... loads libraries of operators first (not in autophi_spmd).\n";

using LoadLibrary = void (*)(const std::string& path);

struct SpmdCommandOptions {
  bool help = false;
  bool list = false;
  bool document = false;
  std::vector<std::string> files;
  std::string differences;
  std::vector<std::string> libraries;
  phi::spmd_tool::InferRequest request;
};

void add_files(std::vector<std::string>& files, const std::string& list) {
  for (size_t start = 0; start <= list.size();) {
    const size_t end = std::min(list.find(',', start), list.size());
    if (end > start) files.push_back(list.substr(start, end - start));
    start = end + 1;
  }
}

// Parsed by hand: --in and --attr may be repeated, which gflags does not support.
SpmdCommandOptions parse(int argc, char** argv, bool loads) {
  std::vector<std::string> names = {"--help",        "--list", "--document", "--strict", "--cases",
                                    "--differences", "--mesh", "--in",       "--out",    "--attr"};
  if (loads) names.emplace_back("--ops");
  SpmdCommandOptions options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (!word.starts_with('-')) {
      if (word.ends_with(".yaml")) {
        options.files.push_back(word);
      } else if (options.request.op.empty()) {
        options.request.op = word;
      } else {
        throw UsageError("two operators are named, '" + options.request.op + "' and '" + word +
                         "'.");
      }
      continue;
    }
    if (!word.starts_with("--")) word.insert(0, 1, '-');
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (std::find(names.begin(), names.end(), name) == names.end() && name != "--h") {
      throw UsageError("unknown flag '" + name + "'" + phi::cli::did_you_mean(name, names));
    }
    if (name == "--help" || name == "--h") {
      options.help = true;
    } else if ((name == "--list" || name == "--document" || name == "--strict") &&
               equals != std::string::npos) {
      throw UsageError(name + " accepts no value, got '" + word.substr(equals + 1) + "'.");
    } else if (name == "--list") {
      options.list = true;
    } else if (name == "--document") {
      options.document = true;
    } else if (name == "--strict") {
      options.request.strict = true;
    } else {
      if (equals == std::string::npos && i + 1 == argc) throw UsageError(name + " needs a value.");
      const std::string value =
          equals == std::string::npos ? std::string(argv[++i]) : word.substr(equals + 1);
      if (name == "--cases") add_files(options.files, value);
      if (name == "--ops") add_files(options.libraries, value);
      if (name == "--differences") options.differences = value;
      if (name == "--mesh") options.request.mesh = value;
      if (name == "--in") options.request.inputs.push_back(value);
      if (name == "--out") options.request.outputs.push_back(value);
      if (name == "--attr") options.request.attrs.push_back(value);
    }
  }
  return options;
}

// Each of the command's three forms accepts other words and flags.
void check_all_read(const SpmdCommandOptions& options) {
  const phi::spmd_tool::InferRequest& request = options.request;
  const bool prints = options.list || options.document;
  const bool checks = !prints && !options.files.empty();
  const bool infers = !prints && !checks;
  const std::string_view question = "inference of a call, without --list, --document or --cases";
  phi::cli::check_flag_is_read({"document", !options.list, "no --list"}, options.document);
  phi::cli::check_flag_is_read({"cases", checks, "no --list and no --document"},
                               !options.files.empty());
  phi::cli::check_flag_is_read({"differences", checks, "--cases"}, !options.differences.empty());
  phi::cli::check_flag_is_read({"mesh", infers, question}, !request.mesh.empty());
  phi::cli::check_flag_is_read({"in", infers, question}, !request.inputs.empty());
  phi::cli::check_flag_is_read({"out", infers, question}, !request.outputs.empty());
  phi::cli::check_flag_is_read({"attr", infers, question}, !request.attrs.empty());
  phi::cli::check_flag_is_read({"strict", infers, question}, request.strict);
  if (!infers && !request.op.empty()) {
    throw UsageError("the operator '" + request.op + "' requires " + std::string(question) + ".");
  }
}

int run(const SpmdCommandOptions& options, LoadLibrary load) {
  if (options.help) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  check_all_read(options);
  for (const std::string& library : options.libraries) load(library);
  if (options.list) {
    std::fputs(phi::spmd_tool::list().c_str(), stdout);
    return 0;
  }
  if (options.document) {
    std::fputs(phi::spmd_tool::document().c_str(), stdout);
    return 0;
  }
  if (!options.files.empty()) {
    return phi::spmd_tool::check_cases(options.files, options.differences, stdout) == 0 ? 0 : 1;
  }
  if (options.request.op.empty()) {
    throw UsageError("name an operator, or pass --cases or --list; see autophi spmd --help.");
  }
  std::fputs(phi::spmd_tool::infer_text(options.request).c_str(), stdout);
  return 0;
}

}  // namespace

int spmd_command(int argc, char** argv, LoadLibrary load) {
  return phi::cli::status_of("spmd", [&] { return run(parse(argc, argv, load != nullptr), load); });
}
