// Running plans: each step makes a new local array from the old one.
#include "distributed/reshard/execute.h"

#include <glog/logging.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>

#include "distributed/comm/reduce.h"
#include "distributed/comm/world.h"
#include "distributed/reshard/box_copy.h"
#include "distributed/reshard/plan.h"
#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

// Memory for boxes that do not lie in one piece; kept from call to call up to a limit.
class Staging {
 public:
  explicit Staging(size_t bytes) {
    if (kept().size < bytes) {
      kept() = {};
      kept() = {std::unique_ptr<std::byte[]>(new std::byte[bytes]), bytes};
    }
    next_ = kept().memory.get();
  }
  ~Staging() {
    constexpr size_t kMostKept = size_t{64} << 20;
    if (kept().size > kMostKept) kept() = {};
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  std::byte* take(size_t bytes) {
    std::byte* taken = next_;
    next_ += round_up(bytes);
    return taken;
  }
  static size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

 private:
  struct Kept {
    std::unique_ptr<std::byte[]> memory;
    size_t size = 0;
  };
  static Kept& kept() {
    thread_local Kept instance;
    return instance;
  }
  std::byte* next_;
};

// One message of a step, seen from this rank.
struct Leg {
  int64_t position = 0;  // of the peer in the group
  bool is_own = false;   // from this rank to itself
  Box box;
  size_t bytes = 0;
  std::optional<int64_t> offset;  // in elements, where the box is one piece of the local array
};

// What one rank does in one step that moves boxes.
struct MoveSchedule {
  bool takes_part = false;
  bool receives = false;
  Group* group = nullptr;
  Box held;    // this rank's part before
  Box wanted;  // and after
  std::vector<Leg> sends;
  std::vector<Leg> recvs;
  int64_t contributions = 1;
  std::vector<int64_t> scatter_counts;  // not empty: the step is exactly Group::reduce_scatter_v
  size_t staging_bytes = 0;
};

struct Schedule {
  std::shared_ptr<const ReshardPlan> plan;
  std::vector<MoveSchedule> moves;  // one per step
};

std::vector<Leg> legs_of(const std::vector<BoxTransfer>& transfers, const Box& local, int64_t rank,
                         std::span<const int64_t> group, size_t width) {
  std::unordered_map<int64_t, int64_t> positions;
  for (size_t i = 0; i < group.size(); ++i) positions[group[i]] = static_cast<int64_t>(i);
  std::vector<Leg> legs;
  legs.reserve(transfers.size());
  for (const BoxTransfer& t : transfers) {
    legs.push_back({positions.at(t.peer), t.peer == rank, t.box,
                    static_cast<size_t>(t.box.numel()) * width, contiguous_offset(local, t.box)});
  }
  return legs;
}

// If each rank's local array is, piece by piece, what the ranks of its group are to get: the sizes
// of the pieces. The same answer on every rank: only what all know is asked.
std::vector<int64_t> scatter_counts(const ReshardStep& step, const std::vector<int64_t>& group) {
  if (step.move.reduced == 0 || step.over != step.move.reduced || step.move.first_only != 0)
    return {};
  const ProcessMesh& mesh = step.to()->mesh();
  const int tensor_dim = step.to()->placement(std::countr_zero(step.over)).tensor_dim();
  if (tensor_dim < 0 || step.move.shape.numel(0, tensor_dim) != 1) return {};
  int order = -1;
  for (int m = 0; m < mesh.ndim(); ++m) {
    if (!has(step.over, m)) continue;
    const Placement& p = step.to()->placement(m);
    if (!p.is_shard(tensor_dim) || p.order() <= order) return {};
    order = p.order();
  }
  std::vector<int64_t> counts;
  counts.reserve(group.size());
  for (int64_t rank : group) {
    counts.push_back(local_box(step.move.shape, *step.to(), *mesh.coord_of(rank)).numel());
  }
  return counts;
}

MoveSchedule schedule_move(const ReshardStep& step, DataType dtype, World& world) {
  MoveSchedule schedule;
  const int64_t rank = world.rank();
  const size_t width = size_of(dtype);
  const auto group = ranks_of_step(step, rank);
  if (group.empty()) return schedule;
  schedule.takes_part = true;
  if (group.size() > 1) schedule.group = &world.group(group);
  if (!step.moves_boxes()) return schedule;
  const Routes routes(step.move);
  schedule.contributions = routes.contributions();
  if (const auto coord = step.from()->mesh().coord_of(rank)) {
    schedule.held = local_box(step.move.shape, *step.from(), *coord);
    schedule.sends = legs_of(routes.outgoing(rank), schedule.held, rank, group, width);
  }
  if (const auto coord = step.to()->mesh().coord_of(rank)) {
    schedule.receives = true;
    for (int m = 0; m < kMaxMeshNdim; ++m) {
      if (has(step.move.first_only, m) && (*coord)[m] != 0) schedule.receives = false;
    }
    schedule.wanted = local_box(step.move.shape, *step.to(), *coord);
    schedule.recvs = legs_of(routes.incoming(rank), schedule.wanted, rank, group, width);
  }
  schedule.scatter_counts = scatter_counts(step, group);
  for (const Leg& leg : schedule.sends) {
    if (!leg.offset) schedule.staging_bytes += Staging::round_up(leg.bytes);
  }
  const bool reduces = step.move.reduced != 0;
  for (size_t i = 0; i < schedule.recvs.size(); ++i) {
    const Leg& leg = schedule.recvs[i];
    const bool is_first = i % static_cast<size_t>(schedule.contributions) == 0;
    // What arrives; and, once per box, the result of reducing it.
    if (!leg.offset || reduces) schedule.staging_bytes += Staging::round_up(leg.bytes);
    if (!leg.offset && reduces && is_first) schedule.staging_bytes += Staging::round_up(leg.bytes);
  }
  return schedule;
}

const Schedule& schedule_of(const std::shared_ptr<const ReshardPlan>& plan, World& world) {
  struct Key {
    const ReshardPlan* plan;
    uint64_t world;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return reinterpret_cast<uintptr_t>(key.plan) * 0x9e3779b97f4a7c15u ^ key.world << 20;
    }
  };
  constexpr size_t kMostSchedules = 8192;
  thread_local std::unordered_map<Key, Schedule, KeyHash> schedules;
  const Key key{plan.get(), world.id()};
  if (const auto it = schedules.find(key); it != schedules.end()) return it->second;
  VLOG(1) << "rank " << world.rank() << ": " << plan->to_string();
  Schedule schedule{plan, {}};
  for (const ReshardStep& step : plan->steps) {
    schedule.moves.push_back(schedule_move(step, plan->dtype, world));
  }
  if (schedules.size() >= kMostSchedules) schedules.clear();
  return schedules[key] = std::move(schedule);
}

std::byte* element(void* base, int64_t index, size_t width) {
  return static_cast<std::byte*>(base) + static_cast<size_t>(index) * width;
}
const std::byte* element(const void* base, int64_t index, size_t width) {
  return static_cast<const std::byte*>(base) + static_cast<size_t>(index) * width;
}

// Runs one step that moves boxes, on one rank.
class MoveRun {
 public:
  MoveRun(const MoveSchedule& schedule, const ReshardStep& step, const DenseTensor& in,
          const TensorMeta& global, const Place& place)
      : schedule_(schedule), step_(step), in_(in), width_(size_of(global.dtype)) {
    if (!schedule.receives) return;
    out_ = passes_through()
               ? in
               : DenseTensor::empty({schedule.wanted.size, global.dtype, global.layout}, place);
  }

  DenseTensor run() && {
    if (schedule_.receives && passes_through()) {
      if (schedule_.group != nullptr) send_only();
    } else if (!schedule_.scatter_counts.empty() && schedule_.group != nullptr) {
      schedule_.group->reduce_scatter_v(in_.raw_data(), out_.mutable_raw_data(),
                                        schedule_.scatter_counts, out_.dtype(), step_.reduce);
    } else {
      exchange();
    }
    return std::move(out_);
  }

 private:
  // This rank has all that it needs already, as it is.
  bool passes_through() const {
    if (schedule_.contributions > 1 || step_.move.reduced != 0) return false;
    if (schedule_.held != schedule_.wanted || !in_.initialized()) return false;
    return schedule_.recvs.empty() ? schedule_.wanted.empty() && schedule_.wanted.ndim() > 0
                                   : schedule_.recvs[0].is_own;
  }

  void send_only() {
    Staging staging(schedule_.staging_bytes);
    schedule_.group->exchange(packed_sends(staging), {});
  }

  void exchange() {
    Staging staging(schedule_.staging_bytes);
    const auto sends = packed_sends(staging);
    std::vector<const void*> arrived;
    const auto recvs = landing_places(staging, arrived);
    if (schedule_.group != nullptr) schedule_.group->exchange(sends, recvs);
    if (step_.move.reduced != 0) {
      reduce(staging, arrived);
    } else {
      unpack(arrived);
    }
  }

  std::vector<Send> packed_sends(Staging& staging) {
    std::vector<Send> sends;
    for (const Leg& leg : schedule_.sends) {
      if (!leg.is_own) sends.push_back({leg.position, piece_of_input(leg, staging), leg.bytes});
    }
    return sends;
  }

  const void* piece_of_input(const Leg& leg, Staging& staging) {
    const auto offset = contiguous_offset(schedule_.held, leg.box);
    if (offset) return element(in_.raw_data(), *offset, width_);
    std::byte* packed = staging.take(leg.bytes);
    copy_box(in_.raw_data(), schedule_.held, packed, leg.box, leg.box, width_);
    return packed;
  }

  // `arrived[i]` is where the i-th box will be: in the output, in the staging memory, or (a box of
  // this rank's own) in the input.
  std::vector<Recv> landing_places(Staging& staging, std::vector<const void*>& arrived) {
    const bool reduces = step_.move.reduced != 0;
    std::vector<Recv> recvs;
    for (const Leg& leg : schedule_.recvs) {
      if (leg.is_own) {
        arrived.push_back(reduces ? piece_of_input(leg, staging) : nullptr);
        continue;
      }
      void* to = leg.offset && !reduces ? element(out_.mutable_raw_data(), *leg.offset, width_)
                                        : staging.take(leg.bytes);
      recvs.push_back({leg.position, to, leg.bytes});
      arrived.push_back(to);
    }
    return recvs;
  }

  void unpack(const std::vector<const void*>& arrived) {
    for (size_t i = 0; i < arrived.size(); ++i) {
      const Leg& leg = schedule_.recvs[i];
      if (leg.is_own) {
        copy_box(in_.raw_data(), schedule_.held, out_.mutable_raw_data(), schedule_.wanted, leg.box,
                 width_);
      } else if (!leg.offset) {
        copy_box(arrived[i], leg.box, out_.mutable_raw_data(), schedule_.wanted, leg.box, width_);
      }
    }
  }

  void reduce(Staging& staging, const std::vector<const void*>& arrived) {
    const auto n = static_cast<size_t>(schedule_.contributions);
    for (size_t i = 0; i < arrived.size(); i += n) {
      const Leg& leg = schedule_.recvs[i];
      const std::span inputs(arrived.data() + i, n);
      const int64_t count = leg.box.numel();
      if (leg.offset) {
        reduce_arrays(inputs, element(out_.mutable_raw_data(), *leg.offset, width_), count,
                      out_.dtype(), step_.reduce);
        continue;
      }
      std::byte* reduced = staging.take(leg.bytes);
      reduce_arrays(inputs, reduced, count, out_.dtype(), step_.reduce);
      copy_box(reduced, leg.box, out_.mutable_raw_data(), schedule_.wanted, leg.box, width_);
    }
  }

  const MoveSchedule& schedule_;
  const ReshardStep& step_;
  const DenseTensor& in_;
  const size_t width_;
  DenseTensor out_;
};

DenseTensor all_reduced(const MoveSchedule& schedule, const ReshardStep& step,
                        const DenseTensor& in) {
  DenseTensor out = DenseTensor::empty(in.meta(), in.place());
  if (schedule.group != nullptr) {
    schedule.group->all_reduce(in.raw_data(), out.mutable_raw_data(), in.numel(), in.dtype(),
                               step.reduce);
  } else {
    const void* input = in.raw_data();
    reduce_arrays({&input, 1}, out.mutable_raw_data(), in.numel(), in.dtype(), step.reduce);
  }
  return out;
}

DenseTensor filled(const ReshardStep& step, const DenseTensor& in, const TensorMeta& global,
                   const Place& place, const MeshCoord& coord) {
  const auto kind = filled_with(step, coord);
  if (!kind) return in;
  DenseTensor out = DenseTensor::empty(
      {local_box(global.dims, *step.to(), coord).size, global.dtype, global.layout}, place);
  fill_identity(out.mutable_raw_data(), out.numel(), out.dtype(), *kind);
  return out;
}

// A value reduced over one rank is the value; only any and all make something else of it.
bool changes_nothing(const MoveSchedule& schedule, const ReshardStep& step) {
  return step.kind == ReshardStep::Kind::kAllReduce && schedule.group == nullptr &&
         step.reduce != ReduceKind::kAny && step.reduce != ReduceKind::kAll;
}

DenseTensor run_steps(const Schedule& schedule, const DistTensor& src, World& world) {
  const Place& place = src.local().place();
  DenseTensor local = src.local();
  for (size_t i = 0; i < schedule.moves.size(); ++i) {
    const ReshardStep& step = schedule.plan->steps[i];
    const MoveSchedule& move = schedule.moves[i];
    if (!move.takes_part || changes_nothing(move, step)) continue;
    ++world.rank_context().counters().reshard_steps;
    if (step.kind == ReshardStep::Kind::kAllReduce) {
      local = all_reduced(move, step, local);
    } else if (step.kind == ReshardStep::Kind::kFillPartial) {
      local = filled(step, local, src.meta(), place, *step.to()->mesh().coord_of(world.rank()));
    } else {
      local = MoveRun(move, step, local, src.meta(), place).run();
    }
  }
  return local;
}

// A rank that has no bytes and is not meant to (a dry run): only counts.
DistTensor dry(const ReshardPlan& plan, const DistTensor& src, World& world) {
  const StepBytes bytes = plan.bytes(world.rank());
  Counters& counters = world.rank_context().counters();
  counters.bytes_sent += bytes.sent;
  counters.bytes_received += bytes.received;
  counters.reshard_steps += static_cast<int64_t>(plan.steps.size());
  const auto dims = local_shape(plan.shape, *plan.dst, world.rank());
  const Place& place = src.local().place();
  if (!dims) return DistTensor::clipped(src.meta(), plan.dst, place, "reshard");
  auto storage = Storage::placeholder(place, {"reshard", "nothing is computed in a dry run,"});
  return {src.meta(), plan.dst, DenseTensor({*dims, src.dtype(), src.meta().layout}, storage)};
}

}  // namespace

DistTensor reshard(const DistTensor& src, const TensorDistAttr* dst) {
  if (src.attr() == dst) return src;
  std::optional<OpScope> scope;
  if (OpScope::current() == nullptr) scope.emplace("reshard");
  const auto plan = plan_reshard(src.attr(), dst, src.dims(), src.dtype());
  World& world = World::current();
  const bool in_src = src.mesh().contains(world.rank());
  const bool in_dst = dst->mesh().contains(world.rank());
  const Place place = src.local().place();
  if (!in_src && !in_dst) return DistTensor::clipped(src.meta(), dst, place, OpScope::current());
  if (!world.carries() && src.local().storage()->state() == StorageState::kPlaceholder) {
    return dry(*plan, src, world);
  }
  const Schedule& schedule = schedule_of(plan, world);
  DenseTensor local = run_steps(schedule, src, world);
  if (!in_dst) return DistTensor::clipped(src.meta(), dst, place, OpScope::current());
  return {src.meta(), dst, std::move(local)};
}

DistTensor distribute(const DenseTensor& global, const TensorDistAttr* attr) {
  attr->check_fits(global.dims());
  const TensorMeta& meta = global.meta();
  const auto coord = attr->mesh().coord_of(World::current().rank());
  if (!coord) return DistTensor::clipped(meta, attr, global.place(), OpScope::current());
  const Box box = local_box(meta.dims, *attr, *coord);
  DenseTensor local = global;
  if (box.size != meta.dims) {
    local = DenseTensor::empty({box.size, meta.dtype, meta.layout}, global.place());
    copy_box(global.raw_data(), Box::whole(meta.dims), local.mutable_raw_data(), box, box,
             size_of(meta.dtype));
  }
  ReshardStep fill;
  fill.kind = ReshardStep::Kind::kFillPartial;
  fill.move.shape = meta.dims;
  fill.move.src = fill.move.dst = attr;
  for (int m : attr->partial_dims()) fill.over |= 1u << m;
  return {meta, attr, filled(fill, local, meta, global.place(), *coord)};
}

DenseTensor gather_global(const DistTensor& x) {
  PHI_CHECK(x.mesh().contains(World::current().rank()),
            errors::PreconditionNotMet("the whole value of {} is asked for on rank {}, which is "
                                       "outside its mesh; reshard to a mesh that has the rank.",
                                       x.to_string(), World::current().rank()));
  return reshard(x, TensorDistAttr::replicated(x.mesh())).local();
}

}  // namespace phi::distributed
