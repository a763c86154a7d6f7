// StandardOutput: the buffer of std::cout while a job runs. If progress can no longer be written,
// because the reader has gone (`| head`) or the disk is full, the job continues and the failure is
// reported once on standard error. Code that prints the job's results must check std::cout's state.
#pragma once

#include <streambuf>
#include <string>

namespace phi::job {

class StandardOutput : private std::streambuf {
 public:
  StandardOutput();
  /// Restores std::cout.
  ~StandardOutput() override;
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  /// Why something was not written; empty if all was written or the reader has gone.
  std::string fault() const;

 private:
  int_type overflow(int_type byte) override;
  std::streamsize xsputn(const char* bytes, std::streamsize count) override;
  int sync() override;

  std::streambuf* outer_;
  std::string waiting_;
  int reason_ = 0;
};

/// Call it in main. If the parent process has closed standard input, output or error, they are
/// redirected to /dev/null, so that files opened later do not get their descriptors. Exceeding the
/// file size limit becomes an error of the write instead of a signal that ends the process.
void prepare_streams();

/// The same for writes to a pipe without a reader.
void ignore_sigpipe();

}  // namespace phi::job
