// CopyStep: copies the bytes of an array to another array of the same size. AliasStep: a copy that
// an executor may omit.
#pragma once

#include "phi/core/device/host_array.h"
#include "phi/core/step.h"

namespace phi {

class CopyStep : public Step {
 public:
  CopyStep(const DenseTensor& from, const DenseTensor& to) : from_(from), to_(to) {}
  const char* name() const override { return "copy"; }
  void visit(const Visitor& visitor) override {
    visitor(from_, Access::kRead);
    visitor(to_, Access::kWrite);
  }
  void run() override { copy_array(from_, to_); }
  std::unique_ptr<Step> clone() const override { return std::make_unique<CopyStep>(*this); }

 private:
  DenseTensor from_;
  DenseTensor to_;
};

/// DenseTensor::alias in a captured program. The copy is needed only if a later step writes to
/// either array.
class AliasStep final : public CopyStep {
 public:
  using CopyStep::CopyStep;
  const char* name() const override { return "alias"; }
  std::unique_ptr<Step> clone() const override { return std::make_unique<AliasStep>(*this); }
};

}  // namespace phi
