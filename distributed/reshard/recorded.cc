// Steps of captured programs: reshards as one or two steps, slices and fills.
#include "distributed/reshard/recorded.h"

#include "distributed/comm/reduce.h"
#include "distributed/comm/world.h"
#include "distributed/reshard/execute.h"
#include "phi/common/errors.h"
#include "phi/core/device/host_array.h"

namespace phi::distributed {
namespace {

// A rank's ends of one reshard. An array is absent on a rank that holds or receives no part.
struct Ends {
  TensorMeta global;
  const TensorDistAttr* from;
  const TensorDistAttr* to;
  Place place;
  bool has_input;
  bool has_output;  // and the output is not the input itself
  DenseTensor input;
  DenseTensor output;
};

Ends ends_of(const DistTensor& src, const DistTensor& made) {
  const int64_t rank = World::current().rank();
  const bool has_input = src.mesh().contains(rank);
  const bool same_bytes = src.local().storage() == made.local().storage();
  const bool has_output = made.mesh().contains(rank) && !same_bytes;
  return {src.meta(), src.attr(), made.attr(), src.local().place(),
          has_input,  has_output, src.local(), made.local()};
}

class ReshardStepBase : public Step {
 public:
  explicit ReshardStepBase(Ends ends) : ends_(std::move(ends)) {}
  bool has_messages() const override { return true; }
  // Memory for the arrays between the steps of the plan.
  size_t scratch_bytes() const override {
    return 2 * (ends_.has_input ? ends_.input.nbytes() : 0) +
           (ends_.has_output ? ends_.output.nbytes() : 0);
  }

 protected:
  void visit_ends(const Visitor& visitor, Access of_output) {
    if (ends_.has_input) visitor(ends_.input, Access::kRead);
    if (ends_.has_output) visitor(ends_.output, of_output);
  }
  // Whether this rank sends and receives nothing.
  bool only_sends() const { return ends_.has_input && !ends_.has_output; }
  // `keeps_input`: sends a copy, because the array may be reused before the messages have left.
  PendingReshard begin(bool keeps_input) {
    DistTensor src = DistTensor::clipped(ends_.global, ends_.from, ends_.place, "reshard");
    if (ends_.has_input) src.local() = keeps_input ? ends_.input.clone() : ends_.input;
    return start_reshard_into(src, ends_.to, ends_.has_output ? ends_.output : DenseTensor());
  }
  void end(PendingReshard pending) {
    const DistTensor made = pending.wait_until_sent();
    if (!ends_.has_output || ends_.output.nbytes() == 0) return;
    // If the last step does not change this rank's part, the part is in another array: copy it.
    copy_array(made.local(), ends_.output);
  }

 private:
  Ends ends_;
};

class WholeReshard final : public ReshardStepBase {
 public:
  using ReshardStepBase::ReshardStepBase;
  const char* name() const override { return "reshard"; }
  void visit(const Visitor& visitor) override { visit_ends(visitor, Access::kWrite); }
  void run() override { end(begin(/*keeps_input=*/false)); }
  std::unique_ptr<Step> clone() const override { return std::make_unique<WholeReshard>(*this); }
};

// State shared by the two halves.
struct Crossing {
  PendingReshard pending;
  bool at_once = false;  // the first half does everything
};
using UnderWay = std::shared_ptr<Crossing>;

[[noreturn]] void throw_repeated() {
  throw errors::Unimplemented(
      "a reshard that is started in a scan is not waited for where it was started; use reshard "
      "inside a scan.");
}

class StartReshard final : public ReshardStepBase, public OverlappingStep {
 public:
  StartReshard(Ends ends, UnderWay under_way)
      : ReshardStepBase(std::move(ends)), under_way_(std::move(under_way)) {}
  const char* name() const override { return "start_reshard"; }
  void visit(const Visitor& visitor) override { visit_ends(visitor, Access::kWrite); }
  void run() override {
    // Later steps may write to the array, or reuse its memory, before the messages have left.
    under_way_->pending = begin(/*keeps_input=*/!under_way_->at_once);
    if (under_way_->at_once) end(std::move(under_way_->pending));
  }
  void finish_at_once() override { under_way_->at_once = true; }
  const void* under_way() const override { return under_way_.get(); }
  std::unique_ptr<Step> clone() const override { throw_repeated(); }

 private:
  UnderWay under_way_;
};

class FinishReshard final : public ReshardStepBase, public HalfReshard {
 public:
  FinishReshard(Ends ends, UnderWay under_way)
      : ReshardStepBase(std::move(ends)), under_way_(std::move(under_way)) {}
  const char* name() const override { return "finish_reshard"; }
  void visit(const Visitor& visitor) override {
    if (!only_sends()) visit_ends(visitor, Access::kUpdate);
  }
  void run() override {
    if (under_way_->at_once) return;
    if (only_sends()) {
      under_way_->pending = {};
    } else {
      end(std::move(under_way_->pending));
    }
  }
  const void* under_way() const override { return under_way_.get(); }
  std::unique_ptr<Step> clone() const override { throw_repeated(); }

 private:
  UnderWay under_way_;
};

class Slice final : public Step {
 public:
  Slice(const DenseTensor& whole, const Box& part, const DenseTensor& out)
      : whole_(whole), part_(part), out_(out) {}
  const char* name() const override { return "slice"; }
  void visit(const Visitor& visitor) override {
    visitor(whole_, Access::kRead);
    visitor(out_, Access::kWrite);
  }
  // A program's arrays are on one place, that of its rank.
  void run() override {
    // Of a deferred array only the part is transferred to the device.
    const auto source = whole_.storage()->source();
    if (source && source->meta() == whole_.meta()) return bring_box(*source, part_, &out_);
    copy_box(whole_, Box::whole(whole_.dims()), out_, part_, part_);
  }
  std::unique_ptr<Step> clone() const override { return std::make_unique<Slice>(*this); }
  bool is_repeatable() const override { return true; }

 private:
  DenseTensor whole_;
  Box part_;
  DenseTensor out_;
};

class Fill final : public Step {
 public:
  Fill(ReduceKind kind, const DenseTensor& out) : kind_(kind), out_(out) {}
  const char* name() const override { return "fill"; }
  void visit(const Visitor& visitor) override { visitor(out_, Access::kWrite); }
  void run() override { fill_identity(kind_, out_); }
  std::unique_ptr<Step> clone() const override { return std::make_unique<Fill>(*this); }
  bool is_repeatable() const override { return true; }

 private:
  ReduceKind kind_;
  DenseTensor out_;
};

}  // namespace

RecordedReshard record_reshard(const DistTensor& src, const DistTensor& made) {
  const auto under_way = std::make_shared<Crossing>();
  return {std::make_unique<StartReshard>(ends_of(src, made), under_way),
          std::make_unique<FinishReshard>(ends_of(src, made), under_way)};
}

std::unique_ptr<Step> record_whole_reshard(const DistTensor& src, const DistTensor& made) {
  return std::make_unique<WholeReshard>(ends_of(src, made));
}

std::unique_ptr<Step> recorded_slice(const DenseTensor& whole, const Box& part,
                                     const DenseTensor& out) {
  return std::make_unique<Slice>(whole, part, out);
}

std::unique_ptr<Step> recorded_fill(ReduceKind kind, const DenseTensor& out) {
  return std::make_unique<Fill>(kind, out);
}

}  // namespace phi::distributed
