// Trials of operators, and how their inputs may lie.
#include "tests/api/rules_verification/trial.h"

#include <algorithm>
#include <set>

#include "api/call/named_call.h"
#include "api/rules/rule_functions.h"
#include "tests/support/reshard_oracle.h"

namespace phi::testing {

using distributed::Partial;
using distributed::Placement;
using distributed::ProcessMesh;
using distributed::ReduceKind;
using distributed::Replicate;
using distributed::Shard;
using distributed::SpmdResult;
using distributed::TensorDistAttr;

Arguments Trial::with(const TensorList& slots) const {
  Arguments result;
  size_t next = 0;
  for (const TensorList& argument : arguments) {
    TensorList& list = result.emplace_back();
    for (size_t i = 0; i < argument.size(); ++i) list.push_back(slots[next++]);
  }
  return result;
}

Trial completed(Trial trial) {
  TensorList plain;
  for (const TensorList& argument : trial.arguments) {
    for (const Tensor& x : argument) {
      trial.inputs.push_back(x.defined() ? rounded(x) : Whole());
      const Whole& value = trial.inputs.back();
      plain.push_back(x.defined() ? tensor_of(x.shape(), x.dtype(), value.values) : Tensor());
    }
  }
  // An infinity times the parts of a partial value is no part of their product.
  const auto is_rare = [](const Whole& x) { return !x.is_ordinary; };
  if (std::ranges::any_of(trial.inputs, is_rare)) {
    for (Whole& x : trial.inputs) x.is_ordinary = false;
  }
  for (const Tensor& out : trial.call(trial.with(plain))) {
    trial.is_given.push_back(out.defined());
    trial.expected.push_back(out.defined() ? whole_of(out) : Whole());
  }
  return trial;
}

namespace {

// float32 in sums of other orders; 16-bit floats in their last place but one.
double tolerance_of(const CapturedCall& call) {
  double tolerance = 1e-9;
  for (const TensorList& argument : call.arguments) {
    for (const Tensor& x : argument) {
      const DataType dtype = x.defined() ? real_part_of(x.dtype()) : DataType::UNDEFINED;
      if (!is_floating(dtype)) continue;
      tolerance = std::max(tolerance, size_of(dtype) == 2   ? 1e-2
                                      : size_of(dtype) == 4 ? 2e-5
                                                            : 1e-9);
    }
  }
  return tolerance;
}

std::vector<std::string> slot_names_of(const CapturedCall& call) {
  std::vector<std::string> names;
  for (size_t a = 0; a < call.arguments.size(); ++a) {
    for (size_t i = 0; i < call.arguments[a].size(); ++i) {
      const bool is_list = call.arguments[a].size() > 1;
      names.push_back(call.op->inputs[a] + (is_list ? "[" + std::to_string(i) + "]" : ""));
    }
  }
  return names;
}

// The rule and the shape function of an op, asked with the tensors of a trial.
struct RuleInference {
  const OpDef* op;
  std::vector<AttributeValue> attributes;
  std::vector<size_t> lengths;  // of the arguments
  std::vector<TensorMeta> metas;

  SpmdResult operator()(const ProcessMesh& mesh, const InputLayout& layout,
                        const std::vector<Dims>* shapes = nullptr) const {
    RuleArgs args(mesh, attributes);
    size_t slot = 0;
    for (size_t a = 0; a < lengths.size(); ++a) {
      args.add_argument();
      for (size_t i = 0; i < lengths[a]; ++i, ++slot) {
        TensorMeta meta = metas[slot];
        if (shapes != nullptr) meta.dims = (*shapes)[slot];
        args.add({meta.dims, layout[slot], op->inputs[a]}, meta);
      }
    }
    return op->rule.forward(args, op->rule.infer_meta(args).size());
  }

  bool takes(const std::vector<Dims>& shapes) const {
    static const ProcessMesh one({1});
    InputLayout layout;
    for (const TensorMeta& meta : metas) {
      const bool is_there = meta.dtype != DataType::UNDEFINED;
      layout.push_back(is_there ? TensorDistAttr::replicated(one) : nullptr);
    }
    try {
      (*this)(one, layout, &shapes);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
};

}  // namespace

Trial trial_of(const CapturedCall& captured) {
  Trial trial;
  trial.name = std::string(captured.op->name) + " " + to_string(captured);
  trial.arguments = captured.arguments;
  trial.call = [op = captured.op, attributes = captured.attributes](const Arguments& arguments) {
    return call_op(*op, arguments, attributes);
  };
  trial.slot_names = slot_names_of(captured);
  size_t slot = 0;
  for (size_t a = 0; a < captured.arguments.size(); ++a) {
    for (size_t i = 0; i < captured.arguments[a].size(); ++i, ++slot) {
      if ((captured.op->meta_only >> a) & 1u) trial.unread |= uint64_t{1} << slot;
    }
  }
  trial.tolerance = tolerance_of(captured);
  trial = completed(std::move(trial));
  RuleInference inference{captured.op, captured.attributes, {}, {}};
  for (const TensorList& argument : captured.arguments)
    inference.lengths.push_back(argument.size());
  for (const Whole& x : trial.inputs) inference.metas.push_back(x.meta);
  trial.infer = [inference](const ProcessMesh& mesh, const InputLayout& layout) {
    return inference(mesh, layout);
  };
  trial.takes = [inference](const std::vector<Dims>& shapes) { return inference.takes(shapes); };
  return trial;
}

namespace {

std::vector<ReduceKind> partial_kinds(const Whole& x) {
  if (!x.is_ordinary) return {};
  if (x.meta.dtype == DataType::BOOL) return {ReduceKind::kAny, ReduceKind::kAll};
  if (x.meta.dtype == DataType::UINT8) return {ReduceKind::kMax, ReduceKind::kMin};
  if (is_complex(x.meta.dtype)) return {ReduceKind::kSum, ReduceKind::kAvg};
  if (!is_floating(x.meta.dtype)) {
    return {ReduceKind::kSum, ReduceKind::kMax, ReduceKind::kMin};
  }
  return {ReduceKind::kSum, ReduceKind::kAvg, ReduceKind::kMax, ReduceKind::kMin};
}

// The first of two shards of one tensor dim splits last.
std::vector<Placement> other_order(std::vector<Placement> placements) {
  int order = static_cast<int>(placements.size());
  for (Placement& p : placements) {
    if (p.is_shard()) p = Shard(p.tensor_dim(), order--);
  }
  return placements;
}

// Of one mesh dim: whole, partial and each split are as likely.
Placement drawn_placement(const Whole& x, std::mt19937& rng) {
  const std::vector<ReduceKind> kinds = partial_kinds(x);
  const auto ndim = static_cast<unsigned>(x.meta.dims.ndim());
  const unsigned pick = rng() % (ndim + (kinds.empty() ? 1 : 2));
  if (pick < ndim) return Shard(static_cast<int>(pick));
  return pick == ndim ? Replicate() : Partial(kinds[rng() % kinds.size()]);
}

// Inputs that lie in any way, or, as often, mostly as the one before.
InputLayout drawn(const Trial& trial, const ProcessMesh& mesh, std::mt19937& rng) {
  const bool mostly_alike = rng() % 2 == 0;
  const bool from_the_right = rng() % 2 == 0;  // are tensor dims alike
  std::vector<Placement> before(static_cast<size_t>(mesh.ndim()));
  int ndim_before = 0;
  InputLayout layout;
  for (const Whole& x : trial.inputs) {
    if (x.meta.dtype == DataType::UNDEFINED) {
      layout.push_back(nullptr);
      continue;
    }
    const int shift = from_the_right ? x.meta.dims.ndim() - ndim_before : 0;
    std::vector<Placement> placements;
    for (const Placement& p : before) {
      const int d = p.tensor_dim() + shift;
      const bool fits = p.is_replicate() || (p.is_shard() && d >= 0 && d < x.meta.dims.ndim());
      const bool is_alike = mostly_alike && fits && !layout.empty() && rng() % 4 != 0;
      placements.push_back(!is_alike ? drawn_placement(x, rng) : p.is_shard() ? Shard(d) : p);
    }
    before = placements;
    ndim_before = x.meta.dims.ndim();
    if (rng() % 2 == 0) placements = other_order(placements);
    layout.push_back(TensorDistAttr::get(mesh, placements));
  }
  return layout;
}

}  // namespace

std::vector<const TensorDistAttr*> layouts_of(const Whole& x, const ProcessMesh& mesh) {
  if (x.meta.dtype == DataType::UNDEFINED) return {nullptr};
  std::vector<Placement> choices = {Replicate()};
  for (int d = 0; d < x.meta.dims.ndim(); ++d) choices.push_back(Shard(d));
  for (const ReduceKind kind : partial_kinds(x)) choices.push_back(Partial(kind));
  std::vector<const TensorDistAttr*> all;
  std::set<const TensorDistAttr*> seen;
  for (const auto& placements : distributed::testing::all_placements(mesh.ndim(), choices)) {
    for (const auto& ordered : {placements, other_order(placements)}) {
      const TensorDistAttr* attr = TensorDistAttr::get(mesh, ordered);
      if (seen.insert(attr).second) all.push_back(attr);
    }
  }
  return all;
}

std::vector<InputLayout> layouts(const Trial& trial, const ProcessMesh& mesh, size_t most,
                                 std::mt19937& rng) {
  double count = 1;
  std::vector<std::vector<const TensorDistAttr*>> options;
  for (const Whole& x : trial.inputs) {
    options.push_back(layouts_of(x, mesh));
    count *= static_cast<double>(options.back().size());
  }
  std::vector<InputLayout> all;
  if (count <= static_cast<double>(most)) {
    all.push_back({});
    for (const auto& of_slot : options) {
      std::vector<InputLayout> longer;
      for (const InputLayout& layout : all) {
        for (const TensorDistAttr* attr : of_slot) {
          longer.push_back(layout);
          longer.back().push_back(attr);
        }
      }
      all = std::move(longer);
    }
    return all;
  }
  std::set<InputLayout> seen;
  for (size_t i = 0; all.size() < most && i < 4 * most; ++i) {
    InputLayout layout = drawn(trial, mesh, rng);
    if (seen.insert(layout).second) all.push_back(std::move(layout));
  }
  return all;
}

std::string describe(const Trial& trial, const InputLayout& layout) {
  std::string text;
  for (size_t i = 0; i < layout.size(); ++i) {
    if (layout[i] == nullptr) continue;
    text += (text.empty() ? "" : ", ") + trial.slot_names[i] + " " +
            distributed::describe(trial.inputs[i].meta.dims, *layout[i]);
  }
  return text;
}

}  // namespace phi::testing
