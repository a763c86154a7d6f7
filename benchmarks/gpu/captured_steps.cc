// Rows of a training step of the GPT of examples/gpt_train.yaml, captured, which the GPU is given
// as one graph.
//
// Its gaps, the time in which no kernel runs: the same program at sizes at which kernels have
// nothing to compute has as many of them, and its time is what passes from one to the next. An
// empty kernel takes some of that itself, so the share of the gaps is that of this time at most.
// Steps are queued one behind the other, so both are times of the GPU.
#include "benchmarks/gpu/measurement.h"
#include "benchmarks/gpu/stopwatch.h"
#include "benchmarks/gpu/training.h"

namespace phi::gpu_bench {
namespace {

constexpr double kMostHostMicroseconds = 20;

TrainingSetting setting_of(const nn::models::GptConfig& model) {
  return {.model = model, .batch = 8, .micro_batches = 4};
}

nn::models::GptConfig gpt(const Extent& extent) {
  if (!extent.is_tiny) return {};  // the example's
  return {.vocab = 16, .seq_len = 8, .d_model = 16, .layers = 2, .heads = 2, .hidden = 32};
}

// As many layers, and nothing in them.
nn::models::GptConfig emptied(const nn::models::GptConfig& model) {
  const int64_t width = 8 * model.heads;
  return {.vocab = 16,
          .seq_len = 4,
          .d_model = width,
          .layers = model.layers,
          .heads = model.heads,
          .hidden = width};
}

}  // namespace

void measure_captured_steps(const Place& place, const Extent& extent, const AddMeasurement& add) {
  const Stopwatch stopwatch(place, extent);
  Training captured(setting_of(gpt(extent)), Training::kCaptured);
  Training called(setting_of(gpt(extent)), Training::kCalled);
  Training empty(setting_of(emptied(gpt(extent))), Training::kCaptured);
  const auto step = [&] { captured.step(); };

  Measurement host{.what = "host time of a captured step", .beside = "20 us", .goal = 1};
  host.beside_us = kMostHostMicroseconds;
  host.ours_us = stopwatch.idle_host_seconds(step) * 1e6;
  host.ratio = host.beside_us / host.ours_us;
  add(host);

  const Comparison eager = stopwatch.compare(step, [&] { called.step(); });
  add({.what = "a captured step of a GPT",
       .beside = "the step call by call",
       .goal = 3,
       .ours_us = eager.ours * 1e6,
       .beside_us = eager.theirs * 1e6,
       .ratio = eager.ratio});

  const Comparison gaps = stopwatch.compare(step, [&] { empty.step(); });
  add({.what = "a captured step of a GPT",
       .beside = "itself without gaps between kernels",
       .goal = 0.95,
       .ours_us = gaps.ours * 1e6,
       .beside_us = (gaps.ours - gaps.theirs) * 1e6,
       .ratio = 1 - gaps.ratio});
}

}  // namespace phi::gpu_bench
