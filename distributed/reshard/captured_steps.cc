// Steps of captured programs: reshards as one or two steps, slices and fills.
#include "distributed/reshard/captured_steps.h"

#include <algorithm>

#include "distributed/comm/reduce.h"
#include "distributed/comm/world.h"
#include "distributed/placement/collective_volume.h"
#include "distributed/reshard/execute.h"
#include "phi/common/errors.h"
#include "phi/core/device/host_array.h"
#include "phi/core/rank_context.h"

namespace phi::distributed {
namespace {

// A rank's ends of one reshard. An array is absent on a rank that holds or receives no part.
struct ReshardEndpoints {
  TensorMeta global;
  const TensorDistAttr* from;
  const TensorDistAttr* to;
  Place place;
  bool has_input;
  bool has_output;  // and the output is not the input itself
  DenseTensor input;
  DenseTensor output;
};

ReshardEndpoints endpoints_of(const DistTensor& src, const DistTensor& made) {
  const int64_t rank = World::current().rank();
  const bool has_input = src.mesh().contains(rank);
  const bool same_bytes = src.local().storage() == made.local().storage();
  const bool has_output = made.mesh().contains(rank) && !same_bytes;
  return {src.meta(), src.attr(), made.attr(), src.local().place(),
          has_input,  has_output, src.local(), made.local()};
}

class ReshardStepBase : public Step {
 public:
  explicit ReshardStepBase(ReshardEndpoints endpoints) : endpoints_(std::move(endpoints)) {}
  bool has_messages() const override { return true; }
  // Memory for the arrays between the steps of the plan, and for what reductions receive.
  size_t scratch_bytes() const override {
    const size_t input = endpoints_.has_input ? endpoints_.input.nbytes() : 0;
    const size_t output = endpoints_.has_output ? endpoints_.output.nbytes() : 0;
    return 2 * input + output + received_by_reductions(input);
  }

 protected:
  // An upper bound: two slices of all members, or all members' arrays if they are short
  // (Group::reduce_parts, Group::reduce_by_gather).
  size_t received_by_reductions(size_t input) const {
    if (input == 0 || endpoints_.from->partial_dims().empty()) return 0;
    constexpr size_t kWidestElement = 16;  // slices are rounded up to elements
    const auto ranks = static_cast<size_t>(endpoints_.from->mesh().size());
    const size_t by_gather =
        std::min(input * ranks, input + 4 * static_cast<size_t>(kAllReduceByGatherBytes));
    return std::max(2 * (input + kWidestElement * ranks), by_gather);
  }
  void visit_endpoints(const Visitor& visitor, Access of_output) {
    if (endpoints_.has_input) visitor(endpoints_.input, Access::kRead);
    if (endpoints_.has_output) visitor(endpoints_.output, of_output);
  }
  // Whether this rank sends and receives nothing.
  bool only_sends() const { return endpoints_.has_input && !endpoints_.has_output; }
  // `keeps_input`: sends a copy, because the array may be reused before the messages have left.
  PendingReshard begin(bool keeps_input) {
    DistTensor src =
        DistTensor::clipped(endpoints_.global, endpoints_.from, endpoints_.place, "reshard");
    if (endpoints_.has_input)
      src.local() = keeps_input ? endpoints_.input.clone() : endpoints_.input;
    return start_reshard_into(src, endpoints_.to,
                              endpoints_.has_output ? endpoints_.output : DenseTensor());
  }
  void end(PendingReshard pending) {
    const DistTensor made = pending.wait_until_sent();
    if (!endpoints_.has_output || endpoints_.output.nbytes() == 0) return;
    // If the last step does not change this rank's part, the part is in another array: copy it.
    copy_array(made.local(), endpoints_.output);
  }

 private:
  ReshardEndpoints endpoints_;
};

class WholeReshard final : public ReshardStepBase {
 public:
  using ReshardStepBase::ReshardStepBase;
  const char* name() const override { return "reshard"; }
  void visit(const Visitor& visitor) override { visit_endpoints(visitor, Access::kWrite); }
  void run() override { end(begin(/*keeps_input=*/false)); }
  std::unique_ptr<Step> clone() const override { return std::make_unique<WholeReshard>(*this); }
};

// State shared by the two halves.
struct SharedTransfer {
  PendingReshard pending;
  bool synchronous = false;  // the first half does everything
};
using SharedTransferPtr = std::shared_ptr<SharedTransfer>;

[[noreturn]] void throw_repeated() {
  throw errors::Unimplemented(
      "an asynchronous reshard cannot be repeated by a scan; use reshard inside a scan.");
}

class StartReshard final : public ReshardStepBase, public AsyncReshardStep {
 public:
  StartReshard(ReshardEndpoints endpoints, SharedTransferPtr transfer)
      : ReshardStepBase(std::move(endpoints)), transfer_(std::move(transfer)) {}
  const char* name() const override { return "start_reshard"; }
  void visit(const Visitor& visitor) override { visit_endpoints(visitor, Access::kWrite); }
  void run() override {
    // Later steps may write to the array, or reuse its memory, before the messages have left.
    transfer_->pending = begin(/*keeps_input=*/!transfer_->synchronous);
    if (transfer_->synchronous) end(std::move(transfer_->pending));
  }
  void make_synchronous() override { transfer_->synchronous = true; }
  const void* transfer_id() const override { return transfer_.get(); }
  std::unique_ptr<Step> clone() const override { throw_repeated(); }

 private:
  SharedTransferPtr transfer_;
};

class FinishReshard final : public ReshardStepBase, public ReshardPhaseStep {
 public:
  FinishReshard(ReshardEndpoints endpoints, SharedTransferPtr transfer)
      : ReshardStepBase(std::move(endpoints)), transfer_(std::move(transfer)) {}
  const char* name() const override { return "finish_reshard"; }
  void visit(const Visitor& visitor) override {
    if (!only_sends()) visit_endpoints(visitor, Access::kUpdate);
  }
  void run() override {
    if (transfer_->synchronous) return;
    if (only_sends()) {
      transfer_->pending.finish_sending();
      transfer_->pending = {};
    } else {
      end(std::move(transfer_->pending));
    }
  }
  const void* transfer_id() const override { return transfer_.get(); }
  std::unique_ptr<Step> clone() const override { throw_repeated(); }

 private:
  SharedTransferPtr transfer_;
};

class SliceStep final : public Step {
 public:
  SliceStep(const DenseTensor& whole, const Box& part, const DenseTensor& out)
      : whole_(whole), part_(part), out_(out) {}
  const char* name() const override { return "slice"; }
  void visit(const Visitor& visitor) override {
    visitor(whole_, Access::kRead);
    visitor(out_, Access::kWrite);
  }
  // A program's arrays are on one place, that of its rank.
  void run() override {
    if (RankContext::current().is_dry()) return;
    // Of a deferred array only the part is transferred to the device.
    const auto source = whole_.storage()->source();
    if (source && source->meta() == whole_.meta()) return bring_box(*source, part_, &out_);
    copy_box(whole_, Box::whole(whole_.dims()), out_, part_, part_);
  }
  std::unique_ptr<Step> clone() const override { return std::make_unique<SliceStep>(*this); }
  bool is_repeatable() const override { return true; }

 private:
  DenseTensor whole_;
  Box part_;
  DenseTensor out_;
};

class FillStep final : public Step {
 public:
  FillStep(ReduceKind kind, const DenseTensor& out) : kind_(kind), out_(out) {}
  const char* name() const override { return "fill"; }
  void visit(const Visitor& visitor) override { visitor(out_, Access::kWrite); }
  void run() override {
    if (!RankContext::current().is_dry()) fill_identity(kind_, out_);
  }
  std::unique_ptr<Step> clone() const override { return std::make_unique<FillStep>(*this); }
  bool is_repeatable() const override { return true; }

 private:
  ReduceKind kind_;
  DenseTensor out_;
};

}  // namespace

CapturedReshard capture_reshard(const DistTensor& src, const DistTensor& made) {
  const auto transfer = std::make_shared<SharedTransfer>();
  return {std::make_unique<StartReshard>(endpoints_of(src, made), transfer),
          std::make_unique<FinishReshard>(endpoints_of(src, made), transfer)};
}

std::unique_ptr<Step> capture_whole_reshard(const DistTensor& src, const DistTensor& made) {
  return std::make_unique<WholeReshard>(endpoints_of(src, made));
}

std::unique_ptr<Step> capture_slice(const DenseTensor& whole, const Box& part,
                                    const DenseTensor& out) {
  return std::make_unique<SliceStep>(whole, part, out);
}

std::unique_ptr<Step> capture_fill(ReduceKind kind, const DenseTensor& out) {
  return std::make_unique<FillStep>(kind, out);
}

}  // namespace phi::distributed
