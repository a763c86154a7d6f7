// Validates a program and groups its uses by buffer.
#include "phi/memory/plan/program_index.h"

#include <algorithm>

#include "phi/common/errors.h"
#include "phi/memory/plan/page.h"

namespace phi::memory {

int64_t occupied_bytes(Tier tier, int64_t nbytes) {
  const int64_t unit = tier == Tier::kDevice ? kDeviceAlignment : static_cast<int64_t>(kPage);
  return std::max<int64_t>((nbytes + unit - 1) / unit, 1) * unit;
}

ProgramIndex::ProgramIndex(const SwapProgram& program) : program_(program) {
  read_buffers();
  read_steps();
  collect_uses();
  check_values();
}

void ProgramIndex::read_buffers() {
  for (size_t b = 0; b < program_.buffers.size(); ++b) {
    const int64_t nbytes = program_.buffers[b].nbytes;
    PHI_CHECK(nbytes >= 0,
              errors::InvalidArgument("{} has {} bytes; a size is 0 or more.",
                                      describe_buffer(static_cast<SwapBufferId>(b)), nbytes));
    nbytes_.push_back(nbytes);
    sizes_.push_back(occupied_bytes(Tier::kDevice, nbytes));
  }
}

void ProgramIndex::read_steps() {
  for (int32_t step = 0; step < num_steps(); ++step) {
    operand_begin_.push_back(static_cast<int64_t>(operands_.size()));
    add_step(step);
  }
  operand_begin_.push_back(static_cast<int64_t>(operands_.size()));
}

void ProgramIndex::add_step(int32_t step) {
  const SwapStep& given = program_.steps[static_cast<size_t>(step)];
  const size_t begin = operands_.size();
  for (const SwapOperand& operand : given.operands) {
    PHI_CHECK(
        operand.buffer >= 0 && static_cast<size_t>(operand.buffer) < program_.buffers.size(),
        errors::InvalidArgument("{} names buffer {}; the program has {}.", describe_step(step),
                                operand.buffer, program_.buffers.size()));
    const auto same = [&](const SwapOperand& other) { return other.buffer == operand.buffer; };
    const auto at =
        std::find_if(operands_.begin() + static_cast<ptrdiff_t>(begin), operands_.end(), same);
    if (at == operands_.end()) {
      operands_.push_back(operand);
    } else if (at->access != operand.access) {
      at->access = BufferAccess::kUpdate;
    }
  }
  PHI_CHECK(
      given.scratch_bytes >= 0 && given.seconds >= 0,
      errors::InvalidArgument("{} has {} bytes of scratch and takes {} s; neither can be negative.",
                              describe_step(step), given.scratch_bytes, given.seconds));
  if (given.scratch_bytes > 0) {
    operands_.push_back({num_buffers(), BufferAccess::kWrite});
    nbytes_.push_back(given.scratch_bytes);
    sizes_.push_back(occupied_bytes(Tier::kDevice, given.scratch_bytes));
  }
}

void ProgramIndex::collect_uses() {
  use_begin_.assign(sizes_.size() + 1, 0);
  for (const SwapOperand& operand : operands_)
    ++use_begin_[static_cast<size_t>(operand.buffer) + 1];
  for (size_t b = 0; b < sizes_.size(); ++b) use_begin_[b + 1] += use_begin_[b];
  std::vector<int64_t> at(use_begin_.begin(), use_begin_.end() - 1);
  uses_.resize(operands_.size());
  for (int32_t step = 0; step < num_steps(); ++step) {
    for (const SwapOperand& operand : operands(step)) {
      uses_[static_cast<size_t>(at[static_cast<size_t>(operand.buffer)]++)] = {step,
                                                                               operand.access};
    }
  }
}

void ProgramIndex::check_values() const {
  for (SwapBufferId b = 0; static_cast<size_t>(b) < program_.buffers.size(); ++b) {
    const auto used = uses(b);
    if (given(b)) continue;
    PHI_CHECK(
        used.empty() || used.front().access == BufferAccess::kWrite,
        errors::InvalidArgument(
            "{} reads {} before anything has written it. Write it first, or mark it as given.",
            describe_step(used.front().step), describe_buffer(b)));
    PHI_CHECK(
        !keep(b) || !used.empty(),
        errors::InvalidArgument("{} is marked to be kept, but is not given and no step writes it.",
                                describe_buffer(b)));
  }
}

int64_t ProgramIndex::operand_bytes(int32_t step) const {
  int64_t bytes = 0;
  for (const SwapOperand& operand : operands(step)) bytes += size(operand.buffer);
  return bytes;
}

std::string ProgramIndex::describe_step(int32_t step) const {
  return fmt::format("step {} ({})", step, program_.steps[static_cast<size_t>(step)].name);
}

std::string ProgramIndex::describe_buffer(SwapBufferId buffer) const {
  if (is_scratch(buffer)) return "scratch";
  return fmt::format("buffer {} ({})", buffer, info(buffer).name);
}

}  // namespace phi::memory
