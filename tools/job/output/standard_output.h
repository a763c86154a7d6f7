// StandardOutput: what std::cout writes to while a job runs. Progress that nobody reads any more
// (`| head`), or that a full disk does not take, is no reason to lose a run: it is told once on
// standard error, and the job goes on. Who prints what the job is for asks std::cout's state.
#pragma once

#include <streambuf>
#include <string>

namespace phi::job {

class StandardOutput : private std::streambuf {
 public:
  StandardOutput();
  /// std::cout is as it was.
  ~StandardOutput() override;
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  /// Why something was not written; empty: all was, or whoever read it has gone.
  std::string fault() const;

 private:
  int_type overflow(int_type byte) override;
  std::streamsize xsputn(const char* bytes, std::streamsize count) override;
  int sync() override;

  std::streambuf* outer_;
  std::string waiting_;
  int reason_ = 0;
};

/// For main. Standard input, output and error that whoever started the process has closed lead to
/// nowhere from now on, and not into the next files that it opens; writing beyond the limit of a
/// file's size is an error of the write, and no signal that ends the process.
void prepare_streams();

/// The same of writing to a pipe that nobody reads any more.
void take_closed_pipes_as_errors();

}  // namespace phi::job
