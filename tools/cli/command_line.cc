// Flag parsing on top of gflags, whose own parser ends the process on an error.
#include "tools/cli/command_line.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "fmt/core.h"
#include "phi/common/errors.h"

DEFINE_int64(rank, -1, "the rank to show, or to simulate");
DEFINE_string(mesh, "", "mesh, e.g. 2x3 or dp=2,tp=3");
DEFINE_string(kind, "", "kind of schedule, or of data");
DEFINE_string(dtype, "", "element type");
DEFINE_string(placements, "", "of a tensor, one per mesh dim: '[S0,R]'; or declared, searched");
DEFINE_string(out, "", "a file to write");
DEFINE_string(mpirun, "mpirun", "the launcher");
DEFINE_string(mpirun_args, "", "more arguments for it, split at blanks");

namespace phi::cli {
namespace {

constexpr std::array kGlogFlags = {
    "v",           "vmodule",         "logtostderr", "alsologtostderr",
    "minloglevel", "stderrthreshold", "log_dir",     "colorlogtostderr"};

struct Word {
  std::string name;
  std::string value;
  bool has_value = false;
};

Word split_word(std::string_view word) {
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {std::string(word), "", false};
  return {std::string(word.substr(0, equals)), std::string(word.substr(equals + 1)), true};
}

bool is_bool(const std::string& name) {
  gflags::CommandLineFlagInfo info;
  return gflags::GetCommandLineFlagInfo(name.c_str(), &info) && info.type == "bool";
}

void set_flag(const std::string& name, const std::string& value) {
  if (!gflags::SetCommandLineOption(name.c_str(), value.c_str()).empty()) return;
  gflags::CommandLineFlagInfo info;
  gflags::GetCommandLineFlagInfo(name.c_str(), &info);
  throw UsageError(
      fmt::format("--{} expects a value of type {}, got '{}'.", name, info.type, value));
}

}  // namespace

std::vector<std::string> parse_flags(int argc, char** argv, std::span<const std::string> own,
                                     std::span<const std::string> optional_value) {
  std::vector<std::string> known(own.begin(), own.end());
  known.insert(known.end(), kGlogFlags.begin(), kGlogFlags.end());
  const auto is_known = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--") {
      words.insert(words.end(), argv + i + 1, argv + argc);
      break;
    }
    if (arg.size() < 2 || arg[0] != '-') {
      words.emplace_back(arg);
      continue;
    }
    Word word = split_word(arg);
    if (!is_known(word.name) && !word.has_value && word.name.starts_with("no") &&
        is_known(word.name.substr(2)) && is_bool(word.name.substr(2))) {
      word = {word.name.substr(2), "false", true};
    }
    if (!is_known(word.name)) {
      const std::string hint = did_you_mean(word.name, known);
      throw UsageError(
          fmt::format("unknown flag --{}{}", word.name, hint.empty() ? "; see --help." : hint));
    }
    if (!word.has_value && is_bool(word.name)) {
      word.value = "true";
    } else if (!word.has_value &&
               std::ranges::find(optional_value, word.name) != optional_value.end()) {
      word.value = kNoValue;
    } else if (!word.has_value) {
      if (i + 1 == argc) throw UsageError(fmt::format("--{} needs a value.", word.name));
      word.value = argv[++i];
    }
    set_flag(word.name, word.value);
  }
  return words;
}

void check_flag_is_read(const FlagUse& use, bool is_given) {
  if (!is_given || use.is_read) return;
  throw UsageError(fmt::format("--{} requires {}.", use.flag, use.goes_with));
}

void check_flags_are_read(std::span<const FlagUse> uses) {
  for (const FlagUse& use : uses) {
    const auto info = gflags::GetCommandLineFlagInfoOrDie(std::string(use.flag).c_str());
    check_flag_is_read(use, info.current_value != info.default_value);
  }
}

bool has_help_flag(int argc, char** argv) {
  // The rest are words.
  char** const end = std::find(argv + 1, argv + argc, std::string_view("--"));
  return std::any_of(argv + 1, end, [](std::string_view word) {
    return word == "--help" || word == "-h" || word == "-help";
  });
}

int status_of(const char* name, const std::function<int()>& work) {
  try {
    return work();
  } catch (const UsageError& error) {
    fmt::print(stderr, "autophi {}: {}\n", name, error.what());
    return kUsageStatus;
  } catch (const Error& error) {
    fmt::print(stderr, "autophi {}: {}\n", name, error.what());
    return 1;
  }
}

bool prints_for_job() {
  // Set by OpenMPI, then by PMI-based launchers.
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    if (const char* rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

}  // namespace phi::cli
