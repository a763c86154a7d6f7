// Finds the partial inputs that may stay partial, mesh dim by mesh dim. It runs the rule again with
// these inputs replicated; if nothing is sharded over the mesh dim then, they may be partial
// instead.
#include "api/rules/partial_propagation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "api/rules/rule_functions.h"
#include "phi/common/dtype.h"

namespace phi {
namespace {

using distributed::Partial;
using distributed::Placement;
using distributed::ReduceKind;
using distributed::Replicate;
using distributed::SpmdResult;
using distributed::TensorDistAttr;
using distributed::TensorSpec;
using Propagation = PartialPropagation;

bool is_linear(ReduceKind kind) { return kind == ReduceKind::kSum || kind == ReduceKind::kAvg; }
bool is_upper(ReduceKind kind) { return kind == ReduceKind::kMax || kind == ReduceKind::kAny; }
bool is_lower(ReduceKind kind) { return kind == ReduceKind::kMin || kind == ReduceKind::kAll; }

ReduceKind turned(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kMax:
      return ReduceKind::kMin;
    case ReduceKind::kMin:
      return ReduceKind::kMax;
    case ReduceKind::kAny:
      return ReduceKind::kAll;
    case ReduceKind::kAll:
      return ReduceKind::kAny;
    default:
      return kind;
  }
}

bool commute(ReduceKind a, ReduceKind b) { return a == b || (is_linear(a) && is_linear(b)); }

// Whether a value that is partial of `kind` over `mesh_dim` may have attr's placements over the
// other mesh dims.
bool commutes_with(const TensorDistAttr& attr, int mesh_dim, ReduceKind kind) {
  for (int m = 0; m < attr.mesh().ndim(); ++m) {
    const Placement& p = attr.placement(m);
    if (m != mesh_dim && p.is_partial() && !commute(p.reduce(), kind)) return false;
  }
  return true;
}

const TensorDistAttr* placed(const TensorDistAttr& attr, int mesh_dim, const Placement& placement) {
  std::vector<Placement> placements(attr.placements().begin(), attr.placements().end());
  placements[static_cast<size_t>(mesh_dim)] = placement;
  return TensorDistAttr::get(attr.mesh(), placements);
}

bool is_zero(const AttributeValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number == 0;
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer == 0;
  const auto* truth = std::get_if<bool>(&value);
  return truth != nullptr && !*truth;
}

/// A set of slots; slots from kMost on are ignored.
using Slots = uint64_t;
constexpr size_t kMost = 64;

Slots bit(size_t slot) { return Slots{1} << slot; }

/// The laws of one call.
class Propagations {
 public:
  Propagations(const RuleFunctions& functions, const RuleArgs& args)
      : functions_(functions), args_(args), specs_(args.slots()) {
    for (int arg = 0; arg < args.num_arguments(); ++arg) {
      const auto [first, size] = args.slots_of(arg);
      for (size_t i = 0; i < size; ++i) {
        metas_.push_back(args.list_meta(arg)[i]);
        if (first + i >= kMost) continue;
        if (!specs_[first + i].absent()) present_ |= bit(first + i);
      }
    }
    for (const Propagation& propagation : functions.propagations)
      named_ |= slots_of(propagation.args);
  }

  const std::vector<TensorSpec>& specs() const { return specs_; }
  /// The inputs that some law names.
  Slots named() const { return named_; }
  int64_t bytes_of(Slots slots) const {
    int64_t bytes = 0;
    for (; slots != 0; slots &= slots - 1) bytes += bytes_of(metas_[first_of(slots)]);
    return bytes;
  }
  /// -1 if an extent is not known.
  static int64_t bytes_of(const TensorMeta& meta) {
    if (!meta.dims.known()) return -1;
    return meta.dims.numel() * static_cast<int64_t>(size_of(meta.dtype));
  }

  /// The placement of each output over a mesh dim over which `kept` are partial of `kind` and
  /// everything else is whole. Empty if no law determines one of them, or if the partial outputs
  /// have more bytes than `kept`.
  std::optional<std::vector<Placement>> outputs(Slots kept, ReduceKind kind) {
    std::vector<Placement> placements;
    int64_t partial_bytes = 0;
    bool any = false;
    for (size_t o = 0; o < metas_of_outputs().size(); ++o) {
      placements.push_back(Replicate());
      const auto& meta = metas_of_outputs()[o];
      if (!meta) continue;
      const Slots named = named_by(o) & kept;
      if (named == 0) continue;
      const auto passed = passes(o, named, kind, meta->dtype);
      const int64_t bytes = bytes_of(*meta);
      if (!passed || bytes < 0) return std::nullopt;
      placements.back() = Partial(*passed);
      partial_bytes += bytes;
      any = true;
    }
    if (!any || partial_bytes > bytes_of(kept)) return std::nullopt;
    return placements;
  }

 private:
  static size_t first_of(Slots slots) { return static_cast<size_t>(std::countr_zero(slots)); }

  const OutputMetas& metas_of_outputs() {
    if (!outputs_) outputs_ = functions_.infer_meta(args_);
    return *outputs_;
  }

  Slots slots_of(uint32_t arguments) const {
    Slots slots = 0;
    for (; arguments != 0; arguments &= arguments - 1) {
      const auto [first, size] = args_.slots_of(std::countr_zero(arguments));
      for (size_t i = first; i < std::min(first + size, kMost); ++i) slots |= bit(i);
    }
    return slots & present_;
  }

  bool speaks_of(const Propagation& propagation, size_t output) const {
    return propagation.output < 0 || static_cast<size_t>(propagation.output) == output;
  }
  // The slots that `propagation` names for an output.
  Slots slots_of(const Propagation& propagation, size_t output) const {
    if (propagation.kind != Propagation::Kind::kEach) return slots_of(propagation.args);
    const auto [first, size] = args_.slots_of(std::countr_zero(propagation.args));
    return output < size && first + output < kMost ? bit(first + output) & present_ : 0;
  }
  Slots named_by(size_t output) const {
    Slots slots = 0;
    for (const Propagation& propagation : functions_.propagations) {
      if (speaks_of(propagation, output)) slots |= slots_of(propagation, output);
    }
    return slots;
  }

  std::optional<ReduceKind> passes(size_t output, Slots kept, ReduceKind kind,
                                   DataType dtype) const {
    if (is_each(output, kept, dtype)) return kind;
    if (is_linear(kind)) {
      if (!are_of_numbers(kept, dtype) || !is_sum(output, kept, kind)) return std::nullopt;
      return kind;
    }
    for (const Propagation& propagation : functions_.propagations) {
      if (!speaks_of(propagation, output) || (kept & ~slots_of(propagation, output)) != 0) continue;
      if (const auto passed = ordered(propagation, kept, kind, dtype)) return passed;
    }
    return std::nullopt;
  }

  bool is_each(size_t output, Slots kept, DataType dtype) const {
    return std::ranges::any_of(functions_.propagations, [&](const Propagation& propagation) {
      return propagation.kind == Propagation::Kind::kEach && speaks_of(propagation, output) &&
             kept == slots_of(propagation, output) && are_of(kept, dtype);
    });
  }

  bool are_of(Slots slots, DataType dtype) const {
    for (; slots != 0; slots &= slots - 1) {
      if (metas_[first_of(slots)].dtype != dtype) return false;
    }
    return true;
  }
  // Whether all have the floating dtype `dtype`; complex numbers count as two numbers.
  bool are_of_numbers(Slots slots, DataType dtype) const {
    if (!is_floating(real_part_of(dtype))) return false;
    for (; slots != 0; slots &= slots - 1) {
      if (real_part_of(metas_[first_of(slots)].dtype) != real_part_of(dtype)) return false;
    }
    return true;
  }

  // Whether each term has the right number of partial factors: one for P(sum), at most one for
  // P(avg).
  bool is_sum(size_t output, Slots kept, ReduceKind kind) const {
    const int least = kind == ReduceKind::kSum ? 1 : 0;
    int terms = 0;
    const auto fits = [&](Slots factors) {
      if (factors == 0) return true;  // all its inputs are absent
      ++terms;
      const int count = std::popcount(factors & kept);
      return count <= 1 && count >= least;
    };
    for (const Propagation& propagation : functions_.propagations) {
      if (!speaks_of(propagation, output)) continue;
      if (propagation.kind == Propagation::Kind::kConstant) {
        const bool is_none =
            propagation.attribute >= 0 && is_zero(args_.attribute(propagation.attribute));
        if (!is_none && least == 1) return false;
      }
      if (propagation.kind != Propagation::Kind::kTerm) continue;
      if (propagation.products == 0 && std::popcount(propagation.args) == 1) {
        for (Slots rest = slots_of(propagation.args); rest != 0; rest &= rest - 1) {
          if (!fits(rest & ~(rest - 1))) return false;
        }
      } else if (!fits(slots_of(propagation.args))) {
        return false;
      }
    }
    return terms > 0;
  }

  std::optional<ReduceKind> ordered(const Propagation& propagation, Slots kept, ReduceKind kind,
                                    DataType dtype) const {
    const bool is_known = is_upper(kind) || is_lower(kind);
    const bool is_one = std::popcount(kept) == 1;
    const bool is_same = are_of(kept, dtype);
    switch (propagation.kind) {
      case Propagation::Kind::kUp:
        if (!is_one || !(is_same || rounds_in_order(metas_[first_of(kept)].dtype, dtype))) break;
        return is_known ? std::optional(kind) : std::nullopt;
      case Propagation::Kind::kDown:
        return is_known && is_one && is_same ? std::optional(turned(kind)) : std::nullopt;
      case Propagation::Kind::kJoin:
        return is_upper(kind) && is_same ? std::optional(kind) : std::nullopt;
      case Propagation::Kind::kMeet:
        return is_lower(kind) && is_same ? std::optional(kind) : std::nullopt;
      case Propagation::Kind::kPick:
        return is_known && is_same ? std::optional(kind) : std::nullopt;
      default:
        break;
    }
    return std::nullopt;
  }

  // Whether the cast is monotonic: casts of real numbers to floating dtypes are, casts to integers
  // may wrap around.
  static bool rounds_in_order(DataType from, DataType to) {
    return is_floating(to) && !is_complex(from) && from != DataType::BOOL;
  }

  const RuleFunctions& functions_;
  const RuleArgs& args_;
  std::vector<TensorSpec> specs_;
  std::vector<TensorMeta> metas_;
  Slots present_ = 0;
  Slots named_ = 0;
  std::optional<OutputMetas> outputs_;
};

/// The inputs that stay partial over one mesh dim, and the outputs that become partial.
struct Passage {
  int mesh_dim;
  ReduceKind kind;
  Slots kept = 0;
  std::vector<Placement> outputs;
};

class Passages {
 public:
  Passages(const RuleFunctions& functions, const RuleArgs& args, SpmdResult inference)
      : functions_(functions), args_(args), propagations_(functions, args), inference_(inference) {}

  SpmdResult find() {
    for (int m = 0; m < args_.mesh().ndim(); ++m) {
      const Slots partial = reduced_over(m);
      if (partial == 0) continue;
      if (auto passage = most_kept(m, partial)) take(partial, std::move(*passage));
    }
    for (const Passage& passage : found_) write(passage);
    return inference_;
  }

 private:
  const TensorDistAttr& given(size_t slot) const { return *propagations_.specs()[slot].attr; }

  // The inputs that are partial over m, if the rule reduces all of them.
  Slots reduced_over(int m) const {
    Slots slots = 0;
    for (size_t i = 0; i < std::min(propagations_.specs().size(), kMost); ++i) {
      if (propagations_.specs()[i].absent() || !given(i).placement(m).is_partial()) continue;
      if (inference_.inputs[i]->placement(m).is_partial()) return 0;
      slots |= bit(i);
    }
    return slots;
  }

  // Returns the set of inputs with the most bytes that can stay partial; earlier inputs win ties.
  std::optional<Passage> most_kept(int m, Slots partial) {
    std::optional<Passage> best;
    int64_t most = -1;
    for (const auto& [kind, slots] : by_kind(m, partial & propagations_.named())) {
      for (const Slots kept : subsets(slots)) {
        const int64_t bytes = propagations_.bytes_of(kept);
        if (bytes <= most) continue;
        auto outputs = propagations_.outputs(kept, kind);
        if (!outputs) continue;
        most = bytes;
        best = Passage{m, kind, kept, std::move(*outputs)};
      }
    }
    return best;
  }

  std::vector<std::pair<ReduceKind, Slots>> by_kind(int m, Slots slots) const {
    std::vector<std::pair<ReduceKind, Slots>> kinds;
    for (; slots != 0; slots &= slots - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(slots));
      const ReduceKind kind = given(i).placement(m).reduce();
      if (!commutes_with(given(i), m, kind)) continue;
      auto it = std::ranges::find(kinds, kind, &std::pair<ReduceKind, Slots>::first);
      if (it == kinds.end()) it = kinds.insert(kinds.end(), {kind, 0});
      it->second |= bit(i);
    }
    return kinds;
  }

  // All subsets; for more than kFew inputs only the whole set and the single inputs.
  static std::vector<Slots> subsets(Slots slots) {
    constexpr int kFew = 6;
    std::vector<Slots> sets;
    if (std::popcount(slots) <= kFew) {
      for (Slots set = 0; (set = (set - slots) & slots) != 0;) sets.push_back(set);
      return sets;
    }
    sets.push_back(slots);
    for (Slots rest = slots; rest != 0; rest &= rest - 1) sets.push_back(rest & ~(rest - 1));
    return sets;
  }

  // Runs the rule with these inputs replicated, and keeps the passage if everything is whole over
  // its mesh dim then.
  void take(Slots partial, Passage passage) {
    RuleArgs whole = args_;
    for (Slots rest = partial; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(rest));
      const auto slots = whole.slots();
      whole.place(i, placed(*slots[i].attr, passage.mesh_dim, Replicate()));
    }
    SpmdResult inference = functions_.forward_by_rule(whole, inference_.outputs.size());
    found_.push_back(std::move(passage));
    if (!std::ranges::all_of(found_,
                             [&](const Passage& each) { return is_open(each, inference); })) {
      found_.pop_back();
      return;
    }
    args_ = std::move(whole);
    inference_ = std::move(inference);
  }

  bool is_open(const Passage& passage, const SpmdResult& inference) const {
    const int m = passage.mesh_dim;
    const auto is_whole = [m](const TensorDistAttr* attr) {
      return attr == nullptr || attr->placement(m).is_replicate();
    };
    if (!std::ranges::all_of(inference.inputs, is_whole)) return false;
    if (!std::ranges::all_of(inference.outputs, is_whole)) return false;
    for (size_t o = 0; o < inference.outputs.size(); ++o) {
      const Placement& p = passage.outputs[o];
      if (inference.outputs[o] == nullptr || !p.is_partial()) continue;
      if (!commutes_with(*inference.outputs[o], m, p.reduce())) return false;
      for (const Passage& other : found_) {
        const Placement& q = other.outputs[o];
        if (q.is_partial() && !commute(p.reduce(), q.reduce())) return false;
      }
    }
    return true;
  }

  void write(const Passage& passage) {
    const int m = passage.mesh_dim;
    for (Slots rest = passage.kept; rest != 0; rest &= rest - 1) {
      const TensorDistAttr*& attr = inference_.inputs[static_cast<size_t>(std::countr_zero(rest))];
      attr = placed(*attr, m, Partial(passage.kind));
    }
    for (size_t o = 0; o < inference_.outputs.size(); ++o) {
      const TensorDistAttr*& attr = inference_.outputs[o];
      if (attr != nullptr) attr = placed(*attr, m, passage.outputs[o]);
    }
  }

  const RuleFunctions& functions_;
  RuleArgs args_;
  Propagations propagations_;
  SpmdResult inference_;
  std::vector<Passage> found_;
};

bool has_partial(const RuleArgs& args) {
  const auto slots = args.slots();
  return std::ranges::any_of(
      slots, [](const TensorSpec& slot) { return !slot.absent() && slot.attr->has_partial(); });
}

}  // namespace

SpmdResult propagate_partials(const RuleFunctions& functions, const RuleArgs& args,
                              SpmdResult inference) {
  if (!has_partial(args)) return inference;
  return Passages(functions, args, std::move(inference)).find();
}

}  // namespace phi
