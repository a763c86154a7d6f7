// Parses shapes, meshes and placements.
#include "tools/cli/parse_layout.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>
#include <vector>

#include "distributed/placement/parse_placement.h"
#include "tools/cli/command_line.h"

DEFINE_string(shape, "", "extents of the tensor, e.g. 64x32; 'scalar' for none");

namespace phi::cli {

using distributed::Placement;
using distributed::ProcessMesh;
using distributed::TensorDistAttr;

namespace {

constexpr int64_t kMaxRanks = 1 << 16;  // limit, because plans and pictures visit every rank

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

Placement placement_of(const std::string& text, std::string_view flag) {
  if (const auto placement = distributed::parse_placement(text)) return *placement;
  throw UsageError(fmt::format(
      "'{}' in {} is no placement; write {}, or for each tensor dim the mesh dim that splits it, "
      "as in [0,_].",
      text, flag, distributed::kPlacementForms));
}

const TensorDistAttr* parse_placements(const std::vector<std::string>& entries,
                                       const ProcessMesh& mesh, std::string_view flag) {
  std::vector<Placement> placements;
  for (const auto& entry : entries) placements.push_back(placement_of(entry, flag));
  if (static_cast<int>(placements.size()) != mesh.ndim()) {
    throw UsageError(fmt::format("{} has {} placements, but {} has {} mesh dims.", flag,
                                 placements.size(), mesh.to_string(), mesh.ndim()));
  }
  return TensorDistAttr::get(mesh, placements);
}

int parse_mesh_dim(std::string_view text, std::string_view flag) {
  const int64_t dim = parse_int(text, flag);
  return static_cast<int>(std::clamp<int64_t>(dim, -1, distributed::kMaxMeshNdim));
}

// Parses "p0" and "p1:max".
std::pair<int, distributed::ReduceKind> parse_partial(std::string_view text,
                                                      std::string_view flag) {
  const size_t colon = std::min(text.find(':'), text.size());
  return {parse_mesh_dim(text.substr(1, colon - 1), flag),
          colon == text.size() ? distributed::ReduceKind::kSum
                               : distributed::parse_reduce_kind(text.substr(colon + 1))};
}

const TensorDistAttr* parse_mapping(const std::vector<std::string>& entries, int ndim,
                                    const ProcessMesh& mesh, std::string_view flag) {
  distributed::DimsMapping mapping;
  std::vector<std::pair<int, distributed::ReduceKind>> partial;
  for (const auto& entry : entries) {
    if (entry.starts_with('p')) {
      partial.push_back(parse_partial(entry, flag));
      continue;
    }
    auto& mesh_dims = mapping.emplace_back();
    if (entry == "_") continue;
    for (const auto& m : split(entry, '+')) mesh_dims.push_back(parse_mesh_dim(m, flag));
  }
  if (static_cast<int>(mapping.size()) != ndim) {
    throw UsageError(
        fmt::format("{} has {} extents and {} entries in brackets; write one entry per extent.",
                    flag, ndim, mapping.size()));
  }
  return TensorDistAttr::from_dims_mapping(mesh, mapping, partial);
}

bool is_of_mapping(const std::string& entry) {
  return entry == "_" || (!entry.empty() && (entry[0] == 'p' || std::isdigit(entry[0]) != 0));
}

}  // namespace

Dims parse_shape(const std::string& text) {
  if (text.empty()) throw UsageError("--shape is missing; pass --shape=64x32, or --shape=scalar.");
  std::vector<int64_t> shape;
  if (text == "scalar") return shape;
  for (const auto& extent : split(text, 'x')) {
    shape.push_back(parse_int(extent, "--shape"));
    if (shape.back() < 0) {
      throw UsageError(fmt::format("--shape={} has a negative extent.", text));
    }
  }
  Dims(shape).check_fits(1);
  return shape;
}

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
  std::vector<int64_t> list;
  if (!ranks.empty()) {
    for (const auto& rank : split(ranks, ',')) {
      list.push_back(parse_int(rank, "the ranks of a mesh"));
    }
  }
  const auto mesh = list.empty() ? ProcessMesh(shape, names) : ProcessMesh(shape, names, list);
  if (mesh.highest_rank() >= kMaxRanks) {
    throw UsageError(fmt::format("{}={} has rank {}; ranks must be less than {}.", flag, text,
                                 mesh.highest_rank(), kMaxRanks));
  }
  return mesh;
}

const TensorDistAttr* parse_attr(std::string_view text, int ndim, const ProcessMesh& mesh,
                                 std::string_view flag) {
  if (text.empty()) {
    throw UsageError(
        fmt::format("the placements are missing; pass {}='[S0,R]', one per mesh dim of {}.", flag,
                    mesh.to_string()));
  }
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const auto entries = text.empty() ? std::vector<std::string>() : split(text, ',');
  return entries.empty() || is_of_mapping(entries[0]) ? parse_mapping(entries, ndim, mesh, flag)
                                                      : parse_placements(entries, mesh, flag);
}

}  // namespace phi::cli
