// Shortens the pipeline stages of other ranks, so that a rank is recorded faster.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/job/config/config.h"

namespace phi::job {

/// Whether each row applies to all layers of a model or to none.
bool treats_layers_alike(const nn::Layout& placements);

struct ShortenedJob {
  JobConfig config;
  std::vector<int64_t> links;  // of the whole job's model, by link of this one's
};

/// A job in which `rank` launches, sends and holds the same, but other stages have one layer in
/// each chunk: of other stages a rank does nothing, and knows the placements of their ends. Nothing
/// if the job has no such layers, or if they may differ: kinds of models of a library, placements
/// that name layers, a captured step.
std::optional<ShortenedJob> shorten_other_stages(const JobConfig& config, int64_t rank);

}  // namespace phi::job
