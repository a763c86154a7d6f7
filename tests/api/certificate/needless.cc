// The plain call on the parts of each rank, and what placement puts the results together.
#include "tests/api/certificate/needless.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "tests/support/rare_values.h"

namespace phi::testing {

using distributed::Partial;
using distributed::Placement;
using distributed::ProcessMesh;
using distributed::ReduceKind;
using distributed::Replicate;
using distributed::Shard;
using distributed::SpmdResult;
using distributed::TensorDistAttr;

namespace {

// What the plain call on the parts gives, by output and rank; nothing where it refuses them.
std::optional<std::vector<std::vector<Part>>> plain_parts(const Trial& trial,
                                                          const ProcessMesh& mesh,
                                                          const Layout& layout) {
  std::vector<std::vector<Tensor>> parts;
  for (size_t i = 0; i < layout.size(); ++i) {
    parts.push_back(layout[i] ? parts_of(trial.inputs[i], *layout[i])
                              : std::vector<Tensor>(static_cast<size_t>(mesh.size())));
  }
  std::vector<std::vector<Part>> results(trial.expected.size());
  try {
    for (size_t rank = 0; rank < static_cast<size_t>(mesh.size()); ++rank) {
      TensorList here;
      for (const auto& of_slot : parts) here.push_back(of_slot[rank]);
      const TensorList outputs = trial.call(trial.with(here));
      if (outputs.size() != results.size()) return std::nullopt;
      for (size_t o = 0; o < outputs.size(); ++o) {
        if (outputs[o].defined() != trial.is_given[o]) return std::nullopt;
        if (outputs[o].defined()) results[o].push_back(part_of(outputs[o]));
      }
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return results;
}

// The cheapest placement on a mesh of one dim of which these are the parts.
const TensorDistAttr* placement_of(const Whole& expected, const ProcessMesh& mesh,
                                   const std::vector<Part>& parts, double tolerance) {
  std::vector<Placement> candidates = {Replicate()};
  for (int d = 0; d < expected.meta.dims.ndim(); ++d) candidates.push_back(Shard(d));
  if (expected.meta.dtype == DataType::BOOL) {
    candidates.insert(candidates.end(), {Partial(ReduceKind::kAny), Partial(ReduceKind::kAll)});
  } else {
    for (const auto kind :
         {ReduceKind::kSum, ReduceKind::kMax, ReduceKind::kMin, ReduceKind::kAvg}) {
      if (kind != ReduceKind::kAvg || is_floating(expected.meta.dtype))
        candidates.push_back(Partial(kind));
    }
  }
  for (const Placement& p : candidates) {
    const TensorDistAttr* attr = TensorDistAttr::get(mesh, {p});
    if (difference(expected, *attr, parts, tolerance).empty()) return attr;
  }
  return nullptr;
}

// The same placements on another mesh of one dim.
Layout on(const ProcessMesh& mesh, const Layout& layout) {
  Layout result;
  for (const TensorDistAttr* attr : layout) {
    result.push_back(attr ? TensorDistAttr::get(mesh, attr->placements()) : nullptr);
  }
  return result;
}

// The inputs that move; bit by bit.
uint64_t moved(const Trial& trial, const Layout& layout, const SpmdResult& answer) {
  uint64_t slots = 0;
  for (size_t i = 0; i < layout.size(); ++i) {
    if (layout[i] == nullptr || layout[i] == answer.inputs[i] || (trial.unread >> i) & 1u) continue;
    if (!layout[i]->is_replicated()) slots |= uint64_t{1} << i;
  }
  return slots;
}

// How the outputs lie where nothing is moved; empty if no placements describe them.
std::string outputs_unmoved(const Trial& trial, const ProcessMesh& mesh, const Layout& layout) {
  const auto parts = plain_parts(trial, mesh, layout);
  if (!parts) return "";
  std::string text;
  for (size_t o = 0; o < trial.expected.size(); ++o) {
    if (!trial.is_given[o]) continue;
    const auto* attr = placement_of(trial.expected[o], mesh, (*parts)[o], trial.tolerance);
    if (attr == nullptr) return "";
    text += (text.empty() ? "" : ", ") + attr->placement(0).to_string();
  }
  return text;
}

bool same_parts(const Part& a, const Part& b, double tolerance) {
  if (a.shape != b.shape) return false;
  for (size_t i = 0; i < a.values.size(); ++i) {
    const double allowed = tolerance * std::max(1.0, std::abs(b.values[i]));
    if (std::isfinite(b.values[i]) ? !(std::abs(a.values[i] - b.values[i]) <= allowed)
                                   : !same_number(a.values[i], b.values[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace

Moves moves_of(const Trial& trial, const Layout& layout) {
  static const ProcessMesh two({2}), three({3});
  const SpmdResult answer = trial.ask(two, layout);
  const uint64_t slots = moved(trial, layout, answer);
  Moves moves;
  moves.any = slots != 0;
  if (!moves.any) return moves;
  const std::string outputs = outputs_unmoved(trial, two, layout);
  if (outputs.empty()) return moves;
  const Layout larger = on(three, layout);
  if (moved(trial, larger, trial.ask(three, larger)) != slots) return moves;
  if (outputs_unmoved(trial, three, larger) != outputs) return moves;
  moves.needless = true;
  for (size_t i = 0; i < layout.size(); ++i) {
    if (!((slots >> i) & 1u)) continue;
    moves.what += fmt::format("{}{} {} to {}", moves.what.empty() ? "" : ", ", trial.slot_names[i],
                              layout[i]->placement(0).to_string(),
                              answer.inputs[i]->placement(0).to_string());
  }
  moves.what += " (out: " + outputs + ")";
  return moves;
}

bool is_local(const Trial& trial, const ProcessMesh& mesh, const Layout& layout,
              const Verdict& verdict) {
  if (verdict.kind != Verdict::Kind::kRight || layout.empty()) return true;
  const SpmdResult answer = trial.ask(mesh, layout);
  if (!std::ranges::equal(layout, answer.inputs)) return true;
  const auto plain = plain_parts(trial, mesh, layout);
  if (!plain) return false;
  for (size_t o = 0; o < plain->size(); ++o) {
    for (size_t r = 0; r < (*plain)[o].size(); ++r) {
      if (!same_parts((*plain)[o][r], verdict.parts[o][r], trial.tolerance)) return false;
    }
  }
  return true;
}

}  // namespace phi::testing
