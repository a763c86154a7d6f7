// Command-line parsing for the subcommands of autophi: gflags with helpful errors, and which
// process prints messages before the ranks are connected.
//
//   const auto words = cli::parse_flags(argc, argv, own);  // throws cli::UsageError
//   if (words.empty()) throw cli::UsageError("which job? ...");
#pragma once

#include <gflags/gflags_declare.h>

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "phi/common/nearest_name.h"

/// Flags that several subcommands read; each subcommand describes its use in its own help.
DECLARE_int64(rank);
DECLARE_string(mesh);
DECLARE_string(kind);
DECLARE_string(dtype);
DECLARE_string(out);
DECLARE_string(placements);
DECLARE_string(mpirun);
DECLARE_string(mpirun_args);

namespace phi::cli {

/// Exit status for an invalid command line.
inline constexpr int kUsageStatus = 2;

/// An invalid command line; what() is the message to print.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using phi::did_you_mean;

/// Sets the flags in argv[1..] (--name=value, --name value, --name, --noname; also with one dash)
/// and returns the other words in order. Words after `--` are returned unparsed. Only the
/// subcommand's flags `own` and those of glog are accepted. A flag of `optional_value` accepts a
/// value only after `=`; without a value it is kNoValue.
/// Errors: UsageError naming the nearest flag, or the value and the flag's type.
std::vector<std::string> parse_flags(int argc, char** argv, std::span<const std::string> own,
                                     std::span<const std::string> optional_value = {});
inline constexpr const char* kNoValue = "-";

/// Whether this call reads a flag, and which flag it requires.
struct FlagUse {
  std::string_view flag;
  bool is_read;
  std::string_view goes_with;  // "--trace=FILE"
};

/// Checks flags that were set by parse_flags.
/// Errors: UsageError "--trace_steps goes with --trace=FILE." for the first flag that differs from
/// its default and that this call does not read.
void check_flags_are_read(std::span<const FlagUse> uses);
/// The same for one flag of a subcommand with its own parser.
void check_flag_is_read(const FlagUse& use, bool is_given);

/// Whether one of the words is --help or -h.
bool has_help_flag(int argc, char** argv);

/// Returns the result of `work`. Prints an error after "autophi NAME: " and returns kUsageStatus
/// for a UsageError, 1 for an Error.
int status_of(const char* name, const std::function<int()>& work);

/// False on all but one process of an mpirun job. For messages before the ranks are connected.
bool prints_for_job();

}  // namespace phi::cli
