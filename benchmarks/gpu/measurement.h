// What is measured on a GPU, row by row: calls of ours, each beside what bounds it on the same GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "phi/common/place.h"

namespace phi::gpu_bench {

struct Measurement {
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
using AddMeasurement = std::function<void(const Measurement&)>;

/// How large the arrays are, and how often calls are repeated: once with tiny ones, whose times say
/// nothing.
struct Extent {
  bool is_tiny = false;

  int64_t of(int64_t full, int64_t tiny) const { return is_tiny ? tiny : full; }
};

/// Products of square matrices through the operator, beside cuBLASLt called directly. `peak`: the
/// most operations per second that a product of bfloat16 reached.
void measure_matmuls(const Place& place, const Extent& extent, double* peak,
                     const AddMeasurement& add);
/// Operators that memory bounds, beside a copy that reads and writes as many bytes as they must.
void measure_memory_bound_ops(const Place& place, const Extent& extent, const AddMeasurement& add);
/// Attention, beside `peak`.
void measure_attention(const Place& place, const Extent& extent, double peak,
                       const AddMeasurement& add);
/// Messages between all GPUs of the machine, beside NCCL called directly.
void measure_collectives(const Extent& extent, const AddMeasurement& add);
/// What operators cost the host.
void measure_host_time(const Place& place, const Extent& extent, const AddMeasurement& add);

// Of whole steps.
/// A captured training step: its host time, beside the same step called, and without its gaps.
void measure_captured_steps(const Place& place, const Extent& extent, const AddMeasurement& add);
/// A program whose parameters do not fit, beside copies of what it moves.
void measure_swapping(const Place& place, const Extent& extent, const AddMeasurement& add);
/// A training step of a large model, for another program to compare with.
void measure_llama_step(const Place& place, const Extent& extent, const AddMeasurement& add);

}  // namespace phi::gpu_bench
