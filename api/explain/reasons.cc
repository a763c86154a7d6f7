// Runs the rule of a call with some placements removed, and interprets the results.
#include "api/explain/reasons.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "api/call/args/translate_mesh.h"
#include "api/rules/rule_functions.h"

namespace phi {
namespace {

using distributed::Conflicts;
using distributed::Placement;
using distributed::SpmdResult;
using distributed::TensorDistAttr;

class RuleProbe {
 public:
  explicit RuleProbe(const DistributedCall& call) : call_(call) {
    for (const DistributedCall::Slot& slot : call.inputs) {
      placed_.push_back(!slot.wanted  ? nullptr
                        : !slot.given ? TensorDistAttr::replicated(call.mesh)
                                      : on_mesh(*slot.given));
    }
  }

  std::string why_input(size_t i) {
    const DistributedCall::Slot& slot = call_.inputs[i];
    if (!slot.wanted || !slot.given || slot.given == slot.wanted) return "";
    std::vector<std::string> whys;
    if (slot.given->mesh() != call_.mesh) whys.push_back(why_mesh(i));
    for (int m = 0; m < call_.mesh.ndim(); ++m) {
      if (before(i, m) == slot.wanted->placement(m)) continue;
      const std::string why = why_mesh_dim(i, m);
      if (std::ranges::find(whys, why) == whys.end()) whys.push_back(why);
    }
    return fmt::format("{}", fmt::join(whys, "; "));
  }

  // Why an output is partial although no input is.
  std::string why_output(size_t o) const {
    const TensorDistAttr* attr = call_.outputs[o];
    if (!attr || !attr->has_partial()) return "";
    std::vector<std::string> whys;
    for (const int m : attr->partial_dims()) {
      std::vector<std::string> split;
      std::vector<std::string> partial;
      for (const DistributedCall::Slot& slot : call_.inputs) {
        if (!slot.wanted) continue;
        const Placement& p = slot.wanted->placement(m);
        if (p.is_shard()) split.push_back(fmt::format("dim {} of {}", p.tensor_dim(), slot.name));
        if (p.is_partial()) partial.push_back(slot.name);
      }
      if (partial.empty() && split.empty()) continue;
      const auto& names = partial.empty() ? split : partial;
      whys.push_back(fmt::format("partial over {}: {} {} {} over it", mesh_dim(m),
                                 fmt::join(names, " and "), names.size() == 1 ? "is" : "are",
                                 partial.empty() ? "split" : "partial"));
    }
    return fmt::format("{}", fmt::join(whys, "; "));
  }

 private:
  const TensorDistAttr* on_mesh(const TensorDistAttr& attr) const {
    return attr.mesh() == call_.mesh ? &attr : translate_to_mesh(attr, call_.mesh);
  }
  const std::string& mesh_dim(int m) const {
    return call_.mesh.dim_names()[static_cast<size_t>(m)];
  }
  const Placement& before(size_t i, int m) const { return placed_[i]->placement(m); }
  const Placement& wanted(size_t i, int m) const { return call_.inputs[i].wanted->placement(m); }

  // Runs the rule with inputs placed over mesh dim m by `placement(input)`, and over other mesh
  // dims unchanged. Nothing if the rule refuses.
  template <typename F>
  std::optional<SpmdResult> infer(int m, F&& placement, Conflicts* conflicts = nullptr) const {
    RuleArgs args(call_.mesh, call_.attributes);
    for (size_t arg = 0; arg < call_.begin.size(); ++arg) {
      args.add_argument();
      const size_t end = arg + 1 < call_.begin.size() ? static_cast<size_t>(call_.begin[arg + 1])
                                                      : call_.inputs.size();
      for (auto i = static_cast<size_t>(call_.begin[arg]); i < end; ++i) {
        if (!placed_[i]) {
          args.add({}, {});
          continue;
        }
        distributed::PlacementArray all = placed_[i]->placement_array();
        if (m >= 0) all[static_cast<size_t>(m)] = placement(i);
        const auto* attr = TensorDistAttr::get(
            call_.mesh, std::span(all.data(), static_cast<size_t>(call_.mesh.ndim())));
        const TensorMeta& meta = call_.inputs[i].meta;
        args.add({meta.dims, attr, call_.op.inputs[arg]}, meta);
      }
    }
    try {
      return call_.op.rule.forward(args, call_.outputs.size(), conflicts);
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  // Runs the rule with only the inputs `kept` placed over m.
  std::optional<SpmdResult> infer_with(int m, std::initializer_list<size_t> kept) const {
    return infer(m, [&](size_t i) {
      return std::ranges::find(kept, i) != kept.end() ? before(i, m) : Placement();
    });
  }
  bool has_placement(const std::optional<SpmdResult>& result, size_t i, int m,
                     const Placement& p) const {
    return result && result->inputs[i] && result->inputs[i]->placement(m) == p;
  }

  std::string why_mesh(size_t i) const {
    return fmt::format("{} is on {}, but the op runs on {}, the mesh of its last input",
                       call_.inputs[i].name, call_.inputs[i].given->mesh().to_string(),
                       call_.mesh.to_string());
  }

  std::string why_mesh_dim(size_t i, int m) const {
    if (before(i, m).is_replicate()) return why_cut(i, m);
    if (!has_placement(infer_with(m, {i}), i, m, before(i, m))) {
      return before(i, m).is_partial() ? why_reduced(i, m) : why_whole(i, m);
    }
    return why_conflict(i, m);
  }

  // Finds the input for which a replicated input becomes a shard.
  std::string why_cut(size_t i, int m) const {
    for (size_t j = 0; j < placed_.size(); ++j) {
      if (j == i || !placed_[j] || !before(j, m).is_shard()) continue;
      if (!has_placement(infer_with(m, {j}), i, m, wanted(i, m))) continue;
      return fmt::format("follows {}, whose dim {} is split over {}", call_.inputs[j].name,
                         before(j, m).tensor_dim(), mesh_dim(m));
    }
    return required_by_rule(i, m);
  }

  // The op accepts no such partial value, whatever the other inputs are.
  std::string why_reduced(size_t i, int m) const {
    const Placement& p = before(i, m);
    const std::string kind(name_of(p.reduce()));
    if (has_placement(infer(m, [&](size_t j) { return j == i       ? p
                                                      : placed_[j] ? p
                                                                   : Placement(); }),
                      i, m, p)) {
      return fmt::format(
          "partial over {} is reduced: {} propagates a partial {} only where all its inputs are "
          "partial",
          mesh_dim(m), call_.op.name, kind);
    }
    return fmt::format("partial over {} is reduced: {} of a {} is not the {} of {}s", mesh_dim(m),
                       call_.op.name, kind, kind, call_.op.name);
  }

  std::string why_whole(size_t i, int m) const {
    const Placement& now = wanted(i, m);
    const int dim = before(i, m).tensor_dim();
    if (now.is_shard()) {
      return fmt::format("{} splits dim {} over {}, not dim {}", call_.to_string(),
                         now.tensor_dim(), mesh_dim(m), dim);
    }
    return fmt::format("dim {} must be unsharded for {}, but is split over {}", dim,
                       call_.to_string(), mesh_dim(m));
  }

  // The placement would be kept without other inputs. Finds the one that conflicts with it.
  std::string why_conflict(size_t i, int m) const {
    for (size_t j = 0; j < placed_.size(); ++j) {
      if (j == i || !placed_[j] || before(j, m).is_replicate()) continue;
      if (!has_placement(infer_with(m, {i, j}), i, m, wanted(i, m))) continue;
      const std::string& other = call_.inputs[j].name;
      if (before(i, m).is_partial() && before(j, m).is_partial()) {
        return fmt::format("only one of {} and {} may stay partial over {}", call_.inputs[i].name,
                           other, mesh_dim(m));
      }
      if (before(j, m).is_partial()) {
        return fmt::format("{} stays partial over {}, which then cannot split any dim", other,
                           mesh_dim(m));
      }
      if (before(i, m).is_partial()) {
        return fmt::format("partial over {} is reduced: {} is split over it", mesh_dim(m), other);
      }
      return fmt::format(
          "it yields to {}, whose dim {} is split over {}: a mesh dim splits one factor", other,
          before(j, m).tensor_dim(), mesh_dim(m));
    }
    return required_by_rule(i, m);
  }

  // The engine's conflict for the whole call; otherwise the rule's name.
  std::string required_by_rule(size_t i, int m) const {
    Conflicts conflicts;
    infer(
        -1, [](size_t) { return Placement(); }, &conflicts);
    std::vector<std::string> texts;
    for (const distributed::Conflict& conflict : conflicts) texts.push_back(conflict.text);
    const std::string rule = fmt::format("the rule of {} requires {} over {}", call_.to_string(),
                                         wanted(i, m).to_string(), mesh_dim(m));
    return texts.empty() ? rule : fmt::format("{}: {}", rule, fmt::join(texts, ", "));
  }

  const DistributedCall& call_;
  std::vector<const TensorDistAttr*> placed_;  // as passed to the rule; null: absent
};

}  // namespace

std::string DistributedCall::to_string() const {
  std::vector<std::string> texts;
  for (size_t i = 0; i < attributes.size() && i < op.attributes.size(); ++i) {
    const bool* flag = std::get_if<bool>(&attributes[i]);
    if (!op.attributes[i].decides || (flag && !*flag)) continue;
    texts.push_back(fmt::format("{}={}", op.attributes[i].name, to_text(attributes[i])));
  }
  return texts.empty() ? op.name : fmt::format("{}({})", op.name, fmt::join(texts, ","));
}

Reasons reasons_of(const DistributedCall& call) {
  Reasons reasons;
  RuleProbe probe(call);
  for (size_t i = 0; i < call.inputs.size(); ++i) reasons.inputs.push_back(probe.why_input(i));
  for (size_t o = 0; o < call.outputs.size(); ++o) reasons.outputs.push_back(probe.why_output(o));
  return reasons;
}

}  // namespace phi
