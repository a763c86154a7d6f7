// The header of a job.
#include "tools/job/output/header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/job/build.h"

namespace phi::job {
namespace {

std::string generate_header(const JobConfig& config) {
  const generation::SamplerOptions& sampling = config.generate.sampling;
  std::string out =
      fmt::format("{} tokens · temperature {}", config.generate.tokens, sampling.temperature);
  if (sampling.temperature > 0) {
    if (sampling.top_k > 0) out += fmt::format(" · top_k {}", sampling.top_k);
    if (sampling.top_p < 1) out += fmt::format(" · top_p {}", sampling.top_p);
    out += fmt::format(" · seed {}", sampling.seed);
  }
  if (!config.weights.empty()) return out + " · weights " + config.weights + "\n";
  return out + "\nnote: no weights are set, so the model is untrained and its text is random.\n";
}

// " · cut [1, 3] · 2 rows of placements"; empty without.
std::string layout_text(const JobConfig& config) {
  const std::vector<int64_t>& cut = config.pipeline.cut;
  const size_t rows = config.placements.rows().size();
  std::string out;
  if (!cut.empty()) out += fmt::format(" · cut [{}]", fmt::join(cut, ", "));
  if (rows > 0) out += fmt::format(" · {} row{} of placements", rows, rows == 1 ? "" : "s");
  return out;
}

}  // namespace

std::string header(const Setup& setup, const JobReport& report) {
  const JobConfig& config = setup.config;
  std::string out;
  for (const std::string& note : {setup.note, setup.layout_note}) {
    if (!note.empty()) out += note + "\n";
  }
  out +=
      fmt::format("mesh {} · {} process{} · {} {} parameters · {}{}{}\n", config.mesh.to_string(),
                  report.world_size, report.world_size == 1 ? "" : "es", config.model.kind,
                  human_count(report.num_parameters), report.dtype,
                  config.run.sequence_parallel ? " · sequence parallel" : "", layout_text(config));
  if (config.mode == "generate") return out + generate_header(config);
  out += fmt::format("{} · {} micro-batches of {}", report.data.to_string(),
                     config.run.micro_batches, config.run.micro_batch_size());
  if (config.model.takes_images()) return out + " images a step\n";
  return out + fmt::format(" × {} tokens a step\n", items_per_sample(config));
}

}  // namespace phi::job
