// Step: something that a rank does and can do again, found while a program is captured: a kernel
// launch, a copy, a part of a reshard. Its arrays are named once and given bytes by whoever runs
// it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "phi/core/dense_tensor.h"

namespace phi {

/// What a step does with an array. kShape: it reads the dims and no byte.
enum class Access : uint8_t { kRead, kWrite, kUpdate, kShape };

/// What a step takes of a processor and of its memory: estimates, by which only the timing of
/// transfers is chosen.
struct StepCost {
  double flops = 0;
  double bytes = 0;
};

class Step {
 public:
  using Visitor = std::function<void(DenseTensor& array, Access access)>;

  virtual ~Step() = default;
  /// "matmul", "reshard"; lives as long as the program.
  virtual const char* name() const = 0;
  /// The arrays, always in the same order; the visitor may give them other storages.
  virtual void visit(const Visitor& visitor) = 0;
  virtual void run() = 0;
  /// The same step, to be given other arrays.
  virtual std::unique_ptr<Step> clone() const = 0;
  /// Run again on the same arrays it writes the same bytes, and nothing else happens.
  virtual bool is_repeatable() const { return false; }
  /// It gives other ranks messages, or takes theirs, and otherwise does what a repeatable step
  /// does.
  virtual bool has_messages() const { return false; }
  /// Bytes that it takes on the device beside its arrays, at most.
  virtual size_t scratch_bytes() const { return 0; }
  /// The bytes of its arrays, each once. (It visits them and changes none.)
  virtual StepCost cost() {
    StepCost cost;
    visit([&](DenseTensor& array, Access access) {
      if (access != Access::kShape) cost.bytes += static_cast<double>(array.nbytes());
    });
    return cost;
  }
};

}  // namespace phi
