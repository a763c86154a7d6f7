// Packs outgoing boxes, and stores or reduces incoming ones.
#include "distributed/reshard/box_exchange_run.h"

#include <algorithm>
#include <span>

#include "distributed/comm/world.h"
#include "phi/common/process/yield_point.h"
#include "phi/core/box_copy.h"

namespace phi::distributed {
namespace {

std::byte* element(std::byte* base, int64_t index, size_t width) {
  return base + static_cast<size_t>(index) * width;
}

// The collective whose counters a step belongs to; its messages are an exchange.
CommOp op_of(ReshardStep::Kind kind) {
  switch (kind) {
    case ReshardStep::Kind::kAllGather:
      return CommOp::kAllGather;
    case ReshardStep::Kind::kAllToAll:
      return CommOp::kAllToAll;
    case ReshardStep::Kind::kReduceScatter:
      return CommOp::kReduceScatter;
    default:
      return CommOp::kExchange;
  }
}

}  // namespace

BoxExchangeRun::BoxExchangeRun(Communicator& communicator,
                               std::shared_ptr<const RankSchedule> schedule, size_t step,
                               const DenseTensor& in, const TensorMeta& global, const Place& place,
                               const DenseTensor& out)
    : communicator_(communicator),
      device_(communicator.device()),
      whole_(std::move(schedule)),
      schedule_(whole_->moves[step]),
      step_(whole_->plan->steps[step]),
      in_(in),
      width_(size_of(global.dtype)),
      dry_(RankContext::current().is_dry()) {
  if (!schedule_.receives) return;
  const TensorMeta wanted{schedule_.dst_box.size, global.dtype, global.layout};
  out_ = passes_through() ? in_ : out.defined() ? out : DenseTensor::empty(wanted, place);
}

Transfer BoxExchangeRun::start(const std::shared_ptr<BoxExchangeRun>& run) {
  const StepSchedule& schedule = run->schedule_;
  const bool only_sends = schedule.receives && run->passes_through();
  if (!only_sends && !schedule.scatter_counts.empty() && schedule.group != nullptr) {
    run->open(/*only_sends=*/false);
    schedule.group->reduce_scatter_v(run->from_.data(), run->to_.data(), schedule.scatter_counts,
                                     run->out_.dtype(), run->step_.reduce);
    return {};
  }
  if (only_sends && schedule.group == nullptr) return {};
  run->open(only_sends);
  run->staging_ = StagingBuffer(run->device_, schedule.staging_bytes);
  const auto sends = run->packed_sends();
  const auto recvs = only_sends ? std::vector<Recv>() : run->recv_buffers();
  run->copy_boxes();
  if (schedule.group == nullptr) return {};
  yield_point("move_run.start.packed");
  return schedule.group->start_exchange(sends, recvs, run, op_of(run->step_.kind));
}

void BoxExchangeRun::open(bool only_sends) {
  if (dry_) return;
  const bool reads = !schedule_.sends.empty() || !schedule_.scatter_counts.empty() ||
                     std::ranges::any_of(schedule_.recvs, &BoxMessage::is_own);
  if (reads) from_ = ArrayAt(device_, in_, ArrayAt::kRead);
  if (schedule_.receives && !only_sends) to_ = ArrayAt(device_, out_, ArrayAt::kWrite);
}

DenseTensor BoxExchangeRun::finish() {
  if (dry_) return std::move(out_);
  if (step_.move.reduced != 0) {
    reduce();
  } else {
    unpack();
  }
  copy_boxes();
  to_.finish();
  return std::move(out_);
}

// Whether this rank's input is its output already.
bool BoxExchangeRun::passes_through() const {
  if (schedule_.contributions > 1 || step_.move.reduced != 0) return false;
  if (schedule_.src_box != schedule_.dst_box || !in_.computed_here()) return false;
  return schedule_.recvs.empty() ? schedule_.dst_box.empty() && schedule_.dst_box.ndim() > 0
                                 : schedule_.recvs[0].is_own;
}

std::vector<Send> BoxExchangeRun::packed_sends() {
  std::vector<Send> sends;
  for (const BoxMessage& message : schedule_.sends) {
    if (!message.is_own)
      sends.push_back({message.position, piece_of_input(message), message.bytes});
  }
  return sends;
}

const void* BoxExchangeRun::piece_of_input(const BoxMessage& message) {
  if (dry_) return nullptr;
  const auto offset = contiguous_offset(schedule_.src_box, message.box);
  if (offset) return element(from_.data(), *offset, width_);
  std::byte* packed = staging_.allocate(message.bytes);
  copies_.push_back({from_.data(), schedule_.src_box, packed, message.box, message.box});
  return packed;
}

std::vector<Recv> BoxExchangeRun::recv_buffers() {
  const bool reduces = step_.move.reduced != 0;
  std::vector<Recv> recvs;
  for (const BoxMessage& message : schedule_.recvs) {
    if (message.is_own) {
      arrived_.push_back(reduces ? piece_of_input(message) : nullptr);
      continue;
    }
    recvs.push_back({message.position, recv_buffer(message, reduces), message.bytes});
    arrived_.push_back(recvs.back().data);
  }
  return recvs;
}

void* BoxExchangeRun::recv_buffer(const BoxMessage& message, bool reduces) {
  if (dry_) return nullptr;
  if (!message.offset || reduces) return staging_.allocate(message.bytes);
  return element(to_.data(), *message.offset, width_);
}

void BoxExchangeRun::copy_boxes() {
  if (copies_.empty()) return;
  device_.copy_boxes(copies_, width_);
  copies_.clear();
}

void BoxExchangeRun::unpack() {
  for (size_t i = 0; i < arrived_.size(); ++i) {
    const BoxMessage& message = schedule_.recvs[i];
    if (message.is_own) {
      copies_.push_back(
          {from_.data(), schedule_.src_box, to_.data(), schedule_.dst_box, message.box});
    } else if (!message.offset) {
      const auto* const arrived = static_cast<const std::byte*>(arrived_[i]);
      copies_.push_back({arrived, message.box, to_.data(), schedule_.dst_box, message.box});
    }
  }
}

void BoxExchangeRun::reduce() {
  const auto n = static_cast<size_t>(schedule_.contributions);
  for (size_t i = 0; i < arrived_.size(); i += n) {
    const BoxMessage& message = schedule_.recvs[i];
    const std::span inputs(arrived_.data() + i, n);
    const int64_t count = message.box.numel();
    if (message.offset) {
      communicator_.reduce(inputs, element(to_.data(), *message.offset, width_), count,
                           out_.dtype(), step_.reduce);
      continue;
    }
    std::byte* reduced = staging_.allocate(message.bytes);
    communicator_.reduce(inputs, reduced, count, out_.dtype(), step_.reduce);
    copies_.push_back({reduced, message.box, to_.data(), schedule_.dst_box, message.box});
  }
}

}  // namespace phi::distributed
