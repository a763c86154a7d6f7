// A row of a training step of a Llama of 1.1 billion parameters, captured, in bfloat16 with float32
// master weights. PyTorch takes the same step in a process of its own (benchmarks/torch_on_gpu),
// which reads the sizes here; tools/gpu_check puts the two together.
#include "benchmarks/gpu/measurement.h"
#include "benchmarks/gpu/stopwatch.h"
#include "benchmarks/gpu/training.h"
#include "phi/common/errors.h"

namespace phi::gpu_bench {
namespace {

constexpr double kGoal = 0.9;

// TinyLlama (Zhang et al. 2024, "TinyLlama: an open-source small language model").
nn::models::LlamaConfig llama(const Extent& extent) {
  return {.vocab = extent.of(32000, 16),
          .seq_len = extent.of(2048, 8),
          .d_model = extent.of(2048, 32),
          .layers = extent.of(22, 2),
          .heads = extent.of(32, 4),
          .kv_heads = extent.of(4, 2),
          .ffn = extent.of(5632, 48)};
}

std::map<std::string, int64_t> sizes_of(const nn::models::LlamaConfig& model, int64_t batch) {
  return {{"vocab", model.vocab},     {"seq_len", model.seq_len},
          {"d_model", model.d_model}, {"layers", model.layers},
          {"heads", model.heads},     {"kv_heads", model.kv_heads},
          {"ffn", model.ffn},         {"batch", batch}};
}

}  // namespace

void measure_llama_step(const Place& place, const Extent& extent, const AddMeasurement& add) {
  const nn::models::LlamaConfig model = llama(extent);
  const int64_t batch = extent.of(4, 2);
  Measurement row{
      .what = "a step of a Llama of 1.1B, bfloat16", .beside = "PyTorch", .goal = kGoal};
  row.sizes = sizes_of(model, batch);
  try {
    Training training({.model = model, .dtype = DataType::BFLOAT16, .batch = batch},
                      Training::kCaptured);
    row.ours_us = Stopwatch(place, extent).seconds([&] { training.step(); }) * 1e6;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResourceExhausted) throw;
    row.note = error.what();  // the GPU is a small one
  }
  add(row);
}

}  // namespace phi::gpu_bench
