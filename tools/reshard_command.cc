// Parses meshes, placements and shapes from the command line, and prints the plan.
#include "tools/reshard_command.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/reshard/plan.h"
#include "phi/common/errors.h"
#include "tools/cli/command_line.h"
#include "tools/cli/parse_layout.h"

DEFINE_string(src, "", "current placements, one per mesh dim, e.g. '[S0,R]'");
DEFINE_string(dst, "", "placements wanted");
DEFINE_string(src_ranks, "", "ranks of --mesh, e.g. 0,1,2,3; default 0, 1, ...");
DEFINE_string(dst_mesh, "", "target mesh; default: --mesh");
DEFINE_string(dst_ranks, "", "ranks of the target mesh; default: as --mesh");

namespace phi::distributed {
namespace {

using cli::parse_attr;
using cli::parse_mesh;
using cli::parse_shape;
using cli::UsageError;

constexpr const char* kHelp =
    "autophi reshard: shows the steps of a reshard.\n"
    "\n"
    "  autophi reshard --shape=64x32 --mesh=2x4 --src='[S0,R]' --dst='[R,S1]'\n"
    "  autophi reshard --shape=64x32 --mesh=tp=4 --src='[P(sum)]' --dst='[S0]'\n"
    "      --dst_mesh=2x2 --dst_ranks=4,5,6,7\n"
    "\n"
    "Placements: R (replicated), S0 (tensor dim 0 is split; S0.1: after another mesh dim that\n"
    "splits it), P(sum), P(avg), P(max), P(min), P(prod), P(any), P(all). Or for each tensor dim\n"
    "the mesh dim that splits it, as autophi spmd prints it: '[0,_,p1]'.\n"
    "Flags: --shape --mesh --src --dst --src_ranks --dst_mesh --dst_ranks --dtype --rank\n";

void print_rank(const ReshardPlan& plan, int64_t rank) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const StepBytes bytes = plan.bytes(plan.steps[i], rank);
    fmt::print("rank {}, step {}: sends {} bytes, receives {} bytes\n", rank, i + 1, bytes.sent,
               bytes.received);
    if (!plan.steps[i].moves_boxes()) continue;
    for (const BoxTransfer& t : TransferRoutes(plan.steps[i].move).incoming(rank)) {
      fmt::print("  {} {}\n", t.box.to_string(),
                 t.peer == rank ? "is here" : fmt::format("from rank {}", t.peer));
    }
  }
}

void run() {
  if (FLAGS_mesh.empty())
    throw UsageError("--mesh is missing; pass --mesh=2x4 or --mesh=dp=2,tp=4.");
  const Dims shape = parse_shape(FLAGS_shape);
  const ProcessMesh mesh = parse_mesh(FLAGS_mesh, FLAGS_src_ranks, "--mesh");
  const bool same_ranks = FLAGS_dst_ranks.empty() && FLAGS_dst_mesh.empty();
  const ProcessMesh dst_mesh =
      parse_mesh(FLAGS_dst_mesh.empty() ? FLAGS_mesh : FLAGS_dst_mesh,
                 same_ranks ? FLAGS_src_ranks : FLAGS_dst_ranks, "--dst_mesh");
  const TensorDistAttr* src = parse_attr(FLAGS_src, shape.ndim(), mesh, "--src");
  const TensorDistAttr* dst = parse_attr(FLAGS_dst, shape.ndim(), dst_mesh, "--dst");
  const auto plan =
      plan_reshard(src, dst, shape, parse_dtype(FLAGS_dtype.empty() ? "float32" : FLAGS_dtype));
  fmt::print("{}\n", plan->to_string());
  if (FLAGS_rank >= 0) print_rank(*plan, FLAGS_rank);
}

}  // namespace
}  // namespace phi::distributed

int reshard_command(int argc, char** argv) {
  static const std::array<std::string, 9> flags = {
      "shape", "mesh", "src", "dst", "src_ranks", "dst_mesh", "dst_ranks", "dtype", "rank"};
  if (phi::cli::has_help_flag(argc, argv)) {
    std::fputs(phi::distributed::kHelp, stdout);
    return 0;
  }
  return phi::cli::status_of("reshard", [&] {
    const auto words = phi::cli::parse_flags(argc, argv, flags);
    if (!words.empty()) {
      throw phi::cli::UsageError(
          fmt::format("the argument '{}' is unknown; see autophi reshard --help.", words[0]));
    }
    phi::distributed::run();
    return 0;
  });
}
