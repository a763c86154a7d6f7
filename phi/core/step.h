// Step: a repeatable piece of a rank's work in a captured program: a kernel launch, a copy, or a
// part of a reshard. Its arrays have metadata only; the executor attaches storages before it runs
// the step.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "phi/core/dense_tensor.h"

namespace phi {

/// How a step accesses an array. kShape: it reads the dims and no bytes.
enum class Access : uint8_t { kRead, kWrite, kUpdate, kShape };

/// Estimated work of a step. Only predicted times and the timing of transfers depend on it.
struct StepCost {
  DataType dtype = DataType::UNDEFINED;  // of the first array of floats, else of the last array
  double flops = 0;                      // floating-point operations; 0: bound by memory
  double bytes_read = 0;
  double bytes_written = 0;

  double bytes() const { return bytes_read + bytes_written; }
  /// Adds an array to which the step has this access.
  void add(const DenseTensor& array, Access access) {
    if (access == Access::kShape) return;
    if (!is_floating(dtype)) dtype = array.dtype();
    const auto nbytes = static_cast<double>(array.nbytes());
    if (access != Access::kWrite) bytes_read += nbytes;
    if (access != Access::kRead) bytes_written += nbytes;
  }
};

class Step {
 public:
  using Visitor = std::function<void(DenseTensor& array, Access access)>;

  virtual ~Step() = default;
  /// "matmul", "reshard"; lives as long as the program.
  virtual const char* name() const = 0;
  /// Visits the arrays, always in the same order. The visitor may replace their storages.
  virtual void visit(const Visitor& visitor) = 0;
  virtual void run() = 0;
  /// A copy of this step, whose storages can be replaced independently.
  virtual std::unique_ptr<Step> clone() const = 0;
  /// Whether running the step again on the same arrays writes the same bytes and has no other
  /// effect.
  virtual bool is_repeatable() const { return false; }
  /// Whether the step sends or receives messages and is repeatable apart from them.
  virtual bool has_messages() const { return false; }
  /// Upper bound of the device memory that the step allocates in addition to its arrays, in bytes.
  virtual size_t scratch_bytes() const { return 0; }
  /// Estimated cost; by default the bytes of the arrays. Not const only because it calls visit.
  virtual StepCost cost() {
    StepCost cost;
    visit([&](DenseTensor& array, Access access) { cost.add(array, access); });
    return cost;
  }
};

}  // namespace phi
