// The loss of one micro-batch (docs/models.md).
#pragma once

#include <cstdint>

#include "support/oracle/parameters.h"
#include "support/oracle/text.h"

namespace oracle {

/// `number` counts micro-batches over the whole job, from 0: dropout follows it.
Variable* gpt_loss(Tape* tape, const ModelShape& model, Parameters* parameters, const Batch& batch,
                   uint64_t number);
Variable* llama_loss(Tape* tape, const ModelShape& model, Parameters* parameters,
                     const Batch& batch);
/// The one that model.kind names.
Variable* loss_of(Tape* tape, const ModelShape& model, Parameters* parameters, const Batch& batch,
                  uint64_t number);

}  // namespace oracle
