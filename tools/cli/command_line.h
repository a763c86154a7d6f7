// What the subcommands of autophi share: flags by gflags with errors that help, and the rule which
// rank speaks for the job before the ranks know each other.
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

/// Flags that more than one subcommand reads; each names what it takes in its own help.
DECLARE_int64(rank);
DECLARE_string(mesh);
DECLARE_string(kind);
DECLARE_string(dtype);
DECLARE_string(out);

namespace phi::cli {

/// Exit status of a call that was not understood.
inline constexpr int kUsageStatus = 2;

/// The command line was not understood; what() is the one message to print.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using phi::did_you_mean;

/// Sets the flags (--name=value, --name value, --name, --noname; one dash is as good as two) in
/// argv[1..] and gives back the other words in order. After `--` all words are taken as they are.
/// `own` are the subcommand's flags: these and those of glog are taken, no others. A flag of
/// `may_stand_alone` has its value behind `=`, or none: then it is kAlone.
/// Errors: UsageError naming the nearest flag, or the value and the type that the flag has.
std::vector<std::string> parse_flags(int argc, char** argv, std::span<const std::string> own,
                                     std::span<const std::string> may_stand_alone = {});
inline constexpr const char* kAlone = "-";

/// Whether this call reads a flag, and what the flag goes with.
struct FlagUse {
  std::string_view flag;
  bool is_read;
  std::string_view goes_with;  // "--trace=FILE"
};

/// For flags set by parse_flags. Errors: UsageError "--trace_steps goes with --trace=FILE." for the
/// first flag that has another value than its default and that this call does not read.
void check_flags_are_read(std::span<const FlagUse> uses);
/// The same for one flag of a subcommand that parses by hand.
void check_flag_is_read(const FlagUse& use, bool is_given);

/// Is one of the words --help or -h?
bool asks_for_help(int argc, char** argv);

/// What a subcommand's work returns; or, after its error is printed behind "autophi NAME: ",
/// kUsageStatus for a UsageError and 1 for an Error.
int status_of(const char* name, const std::function<int()>& work);

/// False on all but one process of an mpirun job: for messages before the ranks are connected.
bool speaks_for_job();

}  // namespace phi::cli
