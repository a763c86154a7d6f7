// TensorBoardWriter: a Python process that writes a job's metrics to event files.
//
//   TensorBoardWriter events("runs/a");
//   events.write(metrics);            // a line of metrics_line
//   note_fault(events.finish());
#pragma once

#include <optional>
#include <string>

#include "distributed/supervise/child_process.h"

namespace phi::job {

class TensorBoardWriter {
 public:
  /// An empty folder starts and writes nothing. Errors: NotFound if --python cannot be started.
  explicit TensorBoardWriter(const std::string& folder);
  ~TensorBoardWriter();
  TensorBoardWriter(const TensorBoardWriter&) = delete;
  TensorBoardWriter& operator=(const TensorBoardWriter&) = delete;

  /// Sends a line of metrics. Lines after one that cannot be sent are dropped.
  void write(const std::string& line);

  /// Waits until all lines are written, at most a minute. Returns why some are not; empty if all
  /// are.
  std::string finish();

 private:
  void close_pipe();

  std::string folder_;
  int pipe_ = -1;
  bool broken_ = false;
  std::optional<distributed::supervise::ChildProcess> child_;
};

/// Finds out whether event files can be written to the folder, which is made if it is missing.
/// Errors: Unavailable, with what Python reports and the command that installs the packages.
void check_tensorboard(const std::string& folder);

}  // namespace phi::job
