// Rows of layouts, and the table that describe() prints.
#include "api/nn/layout/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "api/nn/layout/resolved_layout.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi::nn {
namespace {

std::string to_string(const AxisPlacements& axis_placements) {
  std::string out;
  for (const auto& [dim, placement] : axis_placements) {
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", dim, placement.to_string());
  }
  return out.empty() ? "whole" : out;
}

AxisPlacements without_others(const AxisPlacements& axis_placements,
                              const distributed::ProcessMesh& mesh) {
  const auto& names = mesh.dim_names();
  AxisPlacements out;
  for (const auto& entry : axis_placements) {
    if (std::find(names.begin(), names.end(), entry.first) != names.end()) out.push_back(entry);
  }
  return out;
}

AxisPlacements without(AxisPlacements axis_placements, const std::string& mesh_dim) {
  std::erase_if(axis_placements, [&](const auto& entry) { return entry.first == mesh_dim; });
  return axis_placements;
}

void check_mesh_dims(const AxisPlacements& axis_placements, const distributed::ProcessMesh& mesh,
                     const std::string& what) {
  for (const auto& [dim, placement] : axis_placements) {
    PHI_CHECK(
        std::ranges::count(mesh.dim_names(), dim) > 0,
        errors::InvalidArgument("the layout's {} uses mesh dim '{}', which {} does not have{}. "
                                "layout.only_along(mesh) removes such rows.",
                                what, dim, mesh.to_string(), did_you_mean(dim, mesh.dim_names())));
  }
}

// Pads columns to the width of their longest cell.
std::string aligned(const std::vector<std::array<std::string, 3>>& lines) {
  std::array<size_t, 3> width{};
  for (const auto& line : lines) {
    for (size_t c = 0; c < line.size(); ++c) width[c] = std::max(width[c], line[c].size());
  }
  std::string out;
  for (const auto& line : lines) {
    out += fmt::format("{:{}}  {:{}}  {}\n", line[0], width[0], line[1], width[1], line[2]);
  }
  return out;
}

}  // namespace

void merge_placements(const AxisPlacements& more, AxisPlacements* axis_placements) {
  for (const auto& entry : more) {
    const auto known =
        std::find_if(axis_placements->begin(), axis_placements->end(),
                     [&](const auto& before) { return before.first == entry.first; });
    if (known == axis_placements->end()) {
      axis_placements->push_back(entry);
    } else {
      known->second = entry.second;
    }
  }
}

std::string_view name_of(Layout::Kind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"parameters", "inputs", "outputs", "caches"};
  return kNames[static_cast<size_t>(kind)];
}

Layout& Layout::add(PlacementRow row) {
  rows_.push_back(std::move(row));
  return *this;
}

Layout& Layout::tensor_parallel(std::string mesh_dim, bool sequence_parallel) {
  tensor_parallel_.push_back({rows_.size(), std::move(mesh_dim), sequence_parallel});
  return *this;
}

Layout& Layout::add(const Layout& more) {
  for (TensorParallel split : more.tensor_parallel_) {
    split.row += rows_.size();
    tensor_parallel_.push_back(std::move(split));
  }
  rows_.insert(rows_.end(), more.rows_.begin(), more.rows_.end());
  merge_placements(more.batches_, &batches_);
  if (!more.pipeline_.mesh_dim.empty()) pipeline_ = more.pipeline_;
  if (more.zero_.stage > 0) zero_ = more.zero_;
  return *this;
}

Layout Layout::of(const Module& model) const {
  Layout out = *this;
  out.rows_.clear();
  out.tensor_parallel_.clear();
  auto split = tensor_parallel_.begin();
  for (size_t i = 0; i <= rows_.size(); ++i) {
    for (; split != tensor_parallel_.end() && split->row == i; ++split) {
      Layout said;
      for (const Module* module : model.modules()) {
        module->add_tensor_parallel(&said, split->mesh_dim, split->sequence_parallel);
      }
      for (PlacementRow& row : said.rows_) {
        if (!split->is_on_mesh)
          row.axis_placements = without(std::move(row.axis_placements), split->mesh_dim);
        out.rows_.push_back(std::move(row));
      }
    }
    if (i < rows_.size()) out.rows_.push_back(rows_[i]);
  }
  return out;
}

Layout& Layout::batches(AxisPlacements axis_placements) {
  batches_ = std::move(axis_placements);
  return *this;
}

Layout& Layout::pipeline(std::string mesh_dim, std::string pattern, int64_t chunks,
                         std::vector<int64_t> cut) {
  PHI_CHECK(chunks >= 1,
            errors::InvalidArgument("a pipeline with {} chunks per stage; use 1 or more.", chunks));
  pipeline_ = {std::move(mesh_dim), std::move(pattern), chunks, std::move(cut)};
  return *this;
}

Layout& Layout::zero(int stage, std::string mesh_dim) {
  PHI_CHECK(stage >= 0 && stage <= 3,
            errors::InvalidArgument("ZeRO stage {} does not exist; use 0 to 3.", stage));
  zero_ = {stage, std::move(mesh_dim)};
  return *this;
}

void Layout::check_dims(const distributed::ProcessMesh& mesh) const {
  for (const TensorParallel& split : tensor_parallel_) {
    if (split.is_on_mesh) check_mesh_dims({{split.mesh_dim, {}}}, mesh, "tensor_parallel");
  }
  for (const PlacementRow& row : rows_) {
    check_mesh_dims(row.axis_placements, mesh,
                    std::string(name_of(row.kind)) + " '" + row.pattern + "'");
  }
  check_mesh_dims(batches_, mesh, "batches");
  if (!pipeline_.mesh_dim.empty()) check_mesh_dims({{pipeline_.mesh_dim, {}}}, mesh, "pipeline");
  if (zero_.stage > 0) check_mesh_dims({{zero_.mesh_dim, {}}}, mesh, "ZeRO");
}

Layout Layout::only_along(const distributed::ProcessMesh& mesh) const {
  const auto& names = mesh.dim_names();
  const auto has = [&](const std::string& dim) {
    return std::find(names.begin(), names.end(), dim) != names.end();
  };
  Layout out;
  for (const PlacementRow& row : rows_)
    out.add({row.kind, row.pattern, without_others(row.axis_placements, mesh)});
  out.tensor_parallel_ = tensor_parallel_;
  for (TensorParallel& split : out.tensor_parallel_) split.is_on_mesh &= has(split.mesh_dim);
  out.batches_ = without_others(batches_, mesh);
  if (has(pipeline_.mesh_dim)) out.pipeline_ = pipeline_;
  if (has(zero_.mesh_dim)) out.zero_ = zero_;
  return out;
}

std::string Layout::describe(const Module& model) const {
  const ResolvedLayout resolved(model, of(model));
  std::vector<std::array<std::string, 3>> lines = {{"parameter", "shape", "placements"}};
  for (const auto& [name, value] : model.named_parameters()) {
    lines.push_back({name, value.shape().to_string(), to_string(resolved.of_parameter(name))});
  }
  for (const Module* module : model.modules()) {
    for (const Kind kind : {Kind::kInputs, Kind::kOutputs, Kind::kCaches}) {
      const AxisPlacements* axis_placements = resolved.of_module(kind, module->path());
      if (axis_placements)
        lines.push_back({module->path(), std::string(name_of(kind)), to_string(*axis_placements)});
    }
  }
  lines.push_back({"(model)", "batches", to_string(batches_)});
  if (!pipeline_.mesh_dim.empty()) {
    lines.push_back(
        {"(model)", "pipeline",
         fmt::format("'{}' along {}, {} chunk{} per stage{}", pipeline_.pattern, pipeline_.mesh_dim,
                     pipeline_.chunks, pipeline_.chunks == 1 ? "" : "s",
                     pipeline_.cut.empty()
                         ? ""
                         : fmt::format(", cut [{}]", fmt::join(pipeline_.cut, ", ")))});
  }
  if (zero_.stage > 0) {
    lines.push_back({"(model)", "ZeRO", fmt::format("{} along {}", zero_.stage, zero_.mesh_dim)});
  }
  return aligned(lines);
}

}  // namespace phi::nn
