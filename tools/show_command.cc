// The command line of autophi show; distributed/placement draws the picture.
#include "tools/show_command.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <array>
#include <cstdio>
#include <string>

#include "distributed/placement/picture.h"
#include "phi/common/process/terminal.h"
#include "tools/cli/command_line.h"
#include "tools/cli/parse_layout.h"

DEFINE_string(ranks, "", "ranks of --mesh, e.g. 4,5,6,7; default 0, 1, ...");

namespace phi {
namespace {

using cli::UsageError;

constexpr const char* kHelp =
    "autophi show: draws which rank stores which shard of a tensor.\n"
    "\n"
    "  autophi show --shape=6x4 --mesh=2x2 --placements='[S0,P]'\n"
    "  autophi show --shape=7x64x32 --mesh=dp=2,tp=2 --ranks=4,5,6,7 --placements=S0,S2\n"
    "\n"
    "Placements: R (replicated), S0 (tensor dim 0 is split; S0.1: after another mesh dim that\n"
    "splits it), P(sum), P(avg), P(max), P(min), P(prod), P(any), P(all); P alone is P(sum). Or\n"
    "for each tensor dim the mesh dim that splits it, as autophi spmd prints it: '[0,_,p1]'.\n"
    "In the picture 0,1 means that ranks 0 and 1 store the same, 0+1 that the value is their sum.\n"
    "Colours go to a terminal, unless the environment sets NO_COLOR.\n"
    "Flags: --shape --mesh --ranks --placements\n";

void run() {
  if (FLAGS_mesh.empty())
    throw UsageError("--mesh is missing; pass --mesh=2x4 or --mesh=dp=2,tp=4.");
  const Dims shape = cli::parse_shape(FLAGS_shape);
  const auto mesh = cli::parse_mesh(FLAGS_mesh, FLAGS_ranks, "--mesh");
  const auto* attr = cli::parse_attr(FLAGS_placements, shape.ndim(), mesh, "--placements");
  fmt::print("{}", distributed::picture(shape, *attr,
                                        {.colour = shows_colours(),
                                         .width = terminal_width(),
                                         .world_size = mesh.highest_rank() + 1}));
}

}  // namespace
}  // namespace phi

int show_command(int argc, char** argv) {
  static const std::array<std::string, 4> flags = {"shape", "mesh", "ranks", "placements"};
  if (phi::cli::has_help_flag(argc, argv)) {
    std::fputs(phi::kHelp, stdout);
    return 0;
  }
  return phi::cli::status_of("show", [&] {
    const auto words = phi::cli::parse_flags(argc, argv, flags);
    if (!words.empty()) {
      throw phi::cli::UsageError(
          fmt::format("the argument '{}' is unknown; see autophi show --help.", words[0]));
    }
    phi::run();
    return 0;
  });
}
