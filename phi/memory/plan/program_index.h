// ProgramIndex: a validated SwapProgram, with the uses of every buffer in order, for planning.
#pragma once

#include <span>

#include "phi/memory/plan/swap_plan.h"

namespace phi::memory {

/// A use of a buffer by a step.
struct BufferUse {
  int32_t step = 0;
  BufferAccess access = BufferAccess::kRead;
};

/// The scratch memory of a step is an additional buffer, which only this step writes. The ids of
/// scratch buffers follow those of the program's buffers.
class ProgramIndex {
 public:
  /// `program` must outlive this object. Errors: InvalidArgument if a step reads a buffer that has
  /// no value, or if the program is malformed.
  explicit ProgramIndex(const SwapProgram& program);

  const SwapProgram& program() const { return program_; }
  int32_t num_steps() const { return static_cast<int32_t>(program_.steps.size()); }
  int32_t num_buffers() const { return static_cast<int32_t>(sizes_.size()); }
  /// Bytes that the buffer occupies on the device: nbytes, rounded up.
  int64_t size(SwapBufferId buffer) const { return sizes_[static_cast<size_t>(buffer)]; }
  int64_t nbytes(SwapBufferId buffer) const { return nbytes_[static_cast<size_t>(buffer)]; }
  bool given(SwapBufferId buffer) const { return !is_scratch(buffer) && info(buffer).given; }
  bool keep(SwapBufferId buffer) const { return !is_scratch(buffer) && info(buffer).keep; }
  bool is_scratch(SwapBufferId buffer) const {
    return static_cast<size_t>(buffer) >= program_.buffers.size();
  }
  /// The buffers of a step, each once; its scratch is last.
  std::span<const SwapOperand> operands(int32_t step) const {
    return slice(operands_, operand_begin_, step);
  }
  /// The uses of a buffer, in the order of steps.
  std::span<const BufferUse> uses(SwapBufferId buffer) const {
    return slice(uses_, use_begin_, buffer);
  }
  /// The sum of the sizes of `operands(step)`.
  int64_t operand_bytes(int32_t step) const;
  /// The scratch buffer of a step. Requires that the step has one.
  SwapBufferId scratch_of(int32_t step) const { return operands(step).back().buffer; }
  /// "step 7 (matmul)".
  std::string describe_step(int32_t step) const;
  /// "buffer 3 (weight)".
  std::string describe_buffer(SwapBufferId buffer) const;

 private:
  const SwapBuffer& info(SwapBufferId buffer) const {
    return program_.buffers[static_cast<size_t>(buffer)];
  }
  template <typename T>
  static std::span<const T> slice(const std::vector<T>& all, const std::vector<int64_t>& begin,
                                  int32_t i) {
    const auto at = static_cast<size_t>(i);
    return {all.data() + begin[at], all.data() + begin[at + 1]};
  }
  void read_buffers();
  void read_steps();
  void add_step(int32_t step);
  void collect_uses();
  void check_values() const;

  const SwapProgram& program_;
  std::vector<int64_t> sizes_, nbytes_;
  std::vector<SwapOperand> operands_;
  std::vector<int64_t> operand_begin_;
  std::vector<BufferUse> uses_;
  std::vector<int64_t> use_begin_;
};

}  // namespace phi::memory
