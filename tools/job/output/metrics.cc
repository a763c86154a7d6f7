// Writing of metrics.
#include "tools/job/output/metrics.h"

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi::job {

Metrics::Metrics(const std::string& path) {
  if (path.empty()) return;
  out_.open(path, std::ios::app);
  PHI_CHECK(out_.is_open(),
            errors::Unavailable("cannot write the metrics '{}': {}.", path, std::strerror(errno)));
}

void Metrics::write(int64_t step, const training::StepResult& result, const Progress& progress) {
  if (!out_.is_open()) return;
  const MemoryStats memory = memory_stats(Tier::kDevice);
  const nlohmann::ordered_json line = {{"step", step},
                                       {"loss", result.loss},
                                       {"lr", result.learning_rate},
                                       {"grad_norm", result.grad_norm},
                                       {"loss_scale", result.loss_scale},
                                       {"applied", result.applied},
                                       {"seconds", progress.last_step_seconds()},
                                       {"tokens_per_s", progress.tokens_per_s(step)},
                                       {"tensor_bytes", memory.current},
                                       {"peak_tensor_bytes", memory.peak}};
  out_ << line.dump() << std::endl;  // flushed: somebody may be watching
}

}  // namespace phi::job
