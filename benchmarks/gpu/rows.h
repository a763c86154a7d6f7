// What is measured on a GPU, row by row: calls of ours, each beside what bounds it on the same GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "phi/common/place.h"

namespace phi::gpu_bench {

struct Row {
  std::string what;
  std::string beside;  // what the ratio is to
  double goal = 0;     // of the ratio; 0: none is set
  double ours_us = 0, beside_us = 0;
  double ratio = 0;
  /// Why there are no figures, where there are none.
  std::string note = {};
  /// What another program is to be given to do the same; the ratio is to what that takes.
  std::map<std::string, int64_t> sizes = {};
};

/// Takes a row when it is measured: those before an error count.
using AddRow = std::function<void(const Row&)>;

/// How large the arrays are, and how often calls are repeated: once with tiny ones, whose times say
/// nothing.
struct Extent {
  bool is_tiny = false;

  int64_t of(int64_t full, int64_t tiny) const { return is_tiny ? tiny : full; }
};

/// Products of square matrices through the operator, beside cuBLASLt called directly. `peak`: the
/// most operations per second that a product of bfloat16 reached.
void product_rows(const Place& place, const Extent& extent, double* peak, const AddRow& add);
/// Operators that memory bounds, beside a copy that reads and writes as many bytes as they must.
void memory_rows(const Place& place, const Extent& extent, const AddRow& add);
/// Attention, beside `peak`.
void attention_rows(const Place& place, const Extent& extent, double peak, const AddRow& add);
/// Messages between all GPUs of the machine, beside NCCL called directly.
void message_rows(const Extent& extent, const AddRow& add);
/// What operators cost the host.
void host_rows(const Place& place, const Extent& extent, const AddRow& add);

// Of whole steps.
/// A captured training step: its host time, beside the same step called, and without its gaps.
void step_rows(const Place& place, const Extent& extent, const AddRow& add);
/// A program whose parameters do not fit, beside copies of what it moves.
void swap_rows(const Place& place, const Extent& extent, const AddRow& add);
/// A training step of a large model, for another program to stand beside.
void llama_rows(const Place& place, const Extent& extent, const AddRow& add);

}  // namespace phi::gpu_bench
