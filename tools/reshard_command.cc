// Parsing of meshes, placements and shapes as a person types them; the plan prints itself.
#include "tools/reshard_command.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/reshard/plan.h"
#include "phi/common/errors.h"
#include "tools/cli/command_line.h"

DEFINE_string(shape, "", "extents of the tensor, e.g. 64x32; 'scalar' for none");
DEFINE_string(src, "", "placements now, one per mesh dim, e.g. '[S0,R]'");
DEFINE_string(dst, "", "placements wanted");
DEFINE_string(src_ranks, "", "ranks of --mesh, e.g. 0,1,2,3; default 0, 1, ...");
DEFINE_string(dst_mesh, "", "mesh wanted; default: --mesh");
DEFINE_string(dst_ranks, "", "ranks of the mesh wanted; default: as --mesh");

namespace phi::distributed {
namespace {

using cli::UsageError;

constexpr const char* kHelp =
    "autophi reshard: shows how a tensor would be moved.\n"
    "\n"
    "  autophi reshard --shape=64x32 --mesh=2x4 --src='[S0,R]' --dst='[R,S1]'\n"
    "  autophi reshard --shape=64x32 --mesh=tp=4 --src='[P(sum)]' --dst='[S0]'\n"
    "      --dst_mesh=2x2 --dst_ranks=4,5,6,7\n"
    "\n"
    "Placements: R (replicated), S0 (tensor dim 0 is split; S0.1: after another mesh dim that\n"
    "splits it), P(sum), P(avg), P(max), P(min), P(prod), P(any), P(all).\n"
    "Flags: --shape --mesh --src --dst --src_ranks --dst_mesh --dst_ranks --dtype --rank\n";

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

int64_t parse_int(std::string_view text, std::string_view flag) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw UsageError(fmt::format("'{}' in {} is no number.", text, flag));
  }
  return value;
}

Dims parse_shape(const std::string& text) {
  if (text.empty()) throw UsageError("which tensor? Give --shape=64x32, or --shape=scalar.");
  std::vector<int64_t> shape;
  if (text == "scalar") return shape;
  for (const auto& extent : split(text, 'x')) {
    shape.push_back(parse_int(extent, "--shape"));
    if (shape.back() < 0) {
      throw UsageError(fmt::format("--shape={} has a negative extent.", text));
    }
  }
  return shape;
}

// "2x4" or "dp=2,tp=4", with ranks "0,1,...".
ProcessMesh parse_mesh(const std::string& text, const std::string& ranks, std::string_view flag) {
  std::vector<int64_t> shape;
  std::vector<std::string> names;
  if (text.find('=') == std::string::npos) {
    for (const auto& size : split(text, 'x')) shape.push_back(parse_int(size, flag));
  } else {
    for (const auto& part : split(text, ',')) {
      const size_t equals = part.find('=');
      if (equals == std::string::npos) {
        throw UsageError(
            fmt::format("'{}' in {} has no name; write 2x4 or dp=2,tp=4.", part, flag));
      }
      names.push_back(part.substr(0, equals));
      shape.push_back(parse_int(part.substr(equals + 1), flag));
    }
  }
  if (ranks.empty()) return ProcessMesh(shape, names);
  std::vector<int64_t> list;
  for (const auto& rank : split(ranks, ',')) list.push_back(parse_int(rank, "the ranks of a mesh"));
  return ProcessMesh(shape, names, list);
}

Placement parse_placement(const std::string& text, std::string_view flag) {
  if (text == "R") return Replicate();
  if (text == "P") return Partial();
  if (text.starts_with("P(") && text.ends_with(")")) {
    return Partial(parse_reduce_kind(text.substr(2, text.size() - 3)));
  }
  if (text.size() > 1 && text[0] == 'S') {
    const auto parts = split(text.substr(1), '.');
    const int64_t tensor_dim = parse_int(parts[0], flag);
    const int64_t order = parts.size() == 2 ? parse_int(parts[1], flag) : 0;
    if (parts.size() <= 2 && tensor_dim >= 0 && tensor_dim < kMaxNdim && order >= 0 &&
        order < kMaxMeshNdim) {
      return Shard(static_cast<int>(tensor_dim), static_cast<int>(order));
    }
  }
  throw UsageError(fmt::format(
      "'{}' in {} is no placement; write R, S0, S0.1, P(sum), P(avg), P(max), ...", text, flag));
}

const TensorDistAttr* parse_attr(std::string_view text, const ProcessMesh& mesh,
                                 std::string_view flag) {
  if (text.empty()) {
    throw UsageError(fmt::format("which placements? Give {}='[S0,R]', one per mesh dim of {}.",
                                 flag, mesh.to_string()));
  }
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::vector<Placement> placements;
  for (const auto& part : split(text, ',')) placements.push_back(parse_placement(part, flag));
  if (static_cast<int>(placements.size()) != mesh.ndim()) {
    throw UsageError(fmt::format("{} has {} placements, but {} has {} mesh dims.", flag,
                                 placements.size(), mesh.to_string(), mesh.ndim()));
  }
  return TensorDistAttr::get(mesh, placements);
}

void print_rank(const ReshardPlan& plan, int64_t rank) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const StepBytes bytes = plan.bytes(plan.steps[i], rank);
    fmt::print("rank {}, step {}: sends {} bytes, receives {} bytes\n", rank, i + 1, bytes.sent,
               bytes.received);
    if (!plan.steps[i].moves_boxes()) continue;
    for (const BoxTransfer& t : Routes(plan.steps[i].move).incoming(rank)) {
      fmt::print("  {} {}\n", t.box.to_string(),
                 t.peer == rank ? "is here" : fmt::format("from rank {}", t.peer));
    }
  }
}

void run() {
  if (FLAGS_mesh.empty()) throw UsageError("which mesh? Give --mesh=2x4 or --mesh=dp=2,tp=4.");
  const Dims shape = parse_shape(FLAGS_shape);
  const ProcessMesh mesh = parse_mesh(FLAGS_mesh, FLAGS_src_ranks, "--mesh");
  const bool same_ranks = FLAGS_dst_ranks.empty() && FLAGS_dst_mesh.empty();
  const ProcessMesh dst_mesh =
      parse_mesh(FLAGS_dst_mesh.empty() ? FLAGS_mesh : FLAGS_dst_mesh,
                 same_ranks ? FLAGS_src_ranks : FLAGS_dst_ranks, "--dst_mesh");
  const TensorDistAttr* src = parse_attr(FLAGS_src, mesh, "--src");
  const TensorDistAttr* dst = parse_attr(FLAGS_dst, dst_mesh, "--dst");
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
  if (phi::cli::asks_for_help(argc, argv)) {
    std::fputs(phi::distributed::kHelp, stdout);
    return 0;
  }
  return phi::cli::status_of("reshard", [&] {
    const auto words = phi::cli::parse_flags(argc, argv, flags);
    if (!words.empty()) {
      throw phi::cli::UsageError(
          fmt::format("'{}' is not understood; see autophi reshard --help.", words[0]));
    }
    phi::distributed::run();
    return 0;
  });
}
