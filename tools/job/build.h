// What a job's words mean in the library: its model on its mesh, its trainer's and generator's
// options, its batches.
#pragma once

#include <memory>
#include <vector>

#include "api/data/token_data.h"
#include "api/generation/generator.h"
#include "api/nn/models/decoder.h"
#include "api/training/checkpoint/checkpointer.h"
#include "api/training/trainer.h"
#include "distributed/agreement/agreement.h"
#include "distributed/checkpoint/checkpoint.h"
#include "tools/job/config/config.h"

namespace phi::job {

/// The model, laid out on a mesh whose dims are named dp, pp and tp. With `weights` (or null) its
/// values are those; errors: as Checkpoint::check.
std::unique_ptr<nn::models::Decoder> build_model(
    const JobConfig& config, const distributed::ProcessMesh& mesh,
    const distributed::checkpoint::Checkpoint* weights);

training::TrainerOptions trainer_options(const JobConfig& config);
/// `facts`: of the job (fingerprint()), which every checkpoint keeps.
training::CheckpointerOptions checkpointer_options(const JobConfig& config,
                                                   const distributed::Facts& facts);
/// Text is bytes: of a larger vocab the others are not chosen.
generation::GeneratorOptions generator_options(const JobConfig& config);
/// A text without prompt follows a newline.
std::vector<int64_t> prompt_of(const JobConfig& config);

/// The micro-batches of step `number`, which counts from 1.
std::vector<training::Batch> batches_of(const JobConfig& config, const data::TokenData& data,
                                        int64_t number);

/// The section `memory`.
ProgramMemory program_memory(const MemoryConfig& memory);

/// Makes a job of mode generate what its model is made from: nothing is dropped, however the model
/// was trained. Errors: InvalidArgument if the prompt has more than seq_len bytes.
void settle_generate(JobConfig* config);

}  // namespace phi::job
