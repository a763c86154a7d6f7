// Flags: what is taken, and what is said of what is not.
#include "tools/cli/command_line.h"

#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

DEFINE_bool(loud, false, "used by this test");
DEFINE_int32(number, 0, "used by this test");

namespace phi::cli {
namespace {

const std::vector<std::string> kOwn = {"loud", "number", "mesh"};

std::vector<std::string> parse(std::vector<std::string> args) {
  std::vector<char*> argv = {const_cast<char*>("autophi")};
  for (std::string& arg : args) argv.push_back(arg.data());
  return parse_flags(static_cast<int>(argv.size()), argv.data(), kOwn);
}

std::string error_of(const std::vector<std::string>& args) {
  try {
    parse(args);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ParseFlags, TakesEverySpelling) {
  EXPECT_EQ(parse({"a", "--number=3", "b", "--loud"}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(FLAGS_number, 3);
  EXPECT_TRUE(FLAGS_loud);
  EXPECT_EQ(parse({"-number", "4", "--noloud", "-"}), (std::vector<std::string>{"-"}));
  EXPECT_EQ(FLAGS_number, 4);
  EXPECT_FALSE(FLAGS_loud);
  parse({"--loud=true", "--mesh=2x3"});
  EXPECT_TRUE(FLAGS_loud);
  EXPECT_EQ(FLAGS_mesh, "2x3");
  EXPECT_EQ(parse({"--", "--number=7"}), (std::vector<std::string>{"--number=7"}));
}

TEST(ParseFlags, AWrongFlagIsAnsweredWithTheNearest) {
  EXPECT_EQ(error_of({"--numbr=3"}), "unknown flag --numbr, did you mean 'number'?");
  EXPECT_EQ(error_of({"--whatever"}), "unknown flag --whatever; see --help.");
  EXPECT_EQ(error_of({"--number=three"}), "--number expects a value of type int32, got 'three'.");
  EXPECT_EQ(error_of({"--number"}), "--number needs a value.");
  // Known to gflags itself, but not to this subcommand.
  EXPECT_EQ(error_of({"--flagfile=x"}), "unknown flag --flagfile; see --help.");
}

std::string fault_of(const std::vector<std::string>& args, const FlagUse& use) {
  const gflags::FlagSaver saver;
  parse(args);
  try {
    check_flags_are_read({&use, 1});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CheckFlags, AFlagThatIsNotReadIsAnError) {
  const FlagUse unread{"number", false, "--loud"};
  EXPECT_EQ(fault_of({"--loud=false", "--number=3"}, unread), "--number requires --loud.");
  EXPECT_EQ(fault_of({"--number=3"}, {"number", true, "--loud"}), "no error");
  // As good as not given.
  EXPECT_EQ(fault_of({"--number=0"}, unread), "no error");
  EXPECT_EQ(fault_of({"--noloud"}, {"loud", false, "people"}), "no error");
}

}  // namespace
}  // namespace phi::cli
