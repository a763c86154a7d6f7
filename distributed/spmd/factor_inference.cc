// The engine: runs a factor declaration forward and backward.
//
// It has three steps, linear in the number of tensor dims: gather the mesh dims that each tensor
// wants for each factor; settle mesh dims that several factors want; write attributes from the
// factors. It uses no heap, and its cost depends on numbers of dims only, not on the size of the
// mesh.
#include <fmt/format.h>

#include <bit>

#include "distributed/spmd/factors.h"
#include "distributed/spmd/sharding.h"

namespace phi::distributed {

class FactorInference {
 public:
  FactorInference(const Factors& rule, Conflicts* conflicts) : rule_(rule), conflicts_(conflicts) {}

  SpmdResult forward();
  SpmdResult backward(std::span<const TensorSpec> outputs);

 private:
  using TensorFactors = Factors::TensorFactors;
  using Kinds = std::array<ReduceKind, kMaxMeshNdim>;
  static constexpr int kBatch = kMaxNdim;

  static bool has(uint64_t mask, int f) { return (mask >> f) & 1u; }

  void gather(const TensorFactors& term, const Sharding& sharding, const Dims& shape);
  void gather_output(size_t i, const TensorSpec& output);
  void merge(int f, const MeshDims& wanted, int64_t numel);
  void join(int f, const MeshDims& wanted);
  void sort_joined(int f);
  void settle();
  int winner(int mesh_dim) const;
  bool beats(int mesh_dim, int challenger, int holder) const;
  void flow_partials();

  const TensorDistAttr* attr_of(const TensorFactors& term, uint32_t partial_mask,
                                const Kinds& kinds) const;
  const TensorDistAttr* input_attr(int i) const;
  const TensorDistAttr* output_attr(const TensorFactors& term) const;

  const Factors& rule_;
  Conflicts* const conflicts_;  // null: conflicts are not collected
  ProcessMesh mesh_;
  std::array<MeshDims, Factors::kMaxFactors> want_{};
  std::array<int64_t, Factors::kMaxFactors> weight_;  // elements of the largest tensor that wants
                                                      // the factor split
  std::array<std::array<uint8_t, kMaxMeshNdim>, Factors::kMaxFactors> votes_;  // number of tensors
                                                                               // that want it
  std::array<uint8_t, Factors::kMaxFactors> met_;  // factors in the order of first use
  int met_count_ = 0;
  uint64_t joined_ = 0;  // factors split over mesh dims of several tensors ...
  std::array<MeshDims, Factors::kMaxFactors> first_wanted_;  // ... and what the first tensor wanted

  // Partial inputs, and the mesh dims over which they pass.
  InlineVector<uint8_t, 8> input_partial_;
  Kinds partial_kind_{};
  uint32_t flowing_ = 0;
  int flow_from_ = -1;  // the only input that stays partial; -1: all of them
};

// ---- gather ----

void FactorInference::merge(int f, const MeshDims& wanted, int64_t numel) {
  if (wanted.empty()) return;
  MeshDims& held = want_[f];
  if (held.empty()) {
    held = wanted;
    weight_[f] = numel;
    votes_[f] = {};
    for (int m : wanted) ++votes_[f][m];
    met_[met_count_++] = static_cast<uint8_t>(f);
    return;
  }
  for (int m : wanted) ++votes_[f][m];
  weight_[f] = std::max(weight_[f], numel);
  if (held == wanted) return;
  if (rule_.join_) return join(f, wanted);
  if (conflicts_ == nullptr) return;
  const auto& names = mesh_.dim_names();
  if (f == Factors::kUnsplit) {
    conflicts_->push_back({Conflict::Kind::kGivenUp,
                           fmt::format("dims that are never split are split over mesh dims '{}' "
                                       "and '{}'",
                                       names[held[0]], names[wanted[0]])});
    return;
  }
  conflicts_->push_back(
      {Conflict::Kind::kPlacedDifferently,
       fmt::format("factor {} is split over mesh dim '{}' by one tensor and over mesh dim '{}' by "
                   "another",
                   Factors::factor_name(static_cast<uint8_t>(f)), names[held[0]],
                   names[wanted[0]])});
}

// Adds the wanted mesh dims to those of factor f; settle() decides whether its size allows both.
void FactorInference::join(int f, const MeshDims& wanted) {
  if (!has(joined_, f)) {
    joined_ |= uint64_t{1} << f;
    first_wanted_[f] = want_[f];
  }
  for (int m : wanted) {
    if (!want_[f].contains(m)) want_[f].push_back(m);
  }
}

// Splits over the larger mesh dim first, if the factor's size allows all. Otherwise keeps what the
// first tensor wanted, or what the next one wanted.
void FactorInference::sort_joined(int f) {
  const MeshDims joined = want_[f];
  const MeshDims first = first_wanted_[f].without(~joined.mask());
  if (joined == first) return;
  if (rule_.size_[f] % joined.parts(mesh_) != 0) {
    if (!first.empty()) want_[f] = first;
    return;
  }
  if (first.size() == joined.size()) {
    want_[f] = first;
    return;
  }
  MeshDims sorted;
  while (sorted.size() < joined.size()) {
    int next = -1;
    for (int m : joined) {
      if (sorted.contains(m)) continue;
      if (next < 0 || mesh_.dim_size(m) > mesh_.dim_size(next)) next = m;
    }
    sorted.push_back(next);
  }
  want_[f] = sorted;
}

void FactorInference::gather(const TensorFactors& term, const Sharding& sharding,
                             const Dims& shape) {
  const int64_t numel = rule_.prefer_larger_ ? shape.numel() : 0;
  for (int d = 0; d < term.ndim; ++d) {
    const MeshDims& wanted = sharding.dims[d];
    if (wanted.empty() || term.factor[d] == Factors::kIgnored) continue;
    const bool lost_on_unit = rule_.unit_dims_whole_ && shape[d] == 1 && wanted.parts(mesh_) > 1;
    if (!lost_on_unit) merge(term.factor[d], wanted, numel);
  }
}

// ---- settle ----

bool FactorInference::beats(int mesh_dim, int challenger, int holder) const {
  const int more = votes_[challenger][mesh_dim] - votes_[holder][mesh_dim];
  if (rule_.prefer_majority_ && more != 0) return more > 0;
  const bool challenger_yields = has(rule_.yields_, challenger);
  const bool holder_yields = has(rule_.yields_, holder);
  if (challenger_yields != holder_yields) return holder_yields;
  // prefer_larger_tensor compares letters, which are dims of single tensors. A batch factor belongs
  // to every tensor, so it wins against a letter.
  const bool challenger_batch = challenger < kBatch;
  const bool holder_batch = holder < kBatch;
  if (rule_.prefer_larger_ && challenger_batch != holder_batch) return challenger_batch;
  return rule_.prefer_larger_ && weight_[challenger] > weight_[holder];
}

int FactorInference::winner(int mesh_dim) const {
  int best = -1;
  for (int i = 0; i < met_count_; ++i) {
    const int f = met_[i];
    if (!want_[f].contains(mesh_dim)) continue;
    if (best >= 0 && conflicts_ != nullptr) {
      conflicts_->push_back(
          {Conflict::Kind::kSharedMeshDim,
           fmt::format("factors {} and {} are both split over mesh dim '{}'",
                       Factors::factor_name(static_cast<uint8_t>(best)),
                       Factors::factor_name(met_[i]), mesh_.dim_names()[mesh_dim])});
    }
    if (best < 0 || beats(mesh_dim, f, best)) best = f;
  }
  return best;
}

void FactorInference::settle() {
  uint32_t once = 0;
  uint32_t twice = 0;
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
  for (int i = 0; joined_ != 0 && i < met_count_; ++i) {
    if (has(joined_, met_[i])) sort_joined(met_[i]);
  }
  for (int i = 0; i < met_count_; ++i) {
    MeshDims& dims = want_[met_[i]];
    if (dims.empty()) continue;
    const bool cuts_group =
        has(rule_.divides_, met_[i]) && rule_.divided_size_ % dims.parts(mesh_) != 0;
    if (has(rule_.whole_, met_[i]) || cuts_group) dims = MeshDims();
  }
}

// Decides over which mesh dims partial inputs stay partial; the outputs are partial over them.
void FactorInference::flow_partials() {
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
    if (input_partial_[i] != 0 && rule_.inputs_[i].shape.numel() > largest) {
      largest = rule_.inputs_[i].shape.numel();
      flow_from_ = i;
      flowing_ = input_partial_[i];
    }
  }
}

// ---- write ----

const TensorDistAttr* FactorInference::attr_of(const TensorFactors& term, uint32_t partial_mask,
                                               const Kinds& kinds) const {
  PlacementArray placements{};
  for (int d = 0; d < term.ndim; ++d) {
    if (term.factor[d] == Factors::kIgnored) continue;
    int order = 0;
    for (int m : want_[term.factor[d]]) placements[m] = Shard(d, order++);
  }
  for (uint32_t rest = partial_mask; rest != 0; rest &= rest - 1) {
    const int m = std::countr_zero(rest);
    if (placements[m].is_replicate()) placements[m] = Partial(kinds[m]);
  }
  if (term.attr != nullptr && placements == term.attr->placement_array()) return term.attr;
  return TensorDistAttr::get(mesh_, std::span<const Placement>(placements.data(), mesh_.ndim()));
}

const TensorDistAttr* FactorInference::input_attr(int i) const {
  const TensorFactors& term = rule_.inputs_[i];
  if (term.absent) return nullptr;
  const bool stays = flow_from_ < 0 || flow_from_ == i;
  return attr_of(term, stays ? flowing_ : 0, partial_kind_);
}

const TensorDistAttr* FactorInference::output_attr(const TensorFactors& term) const {
  if (term.absent) return nullptr;
  Kinds kinds = partial_kind_;
  uint32_t partial = flowing_;
  for (int i = 0; i < met_count_; ++i) {
    const int f = met_[i];
    if (want_[f].empty() || has(rule_.combined_, f)) continue;
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

// ---- forward and backward ----

SpmdResult FactorInference::forward() {
  for (const TensorFactors& term : rule_.inputs_) {
    if (term.absent) {
      input_partial_.push_back(0);
      continue;
    }
    mesh_ = term.attr->mesh();
    const Sharding sharding = Sharding::of({term.shape, term.attr});
    if (term.follows) {
      input_partial_.push_back(0);
      continue;
    }
    gather(term, sharding, term.shape);
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
  for (const TensorFactors& term : rule_.outputs_) result.outputs.push_back(output_attr(term));
  return result;
}

void FactorInference::gather_output(size_t i, const TensorSpec& output) {
  const TensorFactors& term = rule_.outputs_[i];
  if (output.absent() || term.absent) return;
  PHI_CHECK(output.ndim() == term.ndim,
            errors::InvalidArgument("output {} has {} dims {}, but the inputs imply {} dims.", i,
                                    output.ndim(), output.shape.to_string(), term.ndim));
  mesh_ = output.attr->mesh();
  TensorFactors own = term;
  for (int d = 0; d < own.ndim; ++d) {
    if (own.factor[d] < kBatch && output.shape[d] == 1) own.factor[d] = Factors::kUnsplit;
  }
  gather(own, Sharding::of(output), output.shape);
}

SpmdResult FactorInference::backward(std::span<const TensorSpec> outputs) {
  PHI_CHECK(static_cast<int>(outputs.size()) == rule_.outputs(),
            errors::InvalidArgument("{} outputs are given, the rule has {}.", outputs.size(),
                                    rule_.outputs()));
  for (const TensorFactors& term : rule_.inputs_) {
    if (!term.absent) mesh_ = term.attr->mesh();
  }
  for (size_t i = 0; i < outputs.size(); ++i) gather_output(i, outputs[i]);
  settle();
  SpmdResult result;
  for (int i = 0; i < rule_.inputs(); ++i) result.inputs.push_back(input_attr(i));
  for (size_t i = 0; i < outputs.size(); ++i) {
    result.outputs.push_back(outputs[i].absent() ? nullptr : output_attr(rule_.outputs_[i]));
  }
  return result;
}

SpmdResult Factors::forward(Conflicts* conflicts) const {
  return FactorInference(*this, conflicts).forward();
}

SpmdResult Factors::backward(std::span<const TensorSpec> outputs, Conflicts* conflicts) const {
  return FactorInference(*this, conflicts).backward(outputs);
}

}  // namespace phi::distributed
