// Connects the processes, and disconnects at once those that have no work.
#include "tools/collective_command.h"

#include <fmt/format.h>

#include <vector>

#include "distributed/api.h"
#include "distributed/config_check/config_check.h"
#include "phi/common/errors.h"
#include "phi/common/sampled_hash.h"
#include "tools/cli/command_line.h"

namespace phi::cli {
namespace {

using distributed::ConfigEntries;
using distributed::World;

ConfigEntries config_of_program(const std::string& subcommand) {
  return {{"the subcommand", subcommand},
          {"the version", AUTOPHI_VERSION},
          {"the program", fmt::format("{:016x}", whole_hash("/proc/self/exe"))}};
}

ConfigEntries config_of_command_line(int argc, char** argv) {
  ConfigEntries entries;
  for (int i = 1; i < argc; ++i) entries.push_back({fmt::format("word {}", i), argv[i]});
  return entries;
}

}  // namespace

CollectiveCommand::CollectiveCommand(int* argc, char*** argv, const std::string& subcommand,
                                     Participants participants,
                                     std::chrono::milliseconds start_deadline) {
  distributed::init(argc, argv, start_deadline);
  World& world = World::current();
  // The comparison belongs to the start of the job, so it has the start deadline.
  if (start_deadline > std::chrono::milliseconds(0)) world.set_deadline(start_deadline);
  works_ = participants == kAll || world.rank() == 0;
  try {
    if (world.size() > 1) check_config_consistency(world, config_of_program(subcommand));
    if (world.size() > 1 && participants == kOne)
      check_config_consistency(world, config_of_command_line(*argc, *argv));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) distributed::abort_job(error.what());
    // Printed before the other processes exit, because the launcher may kill the rest when one
    // exits.
    if (world.rank() == 0) fmt::print(stderr, "autophi: {}\n", error.what());
    works_ = false;
    status_ = kUsageStatus;
  }
  if (participants == kOne) distributed::finalize();
}

CollectiveCommand::~CollectiveCommand() { distributed::finalize(); }

}  // namespace phi::cli
