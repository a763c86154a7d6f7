// CopyStep: one array's bytes into another of the same size.
#pragma once

#include <cstring>

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
  void run() override {
    if (from_.nbytes() == 0) return;
    std::memcpy(to_.mutable_raw_data(), from_.raw_data(), from_.nbytes());
  }
  std::unique_ptr<Step> clone() const override { return std::make_unique<CopyStep>(*this); }

 private:
  DenseTensor from_;
  DenseTensor to_;
};

}  // namespace phi
