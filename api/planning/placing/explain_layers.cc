// Two searches, the first of which has one choice.
#include "api/planning/placing/explain_layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace phi::planning {
namespace {

// "block12.up.weight" -> "block*.up.weight"
std::string without_numbers(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c < '0' || c > '9') {
      out += c;
    } else if (!out.ends_with('*')) {
      out += '*';
    }
  }
  return out;
}

std::string line_of(Reason reason) {
  reason.name = without_numbers(reason.name);
  return reason.to_string();
}

std::string folded(const std::vector<std::string>& lines) {
  std::vector<std::pair<std::string, size_t>> counts;
  for (const std::string& line : lines) {
    const auto known = std::ranges::find(counts, line, &std::pair<std::string, size_t>::first);
    if (known == counts.end()) {
      counts.emplace_back(line, 1);
    } else {
      ++known->second;
    }
  }
  std::string out;
  for (const auto& [line, count] : counts)
    out += fmt::format("  {}{}\n", line, count > 1 ? fmt::format(" ({} of them)", count) : "");
  return out;
}

// The placements of the same tensor; null: none are declared.
const distributed::TensorDistAttr* declared_attr(const PlacedLayers& declared,
                                                 const Reason& reason) {
  for (const Reason& each : declared.reasons) {
    if (each.kind == reason.kind && each.name == reason.name) return each.attr;
  }
  return nullptr;
}

}  // namespace

ExplainedLayers explain_layers(const nn::Module& model, const LossFunction& loss,
                               const TensorList& inputs, const distributed::ProcessMesh& mesh,
                               const distributed::simulator::MachineModel& machine,
                               const nn::Layout& declared, const PlaceLayersOptions& options) {
  PlaceLayersOptions fixed = options;
  nn::AxisPlacements whole;
  for (const std::string& dim : mesh.dim_names()) whole.emplace_back(dim, distributed::Replicate());
  fixed.pins = nn::Layout().parameters("*", whole) + declared;
  fixed.moves_activations = false;
  return {mesh.dim_names(), place_layers(model, loss, inputs, mesh, machine, fixed),
          place_layers(model, loss, inputs, mesh, machine, options)};
}

std::string table(const std::vector<Reason>& reasons) {
  std::vector<std::string> lines;
  for (const Reason& reason : reasons) lines.push_back(line_of(reason));
  return folded(lines);
}

std::string table(const ExplainedLayers& explained) {
  std::vector<std::string> lines;
  for (const Reason& reason : explained.best.reasons) {
    std::string line = line_of(reason);
    const auto* declared = declared_attr(explained.declared, reason);
    if (declared != reason.attr)
      line += fmt::format("; declared {}", declared ? text_of(declared) : "as it is");
    lines.push_back(std::move(line));
  }
  return fmt::format("along {}: {:.4g} ms as declared, {:.4g} ms at best\n{}",
                     fmt::join(explained.mesh_dims, ", "), explained.declared.seconds * 1e3,
                     explained.best.seconds * 1e3, folded(lines));
}

}  // namespace phi::planning
