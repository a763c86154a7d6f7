// Appends lines to the metrics file.
#include "tools/job/output/metrics.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "tools/job/output/atomic_file.h"
#include "tools/job/output/destination.h"
#include "tools/job/output/write_all.h"

namespace phi::job {
namespace {

constexpr const char* kWhat = "metrics";

int open_to_append(const std::string& path) {
  const Destination destination = destination_of(path, kWhat);
  if (destination.kind != Destination::Kind::kFile) return open_stream(destination, kWhat);
  const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) throw_unwritable(kWhat, path, errno);
  return fd;
}

}  // namespace

Metrics::Metrics(const std::string& path) : path_(path) {
  if (!path.empty()) fd_ = open_to_append(path);
}

Metrics::~Metrics() {
  if (fd_ >= 0) close(fd_);
}

std::string metrics_line(int64_t step, const training::StepResult& result,
                         const training::Progress& progress) {
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
  return line.dump() + "\n";
}

// A partial line would corrupt the next one, and everything that a later run appends.
void Metrics::write(const std::string& line) {
  if (fd_ < 0) return;
  struct stat before {};
  const bool is_file = fstat(fd_, &before) == 0 && S_ISREG(before.st_mode);
  ++lines_;
  const int reason = write_all(fd_, line);
  if (reason == 0) return;
  if (is_file)
    (void)!ftruncate(fd_, before.st_size);  // if this fails, readers detect the partial line
  if (++missing_ > 1) return;
  reason_ = reason;
  fmt::print(stderr, "autophi run: cannot write the metrics '{}': {}; the job continues.\n", path_,
             std::strerror(reason));
}

std::string Metrics::fault() const {
  if (missing_ == 0) return "";
  return fmt::format("the metrics '{}' lack {} of {} steps: {}.", path_, missing_, lines_,
                     std::strerror(reason_));
}

void check_appendable(const std::string& path, const std::string& what) {
  if (access(path.c_str(), F_OK) != 0) return check_writable(path, what);
  destination_of(path, what);  // throws for a folder
  if (access(path.c_str(), W_OK) != 0) throw_unwritable(what, path, errno);
}

}  // namespace phi::job
