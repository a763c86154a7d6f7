// ProgramIndex: a checked SwapProgram with the uses of every buffer in order, as planning needs it.
#pragma once

#include <span>

#include "phi/memory/plan/swap_plan.h"

namespace phi::memory {

/// A use of a buffer by a step.
struct BufferUse {
  int32_t step = 0;
  Access access = Access::kRead;
};

/// A step's scratch counts as one more buffer, which only this step writes; their ids follow those
/// of the program. Sizes are of what is occupied on the device.
class ProgramIndex {
 public:
  /// `program` must outlive this. Errors: InvalidArgument, see make_swap_plan.
  explicit ProgramIndex(const SwapProgram& program);

  const SwapProgram& program() const { return program_; }
  int32_t num_steps() const { return static_cast<int32_t>(program_.steps.size()); }
  int32_t num_buffers() const { return static_cast<int32_t>(sizes_.size()); }
  /// On the device.
  int64_t size(BufferId buffer) const { return sizes_[static_cast<size_t>(buffer)]; }
  int64_t nbytes(BufferId buffer) const { return nbytes_[static_cast<size_t>(buffer)]; }
  bool given(BufferId buffer) const { return !is_scratch(buffer) && info(buffer).given; }
  bool keep(BufferId buffer) const { return !is_scratch(buffer) && info(buffer).keep; }
  bool is_scratch(BufferId buffer) const {
    return static_cast<size_t>(buffer) >= program_.buffers.size();
  }
  /// Of a step: every buffer once, its scratch last.
  std::span<const SwapOperand> operands(int32_t step) const {
    return slice(operands_, operand_begin_, step);
  }
  /// Ascending by step.
  std::span<const BufferUse> uses(BufferId buffer) const {
    return slice(uses_, use_begin_, buffer);
  }
  /// The sum of the sizes of `operands(step)`.
  int64_t operand_bytes(int32_t step) const;
  /// The scratch of a step that has some.
  BufferId scratch_of(int32_t step) const { return operands(step).back().buffer; }
  /// "step 7 (matmul)".
  std::string describe_step(int32_t step) const;
  /// "buffer 3 (weight)".
  std::string describe_buffer(BufferId buffer) const;

 private:
  const SwapBuffer& info(BufferId buffer) const {
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
