// Parses and writes rows of layouts.
#include "tools/job/config/placement_rows.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "distributed/placement/parse_placement.h"
#include "phi/common/errors.h"
#include "phi/yaml/yaml_text.h"
#include "tools/job/config/section.h"

namespace phi::job {
namespace {

using Kind = nn::Layout::Kind;

constexpr std::array kKinds = {Kind::kParameters, Kind::kInputs, Kind::kOutputs, Kind::kCaches};

distributed::Placement placement_of(const std::string& dim, const YAML::Node& node) {
  const auto placement =
      node.IsScalar() ? distributed::parse_placement(node.Scalar()) : std::nullopt;
  PHI_CHECK(placement,
            errors::InvalidArgument("{} along mesh dim '{}' is no placement; write {}.",
                                    job::text_of(node), dim, distributed::kPlacementForms));
  return *placement;
}

YAML::Node node_of(const nn::AxisPlacements& axis_placements) {
  YAML::Node node(YAML::NodeType::Map);
  for (const auto& [dim, placement] : axis_placements) node[dim] = placement.to_string();
  node.SetStyle(YAML::EmitterStyle::Flow);
  return node;
}

// A map of patterns, or a list of maps if a pattern occurs twice.
YAML::Node rows_of(const nn::Layout& layout, Kind kind) {
  YAML::Node map(YAML::NodeType::Map);
  YAML::Node list(YAML::NodeType::Sequence);
  std::set<std::string> patterns;
  bool is_map = true;
  for (const nn::Layout::PlacementRow& row : layout.rows()) {
    if (row.kind != kind) continue;
    is_map &= patterns.insert(row.pattern).second;
    YAML::Node entry(YAML::NodeType::Map);
    entry.force_insert(row.pattern, node_of(row.axis_placements));
    entry.SetStyle(YAML::EmitterStyle::Flow);
    list.push_back(entry);
    map.force_insert(row.pattern, node_of(row.axis_placements));
  }
  return is_map ? map : list;
}

}  // namespace

const std::vector<std::string>& row_kinds() {
  static const std::vector<std::string> kinds = [] {
    std::vector<std::string> names;
    for (const Kind kind : kKinds) names.emplace_back(name_of(kind));
    return names;
  }();
  return kinds;
}

nn::AxisPlacements parse_axis_placements(const YAML::Node& node) {
  PHI_CHECK(node.IsMap(), errors::InvalidArgument(
                              "placements are a map of mesh dims, e.g. {{tp: S1, dp: R}}; got {}.",
                              job::text_of(node)));
  nn::AxisPlacements axis_placements;
  std::set<std::string> dims;
  for (const auto& entry : node) {
    const std::string dim = entry.first.IsScalar() ? entry.first.Scalar() : "";
    PHI_CHECK(!dim.empty(),
              errors::InvalidArgument("{} is no name of a mesh dim; write {{tp: S1}}.",
                                      job::text_of(entry.first)));
    PHI_CHECK(dims.insert(dim).second, errors::InvalidArgument("mesh dim '{}' is set twice.", dim));
    axis_placements.emplace_back(dim, placement_of(dim, entry.second));
  }
  return axis_placements;
}

nn::Layout::PlacementRow parse_row(const std::string& text) {
  const size_t equals = text.find('=');
  PHI_CHECK(equals != std::string::npos && equals > 0,
            errors::InvalidArgument("'{}' is no row; write PATTERN={{DIM: PLACEMENT}}, e.g. "
                                    "head.weight={{tp: R}}.",
                                    text));
  const std::string quoted = "'" + text + "'";
  const YAML::Node node = yaml::load(text.substr(equals + 1), quoted);
  try {
    return {Kind::kParameters, text.substr(0, equals), parse_axis_placements(node)};
  } catch (const Error& error) {
    throw errors::InvalidArgument("{}: {}", quoted, error.what());
  }
}

std::string to_yaml(const nn::Layout& layout, Kind kind) {
  YAML::Emitter out;
  out.SetMapFormat(YAML::Flow);
  out.SetSeqFormat(YAML::Flow);
  out << rows_of(layout, kind);
  return out.c_str();
}

std::string to_yaml(const nn::Layout& layout) {
  PHI_CHECK(layout.tensor_parallel().empty(),
            errors::InvalidArgument("a layout with tensor_parallel() has rows that are known for a "
                                    "model only; write layout.of(model)."));
  YAML::Node kinds(YAML::NodeType::Map);
  for (const Kind kind : kKinds) {
    if (const YAML::Node rows = rows_of(layout, kind); rows.size() > 0)
      kinds[std::string(name_of(kind))] = rows;
  }
  YAML::Emitter out;
  out << kinds;
  return std::string(out.c_str()) + "\n";
}

}  // namespace phi::job
