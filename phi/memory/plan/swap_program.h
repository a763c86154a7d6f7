// SwapProgram: what one rank runs again and again, as the planner of device memory sees it:
// buffers, and the steps that read and write them in order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace phi::memory {

/// An index into SwapProgram::buffers.
using BufferId = int32_t;

enum class Access : uint8_t {
  kRead,
  kWrite,   // the whole buffer; its old value is not needed
  kUpdate,  // read and written
};

struct SwapOperand {
  BufferId buffer = 0;
  Access access = Access::kRead;
  friend bool operator==(const SwapOperand&, const SwapOperand&) = default;
};

struct SwapBuffer {
  std::string name = {};  // for errors
  int64_t nbytes = 0;
  /// It has a value when a run begins: SwapEngine::put gave it, or (if kept) the run before left
  /// it.
  bool given = false;
  /// Its value outlives the run (parameters, optimizer states, losses). Any other dies after its
  /// last use.
  bool keep = false;
};

struct SwapStep {
  std::string name = {};  // for errors
  /// A buffer may stand here more than once; its accesses then count together.
  std::vector<SwapOperand> operands = {};
  /// Device bytes that the step needs while it runs, besides its operands.
  int64_t scratch_bytes = 0;
  /// How long it computes, as far as known. Only the timing of transfers depends on it.
  double seconds = 0;
  /// Run again on the same inputs it gives the same bytes and nothing else happens: no
  /// communication, no random state. What such a step has written may be recomputed.
  bool repeatable = false;
};

struct SwapProgram {
  std::vector<SwapBuffer> buffers;
  std::vector<SwapStep> steps;
};

}  // namespace phi::memory
