// ErrorStream: passes on what a job writes to standard error, and keeps what says why it failed.
#pragma once

#include <string>

namespace phi::distributed::supervise {

class ErrorStream {
 public:
  /// Reads from `from`, which must not block, and writes to `to`.
  ErrorStream(int from, int to) : from_(from), to_(to) {}

  /// Passes on what is there, as far as it is taken.
  void pass_on();

  /// A rank has said why it ends ("rank 3: ...").
  bool has_failed() const { return !of_rank_.empty(); }
  /// The line of the first rank that said so; else what mpirun noticed, or the first line of a
  /// command ("autophi run: ..."), else the last line that has words. Cut to what fits a table.
  std::string reason() const;

 private:
  bool takes_more() const;
  void note(const char* text, size_t size);
  void note_line();

  int from_;
  int to_;
  std::string line_{};  // that has no end yet
  std::string of_rank_{};
  std::string of_command_{};  // or of mpirun
  std::string last_{};
};

}  // namespace phi::distributed::supervise
