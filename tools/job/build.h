// Converts a job's config into library objects: the model on its mesh, options of trainer and
// generator, and batches.
#pragma once

#include <memory>
#include <vector>

#include "api/data/sample_data.h"
#include "api/generation/token_generator.h"
#include "api/nn/layers/sequential.h"
#include "api/training/checkpoint/checkpointer.h"
#include "api/training/trainer.h"
#include "distributed/checkpoint/checkpoint.h"
#include "distributed/config_check/config_check.h"
#include "tools/job/config/config.h"

namespace phi::job {

/// The model, sharded over a mesh whose dims are named dp, pp and tp. `weights` are its values;
/// null: initial values.
/// Errors: as Checkpoint::check.
std::unique_ptr<nn::Sequential> build_model(const JobConfig& config,
                                            const distributed::ProcessMesh& mesh,
                                            const distributed::checkpoint::Checkpoint* weights);

training::TrainerOptions trainer_options(const JobConfig& config);
/// `entries` of the job (fingerprint()) are stored in every checkpoint.
training::CheckpointerOptions checkpointer_options(const JobConfig& config,
                                                   const distributed::ConfigEntries& entries);
/// Text consists of bytes, so only the first 256 ids of a larger vocab are sampled.
generation::GeneratorOptions generator_options(const JobConfig& config);
/// The prompt as token ids; without a prompt, a newline.
std::vector<int64_t> prompt_of(const JobConfig& config);

/// The micro-batches of step `number`, counted from 1.
std::vector<training::Batch> batches_of(const JobConfig& config, const data::SampleData& data,
                                        int64_t number);

/// Shape and dtype of a micro-batch of ids or images.
Dims input_shape(const JobConfig& config);
DataType input_dtype(const JobConfig& config);

/// Tokens of a sample, or 1 for an image: what rates and headers count.
int64_t items_per_sample(const JobConfig& config);

/// Converts the section `memory`.
ProgramMemory program_memory(const MemoryConfig& memory);

/// Adjusts a job of mode generate: dropout is off, however the model was trained.
/// Errors: InvalidArgument if the prompt has more than seq_len bytes.
void adjust_for_generate(JobConfig* config);

}  // namespace phi::job
