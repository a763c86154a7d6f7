// Writes a case for tests/support/compare_stablehlo.py for the steps of small jobs: captured and
// run by us on 8 ranks (threads), and exported with what went in and came out.
//
//   stablehlo_step_cases FOLDER
#include <fmt/format.h>

#include <cstdio>

#include "api/generated/ops/all.h"
#include "api/generated/ops/assign.h"
#include "api/generated/ops/full.h"
#include "api/nn/loss.h"
#include "api/stablehlo/stablehlo.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "tests/api/stablehlo/case_files.h"
#include "tools/job/build.h"
#include "tools/job/export_step.h"

namespace phi::job {
namespace {

using distributed::ProcessMesh;
using testing::StablehloCase;

struct StepCase {
  const char* name;
  const char* job;
  double tolerance;
};

// Whole, on every rank of the job; a copy.
Tensor gathered(const Tensor& x) {
  const NoGrad no_grad;
  if (!x.is_dist()) return assign(x);
  const ProcessMesh everyone({distributed::world_size()}, {"world"});
  return assign(distributed::reshard(x.detach(), everyone, {}).local());
}

void append_gathered(const TensorList& tensors, TensorList& to) {
  for (const Tensor& x : tensors) {
    if (x.defined()) to.push_back(gathered(x));
  }
}

// Tokens that differ from position to position, and those behind them.
TensorList job_inputs(const JobConfig& config, const training::TrainStep& step) {
  const RunConfig& run = config.run;
  const Dims shape{run.micro_batch_size(), config.model.values.size("seq_len")};
  TensorList inputs;
  for (int64_t m = 0; m < run.micro_batches; ++m) {
    std::vector<int64_t> ids(static_cast<size_t>(shape.numel() + 1));
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<int64_t>((i * i + 7 * i + static_cast<size_t>(m)) %
                                    static_cast<size_t>(config.model.values.size("vocab")));
    const std::span<const int64_t> all(ids);
    inputs.push_back(step.place_inputs(Tensor::from(all.first(ids.size() - 1), shape)));
    const Tensor labels = Tensor::from(all.subspan(1), {shape[0], shape[1], 1});
    inputs.push_back(step.place_labels(labels));
  }
  if (config.mode != "train") return inputs;
  inputs.push_back(full({}, 0.01f));
  inputs.push_back(full({}, 3, DataType::INT64));
  return inputs;
}

StablehloCase run_case(const StepCase& c) {
  const JobConfig config = parse_job(c.job, c.name);
  const ProcessMesh mesh(config.mesh.shape, config.mesh.dims);
  const auto model = build_model(config, mesh, /*weights=*/nullptr);
  training::TrainStep step(*model, nn::cross_entropy, trainer_options(config));
  step.fix_draws();
  const TensorList inputs = job_inputs(config, step);
  const Program program = capture([&](const TensorList& in) { return step.run(in); }, inputs);
  StablehloCase out{c.name, export_step(config, step, program), {}, {}, c.tolerance};
  append_gathered(inputs, out.inputs);
  append_gathered(program.parameters(), out.inputs);
  const TensorList constants = program.constants();
  for (const size_t i : input_constants(program)) out.inputs.push_back(gathered(constants[i]));
  append_gathered(program.run(inputs), out.expected);
  const TensorList parameters = program.parameters();
  for (const size_t i : written_parameters(program))
    out.expected.push_back(gathered(parameters[i]));
  return out;
}

constexpr const char* kForward = R"(
mode: forward
model: {kind: gpt, vocab: 256, seq_len: 8, d_model: 16, layers: 4, heads: 4, seed: 3}
mesh: {shape: [2, 2, 2], dims: [dp, pp, tp]}
run: {global_batch: 8, micro_batches: 2, sequence_parallel: true}
)";
constexpr const char* kTrain = R"(
mode: train
model: {kind: gpt, vocab: 256, seq_len: 8, d_model: 16, layers: 4, heads: 4, seed: 3}
mesh: {shape: [2, 2, 2], dims: [dp, pp, tp]}
run: {global_batch: 8, micro_batches: 2, zero_stage: 1}
optimizer: {kind: adamw, eps: 1.0e-3, grad_clip: 0.1}
)";
constexpr const char* kDropout = R"(
mode: train
model: {kind: gpt, vocab: 256, seq_len: 8, d_model: 16, layers: 2, heads: 4, dropout: 0.2, seed: 3}
mesh: {shape: [4, 2], dims: [dp, tp]}
run: {global_batch: 8, micro_batches: 1, zero_stage: 2, recompute: full}
optimizer: {kind: adamw, eps: 1.0e-3, grad_clip: 0.0}
)";
constexpr const char* kLlama = R"(
mode: train
model: {kind: llama, vocab: 256, seq_len: 8, d_model: 16, layers: 2, heads: 4, kv_heads: 2, ffn: 24, seed: 3}
mesh: {shape: [2, 2, 2], dims: [dp, pp, tp]}
run: {global_batch: 8, micro_batches: 2, zero_stage: 1, sequence_parallel: true}
optimizer: {kind: adamw, eps: 1.0e-3, grad_clip: 0.1}
)";
constexpr const char* kBfloat16 = R"(
mode: train
model: {kind: gpt, vocab: 256, seq_len: 8, d_model: 16, layers: 2, heads: 4, seed: 3}
mesh: {shape: [4, 2], dims: [dp, tp]}
run: {global_batch: 8, micro_batches: 1, zero_stage: 3, dtype: bfloat16}
optimizer: {kind: adamw, eps: 1.0e-3, grad_clip: 1.0}
)";

// A large eps: with a small one an element whose gradient nearly cancels moves by its sign, that is
// by rounding.
constexpr StepCase kCases[] = {
    {"gpt_forward", kForward, 1e-5},
    {"gpt_train", kTrain, 1e-5},
    {"gpt_train_dropout", kDropout, 2e-5},  // AdamW divides by the roots of small gradients
    {"llama_train", kLlama, 1e-5},
    {"gpt_train_bfloat16", kBfloat16, 0.1},  // ranks add gradients of 8 bits up in their own order,
};

void write_all(const char* folder) {
  for (const StepCase& c : kCases) {
    distributed::run_ranks(8, [&](distributed::World& world) {
      const StablehloCase result = run_case(c);
      if (world.rank() == 0) testing::write_case(folder, result);
    });
  }
}

}  // namespace
}  // namespace phi::job

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  phi::job::write_all(argv[1]);
  return 0;
}
