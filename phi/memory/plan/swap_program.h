// SwapProgram: a repeated program of one rank, as input of memory planning: buffers, and the steps
// that read and write them in order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace phi::memory {

/// An index into SwapProgram::buffers.
using SwapBufferId = int32_t;

enum class BufferAccess : uint8_t {
  kRead,
  kWrite,   // overwrites the whole buffer; the old value is not needed
  kUpdate,  // read and written
};

struct SwapOperand {
  SwapBufferId buffer = 0;
  BufferAccess access = BufferAccess::kRead;
  friend bool operator==(const SwapOperand&, const SwapOperand&) = default;
};

struct SwapBuffer {
  std::string name = {};  // for errors
  int64_t nbytes = 0;
  /// Whether the buffer has a value when a run begins: from SwapEngine::put or, if it is kept, from
  /// the previous run.
  bool given = false;
  /// Whether the value outlives the run (parameters, optimizer states, losses). Otherwise it ends
  /// after its last use.
  bool keep = false;
};

struct SwapStep {
  std::string name = {};  // for errors
  /// A buffer may occur more than once; its accesses are combined.
  std::vector<SwapOperand> operands = {};
  /// Device memory that the step needs in addition to its operands, in bytes.
  int64_t scratch_bytes = 0;
  /// Estimated compute time. Only the timing of transfers depends on it.
  double seconds = 0;
  /// Whether a repetition on the same inputs writes the same bytes and has no other effect: no
  /// communication, no random state. The outputs of such a step may be recomputed.
  bool repeatable = false;
};

struct SwapProgram {
  std::vector<SwapBuffer> buffers;
  std::vector<SwapStep> steps;
};

}  // namespace phi::memory
