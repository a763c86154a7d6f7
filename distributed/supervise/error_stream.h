// ErrorStream: forwards a job's standard error, and keeps the line that states why the job failed.
#pragma once

#include <string>

namespace phi::distributed::supervise {

class ErrorStream {
 public:
  /// Reads from `from`, which must not block, and writes to `to`.
  ErrorStream(int from, int to) : from_(from), to_(to) {}

  /// Forwards the available data, as far as `to` accepts it.
  void pass_on();

  /// Whether a rank has printed why it ends ("rank 3: ...").
  bool has_failed() const { return !of_rank_.empty(); }
  /// The first such line of a rank. Otherwise mpirun's line about a failure, or the first line of a
  /// command ("autophi run: ..."), otherwise the last line with words. Cut to the width of a table.
  std::string reason() const;

 private:
  bool takes_more() const;
  void note(const char* text, size_t size);
  void note_line();

  int from_;
  int to_;
  std::string line_{};  // an incomplete line
  std::string of_rank_{};
  std::string of_command_{};  // of the command, or of mpirun
  std::string last_{};
};

}  // namespace phi::distributed::supervise
