// CopyStep: one array's bytes into another of the same size.
#pragma once

#include "phi/core/device/host_array.h"
#include "phi/core/step.h"

namespace phi {

class CopyStep final : public Step {
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

}  // namespace phi
