// Connects the processes, and disconnects at once those that have no work.
#include "tools/joint_call.h"

#include <fmt/format.h>

#include <vector>

#include "distributed/agreement/agreement.h"
#include "distributed/api.h"
#include "phi/common/errors.h"
#include "phi/common/sampled_hash.h"
#include "tools/cli/command_line.h"

namespace phi::cli {
namespace {

using distributed::Facts;
using distributed::World;

Facts facts_of_program(const std::string& subcommand) {
  return {{"the subcommand", subcommand},
          {"the version", AUTOPHI_VERSION},
          {"the program", fmt::format("{:016x}", whole_hash("/proc/self/exe"))}};
}

Facts facts_of_words(int argc, char** argv) {
  Facts facts;
  for (int i = 1; i < argc; ++i) facts.push_back({fmt::format("word {}", i), argv[i]});
  return facts;
}

}  // namespace

JointCall::JointCall(int* argc, char*** argv, const std::string& subcommand, Who who,
                     std::chrono::milliseconds start_deadline) {
  distributed::init(argc, argv, start_deadline);
  World& world = World::current();
  // The comparison belongs to the start of the job, so it has the start deadline.
  if (start_deadline > std::chrono::milliseconds(0)) world.set_deadline(start_deadline);
  works_ = who == kAll || world.rank() == 0;
  try {
    if (world.size() > 1) agree_on(world, facts_of_program(subcommand));
    if (world.size() > 1 && who == kOne) agree_on(world, facts_of_words(*argc, *argv));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) distributed::abort_job(error.what());
    // Printed before the other processes exit, because the launcher may kill the rest when one
    // exits.
    if (world.rank() == 0) fmt::print(stderr, "autophi: {}\n", error.what());
    works_ = false;
    status_ = kUsageStatus;
  }
  if (who == kOne) distributed::finalize();
}

JointCall::~JointCall() { distributed::finalize(); }

}  // namespace phi::cli
