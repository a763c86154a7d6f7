// Rows of an nn::Layout as YAML: the section `placements` of a job file.
//
//   | placements:
//   |   parameters:                           # inputs, outputs and caches are like it
//   |     layer*.up.weight: {tp: S1}
//   |     layer*.down.weight: {tp: S0}
//   |   outputs: {layer*.down: {tp: R}}
//
// A pattern that occurs twice needs a list of maps, because the keys of a map are different:
//
//   |   parameters: [{"*": {tp: R}}, {head: {tp: S1}}, {"*": {dp: R}}]
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <vector>

#include "api/nn/layout/layout.h"

namespace phi::job {

/// "parameters", "inputs", "outputs", "caches".
const std::vector<std::string>& row_kinds();

/// Parses the placements of a row: "{tp: S1, dp: R}".
/// Errors: InvalidArgument, without a place.
nn::AxisPlacements parse_axis_placements(const YAML::Node& node);

/// Parses a row of parameters on one line: "head.weight={tp: R}".
/// Errors: InvalidArgument that quotes the text.
nn::Layout::PlacementRow parse_row(const std::string& text);

/// The rows of one kind as the value of its key, on one line: "{head: {tp: S1}}".
std::string to_yaml(const nn::Layout& layout, nn::Layout::Kind kind);

/// All rows as the value of the section `placements`, one row a line. Parsing it gives the same
/// rows. The layout must have no tensor_parallel(); Layout::of replaces it by rows.
std::string to_yaml(const nn::Layout& layout);

}  // namespace phi::job
