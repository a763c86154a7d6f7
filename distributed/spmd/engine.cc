// The engine: answers a factor declaration forwards and backwards.
//
// Three steps, linear in tensor dims: gather what each tensor wants for each factor; settle mesh
// dims that several factors want; write attrs from the factors. No heap; the cost depends on
// numbers of dims alone, not on the size of the mesh.
#include <bit>

#include "distributed/spmd/factors.h"
#include "distributed/spmd/sharding.h"

namespace phi::distributed {

class Inference {
 public:
  Inference(const Factors& rule, Strictness strictness)
      : rule_(rule), strict_(strictness == Strictness::kRefuse) {}

  SpmdResult forward();
  SpmdResult backward(std::span<const TensorSpec> outputs);

 private:
  using Term = Factors::Term;
  static constexpr int kBatch = kMaxNdim;

  bool has(uint64_t mask, int f) const { return (mask >> f) & 1u; }
  std::string name_of_factor(int f) const {
    return f < kBatch ? fmt::format("batch {}", f) : std::string(1, char('a' + f - kBatch));
  }

  void gather(const Term& term, const Sharding& sharding, int64_t numel, int64_t shape1_mask);
  void merge(int f, const MeshDims& wanted, int64_t numel);
  void settle();
  int winner(int mesh_dim) const;
  bool beats(int challenger, int holder) const;
  void flow_partials();

  const TensorDistAttr* attr_of(const Term& term, uint32_t partial_mask,
                                const std::array<ReduceKind, kMaxMeshNdim>& kinds) const;
  const TensorDistAttr* input_attr(int i) const;
  const TensorDistAttr* output_attr(const Term& term) const;

  const Factors& rule_;
  const bool strict_;
  ProcessMesh mesh_;
  std::array<MeshDims, Factors::kMaxFactors> want_{};
  std::array<int64_t, Factors::kMaxFactors> weight_;  // elements of the largest tensor that wants
  std::array<uint8_t, Factors::kMaxFactors> met_;     // factors by first meeting
  int met_count_ = 0;

  // Partial inputs, and what flows on.
  InlineVector<uint8_t, 8> input_partial_;
  std::array<ReduceKind, kMaxMeshNdim> partial_kind_{};
  uint32_t flowing_ = 0;
  int flow_from_ = -1;  // the only input that stays partial; -1: all of them
};

void Inference::merge(int f, const MeshDims& wanted, int64_t numel) {
  if (wanted.empty() || has(rule_.whole_, f)) return;
  MeshDims& held = want_[f];
  if (held.empty()) {
    held = wanted;
    weight_[f] = numel;
    met_[met_count_++] = static_cast<uint8_t>(f);
    return;
  }
  weight_[f] = std::max(weight_[f], numel);
  if (held == wanted) return;
  if (rule_.join_) {
    MeshDims joined = held;
    for (int m : wanted) {
      if (!joined.contains(m)) joined.push_back(m);
    }
    if (rule_.size_[f] % joined.parts(mesh_) == 0) {
      MeshDims sorted;
      while (sorted.size() < joined.size()) {
        int next = -1;
        for (int m : joined) {
          if (!sorted.contains(m) && (next < 0 || mesh_.dim_size(m) > mesh_.dim_size(next)))
            next = m;
        }
        sorted.push_back(next);
      }
      held = sorted;
      return;
    }
  }
  PHI_CHECK(!strict_ || rule_.join_,
            errors::Unimplemented("factor {} is split over mesh dim '{}' by one tensor and over "
                                  "mesh dim '{}' by another; reshard one of them first.",
                                  name_of_factor(f), mesh_.dim_names()[held[0]],
                                  mesh_.dim_names()[wanted[0]]));
}

void Inference::gather(const Term& term, const Sharding& sharding, int64_t numel,
                       int64_t shape1_mask) {
  for (int d = 0; d < term.ndim; ++d) {
    const uint8_t f = term.factor[d];
    if (f == Factors::kUnsplit || ((shape1_mask >> d) & 1)) continue;
    merge(f, sharding.dims[d], numel);
  }
}

bool Inference::beats(int challenger, int holder) const {
  const bool challenger_yields = has(rule_.yields_, challenger);
  const bool holder_yields = has(rule_.yields_, holder);
  if (challenger_yields != holder_yields) return holder_yields;
  return rule_.prefer_larger_ && weight_[challenger] > weight_[holder];
}

int Inference::winner(int mesh_dim) const {
  int best = -1;
  for (int i = 0; i < met_count_; ++i) {
    const int f = met_[i];
    if (!want_[f].contains(mesh_dim)) continue;
    PHI_CHECK(best < 0 || !strict_ || !rule_.refuse_shared_,
              errors::PreconditionNotMet("factors {} and {} are both split over mesh dim '{}'; "
                                         "reshard one of the tensors first.",
                                         name_of_factor(best), name_of_factor(f),
                                         mesh_.dim_names()[mesh_dim]));
    if (best < 0 || beats(f, best)) best = f;
  }
  return best;
}

void Inference::settle() {
  uint32_t once = 0, twice = 0;
  for (int i = 0; i < met_count_; ++i) {
    const uint32_t mask = want_[met_[i]].mask();
    twice |= once & mask;
    once |= mask;
  }
  for (uint32_t rest = twice; rest != 0; rest &= rest - 1) {
    const int m = std::countr_zero(rest);
    const int keeper = winner(m);
    for (int i = 0; i < met_count_; ++i) {
      if (met_[i] != keeper) want_[met_[i]] = want_[met_[i]].without(1u << m);
    }
  }
  if (!strict_ || rule_.refused_split_ == 0) return;
  for (int i = 0; i < met_count_; ++i) {
    PHI_CHECK(!has(rule_.refused_split_, met_[i]) || want_[met_[i]].empty(),
              errors::InvalidArgument("{}", rule_.refuse_reason_));
  }
}

// Decides over which mesh dims partial inputs stay partial and make the outputs partial.
void Inference::flow_partials() {
  if (rule_.partial_flow_ == PartialFlow::kNone) return;
  uint32_t split = 0;
  for (int i = 0; i < met_count_; ++i) split |= want_[met_[i]].mask();
  uint32_t any = 0;
  uint32_t every = ~0u;
  for (uint8_t mask : input_partial_) {
    any |= mask;
    every &= mask;
  }
  if (rule_.partial_flow_ == PartialFlow::kEvery) {
    flowing_ = input_partial_.size() == 0 ? 0 : every & ~split;
    return;
  }
  if ((any & split) != 0) return;
  int64_t largest = -1;
  for (int i = 0; i < rule_.inputs(); ++i) {
    if (input_partial_[i] != 0 && rule_.inputs_[i].numel > largest) {
      largest = rule_.inputs_[i].numel;
      flow_from_ = i;
      flowing_ = input_partial_[i];
    }
  }
}

const TensorDistAttr* Inference::attr_of(const Term& term, uint32_t partial_mask,
                                         const std::array<ReduceKind, kMaxMeshNdim>& kinds) const {
  PlacementArray placements{};
  for (int d = 0; d < term.ndim; ++d) {
    if (term.factor[d] == Factors::kUnsplit) continue;
    int order = 0;
    for (int m : want_[term.factor[d]]) placements[m] = Shard(d, order++);
  }
  for (uint32_t rest = partial_mask; rest != 0; rest &= rest - 1) {
    const int m = std::countr_zero(rest);
    placements[m] = Partial(kinds[m]);
  }
  if (term.attr != nullptr && placements == term.attr->placement_array()) return term.attr;
  return TensorDistAttr::get(mesh_, std::span<const Placement>(placements.data(), mesh_.ndim()));
}

const TensorDistAttr* Inference::input_attr(int i) const {
  const Term& term = rule_.inputs_[i];
  if (term.absent) return nullptr;
  const bool stays = flow_from_ < 0 || flow_from_ == i;
  return attr_of(term, stays ? flowing_ : 0, partial_kind_);
}

const TensorDistAttr* Inference::output_attr(const Term& term) const {
  if (term.absent) return nullptr;
  std::array<ReduceKind, kMaxMeshNdim> kinds = partial_kind_;
  uint32_t partial = flowing_;
  for (int i = 0; i < met_count_; ++i) {
    const int f = met_[i];
    bool present = false;
    for (int d = 0; d < term.ndim; ++d) present |= term.factor[d] == f;
    if (present) continue;
    for (int m : want_[f]) {
      partial |= 1u << m;
      kinds[m] = has(rule_.other_reduce_, f) ? rule_.reduce_kind_ : ReduceKind::kSum;
    }
  }
  return attr_of(term, partial, kinds);
}

SpmdResult Inference::forward() {
  for (const Term& term : rule_.inputs_) {
    if (term.absent) {
      input_partial_.push_back(0);
      continue;
    }
    mesh_ = term.attr->mesh();
    Dims shape = Dims::filled(term.ndim, 0);
    const Sharding sharding = Sharding::of({shape, term.attr});
    gather(term, sharding, term.numel, 0);
    uint32_t partial = 0;
    for (uint32_t rest = sharding.partial_mask; rest != 0; rest &= rest - 1) {
      const int m = std::countr_zero(rest);
      if (!((rule_.partial_kinds_ >> int(sharding.partial_kind[m])) & 1u)) continue;
      partial |= 1u << m;
      partial_kind_[m] = sharding.partial_kind[m];
    }
    input_partial_.push_back(static_cast<uint8_t>(partial));
  }
  settle();
  flow_partials();
  SpmdResult result;
  for (int i = 0; i < rule_.inputs(); ++i) result.inputs.push_back(input_attr(i));
  for (const Term& term : rule_.outputs_) result.outputs.push_back(output_attr(term));
  return result;
}

SpmdResult Inference::backward(std::span<const TensorSpec> outputs) {
  PHI_CHECK(static_cast<int>(outputs.size()) == rule_.outputs(),
            errors::InvalidArgument("{} outputs are given, the rule has {}.", outputs.size(),
                                    rule_.outputs()));
  for (const Term& term : rule_.inputs_) {
    if (!term.absent) mesh_ = term.attr->mesh();
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].absent()) continue;
    const Term& term = rule_.outputs_[i];
    PHI_CHECK(
        term.absent || outputs[i].ndim() == term.ndim,
        errors::InvalidArgument("output {} has {} dims {}, the inputs make one of {} dims.", i,
                                outputs[i].ndim(), outputs[i].shape.to_string(), term.ndim));
    mesh_ = outputs[i].attr->mesh();
    int64_t shape1_mask = 0;
    for (int d = 0; d < term.ndim; ++d) {
      if (term.factor[d] < kBatch && outputs[i].shape[d] == 1) shape1_mask |= 1 << d;
    }
    gather(term, Sharding::of(outputs[i]), outputs[i].shape.numel(), shape1_mask);
  }
  settle();
  SpmdResult result;
  for (int i = 0; i < rule_.inputs(); ++i) result.inputs.push_back(input_attr(i));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool absent = outputs[i].absent() || rule_.outputs_[i].absent;
    result.outputs.push_back(absent                ? nullptr
                             : rule_.echo_outputs_ ? outputs[i].attr
                                                   : output_attr(rule_.outputs_[i]));
  }
  return result;
}

SpmdResult Factors::forward(Strictness strictness) const {
  return Inference(*this, strictness).forward();
}

SpmdResult Factors::backward(std::span<const TensorSpec> outputs, Strictness strictness) const {
  return Inference(*this, strictness).backward(outputs);
}

}  // namespace phi::distributed
