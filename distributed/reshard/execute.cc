// Runs plans: each step computes a new local array from the previous one.
#include "distributed/reshard/execute.h"

#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "distributed/comm/comm_annotation.h"
#include "distributed/comm/reduce.h"
#include "distributed/comm/world.h"
#include "distributed/reshard/box_exchange_run.h"
#include "distributed/reshard/captured_steps.h"
#include "distributed/reshard/plan.h"
#include "distributed/reshard/rank_schedule.h"
#include "distributed/reshard/reshard_events.h"
#include "phi/common/errors.h"
#include "phi/common/inline_vector.h"
#include "phi/common/process/yield_point.h"
#include "phi/core/box_copy.h"
#include "phi/core/device/host_array.h"
#include "phi/core/recorder.h"
#include "phi/core/storage/box_source.h"
#include "phi/core/trace/trace.h"

namespace phi::distributed {
namespace {

// The output array of a step: `into` if it is defined.
DenseTensor new_array(const TensorMeta& meta, const Place& place, const DenseTensor& into) {
  return into.defined() ? into : DenseTensor::empty(meta, place);
}

DenseTensor all_reduced(Communicator& communicator, const StepSchedule& schedule,
                        const ReshardStep& step, const DenseTensor& in, const DenseTensor& into) {
  DenseTensor out = new_array(in.meta(), in.place(), into);
  const bool dry = RankContext::current().is_dry();
  const ArrayAt from = dry ? ArrayAt() : ArrayAt(communicator.device(), in, ArrayAt::kRead);
  ArrayAt to = dry ? ArrayAt() : ArrayAt(communicator.device(), out, ArrayAt::kWrite);
  if (schedule.group != nullptr) {
    schedule.group->all_reduce(from.data(), to.data(), in.numel(), in.dtype(), step.reduce);
  } else if (!dry) {
    const void* input = from.data();
    communicator.reduce({&input, 1}, to.data(), in.numel(), in.dtype(), step.reduce);
  }
  to.finish();
  return out;
}

DenseTensor filled(const ReshardStep& step, const DenseTensor& in, const TensorMeta& global,
                   const Place& place, const MeshCoord& coord, const DenseTensor& into) {
  const auto kind = filled_with(step, coord);
  if (!kind) return in;
  const TensorMeta local{local_box(global.dims, *step.to(), coord).size, global.dtype,
                         global.layout};
  DenseTensor out = new_array(local, place, into);
  if (out.initialized()) fill_identity(*kind, out);
  return out;
}

// The source of a deferred array's boxes; null if it has bytes, or is a view of another array.
std::shared_ptr<const Storage::Source> source_of(const DenseTensor& x) {
  auto source = x.storage()->source();
  if (source && (x.byte_offset() != 0 || source->meta() != x.meta())) source = nullptr;
  return source;
}

ShownValue shown(const DistTensor& x) { return {x.meta(), x.local(), x.attr()}; }

// If the result shares the source's storage, replaces it by a copy-on-write alias.
void unshare(const DenseTensor& from, DistTensor& made) {
  if (made.local().storage() == from.storage()) made.local() = made.local().alias();
}

// Reports the move to the program that is being captured, if any.
DistTensor laid_out(const DenseTensor& global, DistTensor made) {
  if (Recorder* recorder = RankContext::current().recorder()) {
    recorder->moved({global.meta(), global}, shown(made));
  }
  return made;
}

// A box of an array on `place`. A box of a deferred array is read directly from its source.
DenseTensor part_of(const DenseTensor& global, const Box& box, const Place& place) {
  const TensorMeta meta{box.size, global.dtype(), global.meta().layout};
  if (auto source = source_of(global)) {
    const RankContext& rank = RankContext::current();
    // Not of a swapped array: its owner may write to it before the part is read.
    const bool keeps_deferred = rank.keeps_deferred() && source->state() == StorageState::kDeferred;
    if (rank.is_dry() || keeps_deferred) {
      auto part = std::make_shared<const BoxSource>(std::move(source), box);
      return {meta, rank.is_dry() ? Storage::planned_from_source(place, std::move(part))
                                  : Storage::from_source(place, std::move(part))};
    }
    DenseTensor part = DenseTensor::empty(meta, place);
    bring_box(*source, box, &part);
    return part;
  }
  if (box.size == global.dims() && global.place() == place) return global;
  DenseTensor part = DenseTensor::empty(meta, place);
  if (!part.initialized()) return part;
  if (global.place() == place) {
    copy_box(global, Box::whole(global.dims()), part, box, box);
  } else {
    const HostArray from(global, HostArray::kRead);
    HostArray to(part, HostArray::kWrite);
    copy_box(from.data(), Box::whole(global.dims()), to.data(), box, box, size_of(meta.dtype));
    to.finish();
  }
  return part;
}

// The part as a step of a captured program, if each run must cut it: the source of a tensor that
// existed before the capture, or that the program writes to, may not have the tensor's value by
// then.
std::optional<DenseTensor> part_in_each_run(const DenseTensor& global, const Box& box,
                                            const Place& place) {
  const RankContext& rank = RankContext::current();
  if (rank.recorder() == nullptr || !source_of(global)) return std::nullopt;
  const Storage& storage = *global.storage();
  if (storage.was_made_under(*rank.memory()) && storage.version() == 0) return std::nullopt;
  return DenseTensor::empty({box.size, global.dtype(), global.meta().layout}, place);
}

// A reduction over one rank returns the value, except that any and all normalise it to 0 or 1.
bool changes_nothing(const StepSchedule& schedule, const ReshardStep& step) {
  return step.kind == ReshardStep::Kind::kAllReduce && schedule.group == nullptr &&
         step.reduce != ReduceKind::kAny && step.reduce != ReduceKind::kAll;
}

// Reports a reshard, or one step of its plan, to the observers and their traces, with the bytes
// that this rank sends and receives in it.
class ObservedReshard {
 public:
  ObservedReshard(Communicator& communicator, const char* name, const ReshardPlan& plan,
                  ReshardPhase phase, const DenseTensor* local = nullptr)
      : ObservedReshard(communicator, name, {plan, phase, plan.steps.size(), local}) {}
  ObservedReshard(Communicator& communicator, const ReshardPlan& plan, size_t step)
      : ObservedReshard(communicator, name_of(plan.steps[step].kind).data(),
                        {plan, ReshardPhase::kStep, step, nullptr}) {}
  ~ObservedReshard() {
    if (is_observed_) [[unlikely]]
      end();
  }
  ObservedReshard(const ObservedReshard&) = delete;
  ObservedReshard& operator=(const ObservedReshard&) = delete;

 private:
  ObservedReshard(Communicator& communicator, const char* name, const ReshardBegin& begun)
      : rank_(communicator.rank_context()),
        begun_(begun),
        is_observed_(rank_.observers().any()),
        span_(rank_, TraceKind::kReshard, name) {
    if (is_observed_) [[unlikely]]
      begin();
  }
  void begin() {
    before_ = rank_.counters();
    start_ns_ = Trace::now_ns();
    if (span_.is_open()) describe();
    audience_ = rank_.observers().begin(&Observer::on_reshard_begin, begun_,
                                        &Observer::on_reshard_end, ended());
  }
  void end() const {
    const ReshardEnd event = ended();
    span_.fill([&](Trace&, TraceEvent& span) {
      span.bytes_sent = event.bytes_sent;
      span.bytes_received = event.bytes_received;
    });
    rank_.observers().end(audience_, &Observer::on_reshard_end, event);
  }
  ReshardEnd ended() const {
    const Counters& now = rank_.counters();
    return {begun_.plan,
            begun_.phase,
            begun_.step,
            Trace::now_ns() - start_ns_,
            now.bytes_sent - before_.bytes_sent,
            now.bytes_received - before_.bytes_received};
  }
  void describe() const {
    const ReshardPlan& plan = begun_.plan;
    const size_t step = begun_.step;
    InlineVector<int64_t, kMaxNdim + 4> key;
    key.push_back(reinterpret_cast<intptr_t>(plan.src));
    key.push_back(reinterpret_cast<intptr_t>(plan.dst));
    key.push_back(static_cast<int64_t>(plan.dtype));
    key.push_back(static_cast<int64_t>(step));
    for (const int64_t extent : plan.shape) key.push_back(extent);
    const std::string_view bytes(reinterpret_cast<const char*>(key.data()),
                                 key.size() * sizeof(int64_t));
    span_.fill([&](Trace& trace, TraceEvent& event) {
      event.detail = trace.text(bytes, [&] {
        if (step < plan.steps.size()) return plan.steps[step].to_string();
        return fmt::format("{} {} -> {}", TensorMeta{plan.shape, plan.dtype}.to_string(),
                           plan.src->to_string(), plan.dst->to_string());
      });
      event.caller = OpScope::current();
    });
  }

  RankContext& rank_;
  const ReshardBegin begun_;
  const bool is_observed_;
  TraceScope span_;
  Observers::Audience audience_;
  Counters before_;
  int64_t start_ns_ = 0;
};

}  // namespace

// The steps of one plan on this rank, run in order. A step between meshes is left in flight.
struct PendingReshard::Steps {
  std::shared_ptr<const RankSchedule> schedule;
  TensorMeta global;
  Place place;
  DenseTensor into;   // for the last array made; undefined: a new one
  DenseTensor local;  // the result of the steps so far
  size_t next = 0;    // the next step to run
  std::shared_ptr<BoxExchangeRun> in_flight = nullptr;  // the step in flight

  // Runs to the end, or to a step between meshes, whose transfer it returns.
  Transfer run(Communicator& communicator);
  // Whether this rank does anything in step `at`.
  bool participates_in(size_t at) const {
    const StepSchedule& move = schedule->moves[at];
    return move.takes_part && !changes_nothing(move, schedule->plan->steps[at]);
  }
  bool participates_from(size_t first) const {
    for (size_t at = first; at < schedule->moves.size(); ++at) {
      if (participates_in(at)) return true;
    }
    return false;
  }
  // Call it when that transfer is done.
  void complete_in_flight() { local = std::exchange(in_flight, nullptr)->finish(); }
};

Transfer PendingReshard::Steps::run(Communicator& communicator) {
  const CommAnnotation about(global.dims, global.dtype);
  while (next < schedule->moves.size()) {
    const size_t at = next++;
    const ReshardStep& step = schedule->plan->steps[at];
    const StepSchedule& move = schedule->moves[at];
    if (!participates_in(at)) continue;
    const DenseTensor target = into.defined() && !participates_from(next) ? into : DenseTensor();
    ++communicator.rank_context().counters().reshard_steps;
    const ObservedReshard observed(communicator, *schedule->plan, at);
    if (step.kind == ReshardStep::Kind::kAllReduce) {
      local = all_reduced(communicator, move, step, local, target);
    } else if (step.kind == ReshardStep::Kind::kFillPartial) {
      const MeshCoord coord = *step.to()->mesh().coord_of(communicator.rank());
      local = filled(step, local, global, place, coord, target);
    } else {
      in_flight = std::make_shared<BoxExchangeRun>(communicator, schedule, at, local, global, place,
                                                   target);
      Transfer transfer = BoxExchangeRun::start(in_flight);
      yield_point("reshard.run.started");
      if (step.kind == ReshardStep::Kind::kSendRecv) return transfer;
      transfer.wait();
      complete_in_flight();
    }
  }
  return {};
}

PendingReshard PendingReshard::begin(const DistTensor& src, const TensorDistAttr* dst,
                                     const DenseTensor& into, const DenseTensor& from) {
  PendingReshard pending;
  pending.result_ = src;
  if (src.attr() == dst) return pending;
  check_mesh(dst->mesh());
  std::optional<OpScope> scope;
  if (OpScope::current() == nullptr) scope.emplace("reshard");
  const auto plan = plan_reshard(src.attr(), dst, src.dims(), src.dtype());
  const Place place = src.local().place();
  Communicator& communicator = World::current().communicator(place);
  const bool in_src = src.mesh().contains(communicator.rank());
  const bool in_dst = dst->mesh().contains(communicator.rank());
  pending.result_ = DistTensor::clipped(src.meta(), dst, place, OpScope::current());
  if (!in_src && !in_dst) return pending;
  const ObservedReshard observed(communicator, "reshard", *plan, ReshardPhase::kWhole,
                                 &src.local());
  auto steps = std::make_unique<PendingReshard::Steps>(
      PendingReshard::Steps{schedule_of(plan, communicator), src.meta(), place, into, from});
  pending.participates_ = steps->participates_from(0);
  pending.transfer_ = steps->run(communicator);
  if (in_dst) pending.rest_ = std::move(steps);
  return pending;
}

PendingReshard start_reshard(const DistTensor& src, const TensorDistAttr* dst) {
  if (src.attr() == dst) return PendingReshard::begin(src, dst, {}, src.local());
  RankContext& rank = RankContext::current();
  Recorder* const recorder = rank.recorder();
  if (recorder == nullptr) {
    return PendingReshard::begin(src, dst, {}, src.local().fixed());
  }
  // In a capture the result's metadata is complete at once, and it has no bytes to wait for.
  PendingReshard pending = PendingReshard::begin(src, dst, {}, src.local());
  PendingReshard known;
  known.result_ = pending.wait();
  if (pending.participates_) {
    CapturedReshard steps = capture_reshard(src, known.result_);
    recorder->add(std::move(steps.start));
    known.recorded_ = std::move(steps.finish);
  }
  unshare(src.local(), known.result_);
  recorder->moved(shown(src), shown(known.result_));
  return known;
}

PendingReshard start_reshard_into(const DistTensor& src, const TensorDistAttr* dst,
                                  const DenseTensor& into) {
  return PendingReshard::begin(src, dst, into, src.local());
}

DistTensor PendingReshard::wait() {
  PHI_CHECK(
      result_.defined(),
      errors::PreconditionNotMet("wait() is called for a pending reshard that was never started, "
                                 "or was waited for before; keep the tensor that wait() returns."));
  while (rest_ && rest_->in_flight) {
    Communicator& communicator = World::current().communicator(rest_->place);
    const ObservedReshard observed(communicator, "finish reshard", *rest_->schedule->plan,
                                   ReshardPhase::kFinish);
    transfer_.wait();
    yield_point("reshard.wait.arrived");
    rest_->complete_in_flight();
    transfer_ = rest_->run(communicator);
  }
  if (rest_) result_.local() = std::move(rest_->local);
  rest_ = nullptr;
  // The step that waits is one of receivers here, and of senders in finish_sending.
  if (recorded_ && result_.mesh().contains(World::current().rank())) {
    RankContext::current().recorder()->add(std::move(recorded_));
  }
  return std::exchange(result_, {});
}

DistTensor PendingReshard::wait_until_sent() {
  finish_sending();
  return wait();
}

void PendingReshard::finish_sending() {
  if (recorded_ && RankContext::current().recorder()) {
    RankContext::current().recorder()->add(std::move(recorded_));
  }
  transfer_.wait();
  transfer_ = {};
}

DistTensor reshard(const DistTensor& src, const TensorDistAttr* dst, ReshardAliasing aliasing) {
  PendingReshard pending = PendingReshard::begin(src, dst, {}, src.local());
  DistTensor made = pending.wait_until_sent();
  if (src.attr() == dst && aliasing == ReshardAliasing::kShared) return made;
  Recorder* const recorder = RankContext::current().recorder();
  if (recorder && pending.participates_) [[unlikely]]
    recorder->add(capture_whole_reshard(src, made));
  if (aliasing == ReshardAliasing::kAlias) unshare(src.local(), made);
  if (recorder) [[unlikely]]
    recorder->moved(shown(src), shown(made));
  return made;
}

PendingReshard::PendingReshard() = default;
PendingReshard::PendingReshard(PendingReshard&&) noexcept = default;
PendingReshard& PendingReshard::operator=(PendingReshard&& other) noexcept {
  const PendingReshard dropped(std::move(*this));
  result_ = std::move(other.result_);
  transfer_ = std::move(other.transfer_);
  rest_ = std::move(other.rest_);
  participates_ = other.participates_;
  recorded_ = std::move(other.recorded_);
  return *this;
}
// A captured program waits for messages of handles that are dropped, so that its next run begins
// without them.
PendingReshard::~PendingReshard() {
  Recorder* const recorder = recorded_ ? RankContext::current().recorder() : nullptr;
  if (recorder && std::uncaught_exceptions() == 0) recorder->add(std::move(recorded_));
}

void check_mesh(const ProcessMesh& mesh) {
  const int64_t ranks = World::current().size();
  PHI_CHECK(
      !mesh.defined() || mesh.highest_rank() < ranks,
      errors::InvalidArgument("{} names rank {}, but the job has {} rank{}, counted from 0; "
                              "start more processes or use a smaller mesh.",
                              mesh.to_string(), mesh.highest_rank(), ranks, ranks == 1 ? "" : "s"));
}

DistTensor distribute(const DenseTensor& global, const TensorDistAttr* attr) {
  check_mesh(attr->mesh());
  attr->check_fits(global.dims());
  const TensorMeta& meta = global.meta();
  const Place& place = RankContext::current().place();
  const auto coord = attr->mesh().coord_of(World::current().rank());
  if (!coord) {
    return laid_out(global, DistTensor::clipped(meta, attr, place, OpScope::current()));
  }
  ReshardStep fill;
  fill.kind = ReshardStep::Kind::kFillPartial;
  fill.move.shape = meta.dims;
  fill.move.src = fill.move.dst = attr;
  for (int m : attr->partial_dims()) fill.over |= 1u << m;
  Recorder* const recorder = RankContext::current().recorder();
  if (const auto kind = filled_with(fill, *coord)) {
    const DenseTensor local = filled(fill, {}, meta, place, *coord, {});
    if (recorder) recorder->add(capture_fill(*kind, local));
    return laid_out(global, {meta, attr, local});
  }
  const Box box = local_box(meta.dims, *attr, *coord);
  const auto each_run = part_in_each_run(global, box, place);
  const DenseTensor local = each_run ? *each_run : part_of(global, box, place);
  const bool is_copied = local.storage() != global.storage() && !local.storage()->source();
  if (recorder && is_copied) recorder->add(capture_slice(global, box, local));
  DistTensor made(meta, attr, local);
  unshare(global, made);
  return laid_out(global, std::move(made));
}

}  // namespace phi::distributed
