// Computes plans and their bytes, and prints them.
#include "distributed/reshard/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>

#include "distributed/placement/collective_volume.h"
#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

using StepKind = ReshardStep::Kind;

// Whether the reductions over two mesh dims commute: a(b(x)) = b(a(x)).
bool commute(ReduceKind a, ReduceKind b) {
  const auto linear = [](ReduceKind k) { return k == ReduceKind::kSum || k == ReduceKind::kAvg; };
  return a == b || (linear(a) && linear(b));
}

const TensorDistAttr* with(const TensorDistAttr* attr, const PlacementArray& placements) {
  return TensorDistAttr::get(attr->mesh(),
                             std::span(placements.data(), size_t(attr->mesh().ndim())));
}

// `attr` with these mesh dims replicated.
const TensorDistAttr* replicated_over(const TensorDistAttr* attr, MeshDimMask dims) {
  PlacementArray placements = attr->placement_array();
  for (int m = 0; m < kMaxMeshNdim; ++m) {
    if (has(dims, m)) placements[m] = Replicate();
  }
  return with(attr, placements);
}

// The mesh dims along which data moves between two attrs of one mesh. Data also moves along an
// unchanged mesh dim, if a mesh dim that splits the same tensor dim before it changes.
MeshDimMask changed_dims(const TensorDistAttr& a, const TensorDistAttr& b) {
  const int ndim = a.mesh().ndim();
  MeshDimMask changed = 0;
  for (int m = 0; m < ndim; ++m) {
    if (a.placement(m) != b.placement(m)) changed |= 1u << m;
  }
  const auto is_behind_a_change = [&](int m) {
    const Placement& p = a.placement(m);
    if (!p.is_shard()) return false;
    for (int other = 0; other < ndim; ++other) {
      if (!has(changed, other)) continue;
      for (const Placement& q : {a.placement(other), b.placement(other)}) {
        if (q.is_shard(p.tensor_dim()) && q.order() < p.order()) return true;
      }
    }
    return false;
  };
  for (int pass = 0; pass < ndim; ++pass) {
    for (int m = 0; m < ndim; ++m) {
      if (!has(changed, m) && is_behind_a_change(m)) changed |= 1u << m;
    }
  }
  return changed;
}

class ReshardPlanner {
 public:
  ReshardPlanner(const TensorDistAttr* src, const TensorDistAttr* dst, const Dims& shape)
      : src_(src), dst_(dst), shape_(shape), same_mesh_(src->mesh() == dst->mesh()), at_(src) {
    pair_partial_dims();
  }

  std::vector<ReshardStep> run() && {
    if (src_ == dst_) return {};
    MeshDimMask left = reduce_dims_;
    if (left != 0) left = same_mesh_ ? reduce_here() : reduce_before_leaving();
    // New partial mesh dims are replicated until they are filled. Only the ranks that keep the
    // value need it.
    const TensorDistAttr* arrive = replicated_over(dst_, fill_dims_);
    if (at_ != arrive || left != 0) move_to(arrive, left, fill_first_only());
    if (fill_dims_ != 0) fill();
    return std::move(steps_);
  }

 private:
  const Placement& src_at(int m) const { return src_->placement(m); }

  // Decides which partial mesh dims stay (paired between the meshes), are reduced, or are new.
  void pair_partial_dims() {
    kept_as_.fill(-1);
    const auto src_partial = src_->partial_dims();
    const auto dst_partial = dst_->partial_dims();
    const auto same = [&](int a, int b) {
      return src_->mesh().dim_size(a) == dst_->mesh().dim_size(b) &&
             src_->placement(a) == dst_->placement(b);
    };
    if (src_->mesh().shape() == dst_->mesh().shape()) {
      for (int m : src_partial) {
        if (same(m, m)) kept_as_[m] = static_cast<int8_t>(m);
      }
    } else if (std::ranges::equal(src_partial, dst_partial, same)) {
      for (size_t i = 0; i < src_partial.size(); ++i) {
        kept_as_[src_partial[i]] = static_cast<int8_t>(dst_partial[i]);
      }
    }
    for (int m : src_partial) {
      // Inner reductions come first: a partial mesh dim inside a reduced one of another kind is
      // reduced too.
      for (int outer : src_partial) {
        if (outer < m && has(reduce_dims_, outer) &&
            !commute(src_at(outer).reduce(), src_at(m).reduce())) {
          kept_as_[m] = -1;
        }
      }
      if (kept_as_[m] < 0) reduce_dims_ |= 1u << m;
    }
    for (int m : dst_partial) {
      if (std::ranges::find(kept_as_, static_cast<int8_t>(m)) == kept_as_.end()) {
        fill_dims_ |= 1u << m;
      }
    }
  }

  MeshDimMask fill_first_only() const {
    MeshDimMask dims = 0;
    for (int m = 0; m < dst_->mesh().ndim(); ++m) {
      if (has(fill_dims_, m) && dst_->placement(m).reduce() != ReduceKind::kAvg) dims |= 1u << m;
    }
    return dims;
  }

  bool one_kind() const {
    const auto dims = src_->partial_dims();
    const auto differs = [&](int a, int b) {
      return has(reduce_dims_, a) && has(reduce_dims_, b) &&
             src_at(a).reduce() != src_at(b).reduce();
    };
    for (int a : dims) {
      for (int b : dims) {
        if (differs(a, b)) return false;
      }
    }
    return true;
  }

  // Within one mesh. Returns the mesh dims that the final move reduces on arrival.
  MeshDimMask reduce_here() {
    MeshDimMask to_shard = 0;
    if (one_kind()) {
      for (int m = 0; m < dst_->mesh().ndim(); ++m) {
        if (has(reduce_dims_, m) && dst_->placement(m).is_shard()) to_shard |= 1u << m;
      }
      if (to_shard == reduce_dims_) return to_shard;
    }
    if (const TensorDistAttr* smaller = sharded_early(to_shard); smaller != src_) {
      move_to(smaller, to_shard, 0);
    }
    all_reduce_runs(reduce_dims_ & ~to_shard);
    return 0;
  }

  // The source, sharded in advance over every mesh dim that is a replica (or in `to_shard`) and
  // that the target shards. Existing shards stay outermost, except in a tensor dim that then has
  // all the mesh dims of the target: it gets the target's order.
  const TensorDistAttr* sharded_early(MeshDimMask to_shard) const {
    PlacementArray placements = src_->placement_array();
    constexpr int ndim = kMaxMeshNdim;  // entries past the mesh's ndim are replicated
    for (int m = 0; m < ndim; ++m) {
      const Placement& target = dst_->placement(m);
      if (target.is_shard() && (src_at(m).is_replicate() || has(to_shard, m))) {
        placements[m] = Shard(target.tensor_dim(), kMaxMeshNdim + target.order());
      }
    }
    for (int t = 0; t < shape_.ndim(); ++t) {
      bool as_target = true;
      for (int m = 0; m < ndim; ++m) {
        if (placements[m].is_shard(t) != dst_->placement(m).is_shard(t)) as_target = false;
      }
      for (int m = 0; as_target && m < ndim; ++m) {
        if (placements[m].is_shard(t)) placements[m] = dst_->placement(m);
      }
    }
    return with(src_, placements);
  }

  // Reduces innermost mesh dims first, and consecutive ones of one kind together.
  void all_reduce_runs(MeshDimMask dims) {
    MeshDimMask run = 0;
    ReduceKind kind{};
    for (int m = src_->mesh().ndim() - 1; m >= -1; --m) {
      const bool is_next = m >= 0 && has(dims, m);
      if (run != 0 && (m < 0 || (is_next && src_at(m).reduce() != kind))) {
        all_reduce(run, kind);
        run = 0;
      }
      if (!is_next) continue;
      run |= 1u << m;
      kind = src_at(m).reduce();
    }
  }

  void all_reduce(MeshDimMask dims, ReduceKind kind) {
    ReshardStep step;
    step.kind = StepKind::kAllReduce;
    step.move = {shape_, at_, replicated_over(at_, dims)};
    step.over = dims;
    step.reduce = kind;
    at_ = step.move.dst;
    steps_.push_back(step);
  }

  // Between meshes: reduces on the source side, into shards if the tensor can be split, so that
  // every source rank reduces and then sends a part of its own.
  MeshDimMask reduce_before_leaving() {
    const int tensor_dim = one_kind() ? splittable_dim() : -1;
    if (tensor_dim < 0) {
      all_reduce_runs(reduce_dims_);
      return 0;
    }
    PlacementArray placements = src_->placement_array();
    for (int m = 0; m < std::min(src_->mesh().ndim(), kMaxMeshNdim); ++m) {
      if (has(reduce_dims_, m) || src_at(m).is_replicate()) {
        placements[m] = Shard(tensor_dim, kMaxMeshNdim + m);
      }
    }
    move_to(with(src_, placements), reduce_dims_, 0);
    return 0;
  }

  // The first tensor dim long enough for a part on each of these ranks; otherwise the one with the
  // largest local extent; -1 if none can be split.
  int splittable_dim() const {
    int64_t ranks = 1;
    for (int m = 0; m < src_->mesh().ndim(); ++m) {
      if (has(reduce_dims_, m) || src_at(m).is_replicate()) ranks *= src_->mesh().dim_size(m);
    }
    int best = -1;
    int64_t best_extent = 1;
    for (int t = 0; t < shape_.ndim(); ++t) {
      int64_t extent = shape_[t];
      for (int m : src_->mesh_dims_of(t)) extent /= src_->mesh().dim_size(m);
      if (extent >= ranks) return t;
      if (extent > best_extent) {
        best = t;
        best_extent = extent;
      }
    }
    return best;
  }

  void move_to(const TensorDistAttr* to, MeshDimMask reduced, MeshDimMask first_only) {
    ReshardStep step;
    step.move = {shape_, at_, to, reduced, kept_as_, first_only};
    const bool crosses = !(at_->mesh() == to->mesh());
    if (!crosses) {  // partial mesh dims that stay until a later step
      for (int m = 0; m < at_->mesh().ndim(); ++m) {
        const bool stays = at_->placement(m).is_partial() && !has(reduced, m);
        step.move.kept_as[m] = stays ? static_cast<int8_t>(m) : int8_t{-1};
      }
      step.over = changed_dims(*at_, *to);
    }
    step.kind = crosses ? StepKind::kSendRecv : kind_of(*at_, *to, step.over, reduced);
    if (reduced != 0) step.reduce = src_at(std::countr_zero(reduced)).reduce();
    at_ = to;
    steps_.push_back(step);
  }

  static StepKind kind_of(const TensorDistAttr& from, const TensorDistAttr& to, MeshDimMask changed,
                          MeshDimMask reduced) {
    if (reduced != 0) return StepKind::kReduceScatter;
    bool slice = true;
    bool gather = true;
    for (int m = 0; m < from.mesh().ndim(); ++m) {
      if (!has(changed, m)) continue;
      slice = slice && from.placement(m).is_replicate();
      gather = gather && to.placement(m).is_replicate();
    }
    if (slice) return StepKind::kSlice;
    return gather ? StepKind::kAllGather : StepKind::kAllToAll;
  }

  void fill() {
    ReshardStep step;
    step.kind = StepKind::kFillPartial;
    step.move = {shape_, at_, dst_};
    step.over = fill_dims_;
    at_ = dst_;
    steps_.push_back(step);
  }

  const TensorDistAttr* src_;
  const TensorDistAttr* dst_;
  const Dims& shape_;
  const bool same_mesh_;
  std::array<int8_t, kMaxMeshNdim> kept_as_{};
  MeshDimMask reduce_dims_ = 0;  // of src
  MeshDimMask fill_dims_ = 0;    // of dst
  const TensorDistAttr* at_;     // the sharding after the steps so far
  std::vector<ReshardStep> steps_;
};

int64_t group_size(const ReshardStep& step) {
  int64_t n = 1;
  for (int m = 0; m < step.from()->mesh().ndim(); ++m) {
    if (has(step.over, m)) n *= step.from()->mesh().dim_size(m);
  }
  return n;
}

// The bytes that Group::all_reduce moves.
StepBytes all_reduce_bytes(const ReshardStep& step, const Dims& shape, DataType dtype,
                           int64_t rank) {
  const auto coord = step.from()->mesh().coord_of(rank);
  if (!coord) return {};
  const auto width = static_cast<int64_t>(size_of(dtype));
  const int64_t n = local_box(shape, *step.from(), *coord).numel();
  const int64_t ranks = group_size(step);
  if (all_reduce_by_gather(n * width, ranks))
    return {(ranks - 1) * n * width, (ranks - 1) * n * width};
  int64_t position = 0;
  for (int m = 0; m < step.from()->mesh().ndim(); ++m) {
    if (has(step.over, m)) position = position * step.from()->mesh().dim_size(m) + (*coord)[m];
  }
  const int64_t own = split_range(n, ranks, position).size;
  const int64_t both = ((ranks - 1) * own + n - own) * width;
  return {both, both};
}

struct PlanKey {
  const TensorDistAttr* src;
  const TensorDistAttr* dst;
  Dims shape;
  DataType dtype;
  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};
struct PlanKeyHash {
  size_t operator()(const PlanKey& key) const {
    uint64_t h = reinterpret_cast<uintptr_t>(key.src) * 0x9e3779b97f4a7c15u;
    h = (h ^ reinterpret_cast<uintptr_t>(key.dst)) * 0x9e3779b97f4a7c15u + (h >> 29);
    for (int64_t d : key.shape)
      h = (h ^ static_cast<uint64_t>(d)) * 0x9e3779b97f4a7c15u + (h >> 29);
    return h ^ static_cast<uint64_t>(key.dtype);
  }
};

std::string names_of(const ProcessMesh& mesh, MeshDimMask dims) {
  std::vector<std::string> names;
  for (int m = 0; m < mesh.ndim(); ++m) {
    if (has(dims, m)) names.push_back(mesh.dim_names()[m]);
  }
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

std::string_view name_of(ReshardStep::Kind kind) {
  switch (kind) {
    case StepKind::kSlice:
      return "slice";
    case StepKind::kAllGather:
      return "all_gather";
    case StepKind::kAllToAll:
      return "all_to_all";
    case StepKind::kReduceScatter:
      return "reduce_scatter";
    case StepKind::kAllReduce:
      return "all_reduce";
    case StepKind::kSendRecv:
      return "send_recv";
    case StepKind::kFillPartial:
      return "fill_partial";
  }
  return "unknown";
}

std::string ReshardStep::to_string() const {
  std::string name(name_of(kind));
  if (kind == StepKind::kReduceScatter || kind == StepKind::kAllReduce) {
    name += fmt::format("({})", distributed::name_of(reduce));
  }
  if (kind != StepKind::kSendRecv) {
    const ProcessMesh& mesh = kind == StepKind::kFillPartial ? to()->mesh() : from()->mesh();
    name += " over " + names_of(mesh, over);
  }
  return fmt::format("{}: {} -> {}", name, from()->to_string(), to()->to_string());
}

StepBytes ReshardPlan::bytes(const ReshardStep& step, int64_t rank) const {
  if (step.kind == StepKind::kAllReduce) return all_reduce_bytes(step, shape, dtype, rank);
  if (step.kind == StepKind::kFillPartial || step.kind == StepKind::kSlice) return {};
  const TransferRoutes routes(step.move);
  const auto total = [&](const std::vector<BoxTransfer>& transfers) {
    int64_t elements = 0;
    for (const auto& t : transfers) elements += t.peer == rank ? 0 : t.box.numel();
    return elements * static_cast<int64_t>(size_of(dtype));
  };
  return {total(routes.outgoing(rank)), total(routes.incoming(rank))};
}

StepBytes ReshardPlan::bytes(int64_t rank) const {
  StepBytes sum;
  for (const ReshardStep& step : steps) {
    const StepBytes one = bytes(step, rank);
    sum.sent += one.sent;
    sum.received += one.received;
  }
  return sum;
}

int64_t ReshardPlan::max_bytes(const ReshardStep& step) const {
  const ProcessMesh& mesh = step.to()->mesh();
  int64_t most = 0;
  for (int64_t i = 0; i < mesh.size(); ++i) {
    if (i == kExactRanks && mesh.size() > 2 * kExactRanks) i = mesh.size() - kExactRanks;
    most = std::max(most, bytes(step, mesh.rank_at(i)).received);
  }
  return most;
}

int64_t ReshardPlan::max_bytes() const {
  int64_t sum = 0;
  for (const ReshardStep& step : steps) sum += max_bytes(step);
  return sum;
}

std::string ReshardPlan::to_string() const {
  std::string out = fmt::format("reshard {}{}: {} -> {}", short_name_of(dtype), shape.to_string(),
                                src->to_string(), dst->to_string());
  if (steps.empty()) return out + "\n  nothing to do";
  for (size_t i = 0; i < steps.size(); ++i) {
    out += fmt::format("\n  {}. {}  ({} bytes per rank)", i + 1, steps[i].to_string(),
                       max_bytes(steps[i]));
  }
  return out;
}

std::shared_ptr<const ReshardPlan> plan_reshard(const TensorDistAttr* src,
                                                const TensorDistAttr* dst, const Dims& shape,
                                                DataType dtype) {
  constexpr size_t kMostPlans = 16384;
  thread_local std::unordered_map<PlanKey, std::shared_ptr<const ReshardPlan>, PlanKeyHash> plans;
  const PlanKey key{src, dst, shape, dtype};
  if (const auto it = plans.find(key); it != plans.end()) return it->second;
  PHI_CHECK(shape.known(), errors::InvalidArgument(
                               "a tensor of shape {} cannot be resharded: extents marked ? are "
                               "not known yet.",
                               shape.to_string()));
  shape.check_fits(size_of(dtype));
  src->check_fits(shape);
  dst->check_fits(shape);
  auto plan = std::make_shared<ReshardPlan>();
  plan->src = src;
  plan->dst = dst;
  plan->shape = shape;
  plan->dtype = dtype;
  plan->steps = ReshardPlanner(src, dst, shape).run();
  if (plans.size() >= kMostPlans) plans.clear();
  return plans[key] = std::move(plan);
}

std::vector<int64_t> ranks_of_step(const ReshardStep& step, int64_t rank) {
  const ProcessMesh& from = step.from()->mesh();
  const ProcessMesh& to = step.to()->mesh();
  std::vector<int64_t> ranks;
  if (from == to) {
    if (const auto coord = from.coord_of(rank)) {
      for_each_coord(from, step.over, *coord,
                     [&](const MeshCoord& c) { ranks.push_back(from.rank_at(c)); });
    }
    return ranks;
  }
  if (!from.contains(rank) && !to.contains(rank)) return ranks;
  if (covers(to, from) || covers(from, to)) {
    ranks.resize(static_cast<size_t>(std::max(to.size(), from.size())));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
  }
  ranks = from.ranks();
  const auto more = to.ranks();
  ranks.insert(ranks.end(), more.begin(), more.end());
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::optional<ReduceKind> filled_with(const ReshardStep& step, const MeshCoord& coord) {
  // The outermost new mesh dim in which this rank is not first makes its value an identity element.
  // The same rule spreads that value over the partial mesh dims inside it.
  std::optional<ReduceKind> kind;
  for (int m = 0; m < step.to()->mesh().ndim(); ++m) {
    const Placement& p = step.to()->placement(m);
    if (!p.is_partial() || p.reduce() == ReduceKind::kAvg || coord[m] == 0) continue;
    if (kind || has(step.over, m)) kind = p.reduce();
  }
  return kind;
}

}  // namespace phi::distributed
