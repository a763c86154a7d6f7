// The step that is written is the step that is read; what else is there is no step.
#include "distributed/supervise/status_file.h"

#include <glog/logging.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>

#include "support/error_matchers.h"

namespace phi::distributed::supervise {
namespace {

std::string path_of(const std::string& name) {
  return ::testing::TempDir() + "status_file_" + std::to_string(getpid()) + name;
}

TEST(StatusFile, IsReadWhileItIsWritten) {
  const std::string path = path_of("a");
  StatusFile status(path);
  EXPECT_EQ(read_status(path), std::nullopt) << "no step yet";
  for (const int64_t step : {1, 137, 138, 12345678, 2}) {
    status.write(step);
    EXPECT_EQ(read_status(path), step);
  }
  std::remove(path.c_str());
  EXPECT_EQ(read_status(path), std::nullopt);
}

/// What is logged while it lives.
class Log : public google::LogSink {
 public:
  Log() { google::AddLogSink(this); }
  ~Log() override { google::RemoveLogSink(this); }
  void send(google::LogSeverity /*severity*/, const char* /*path*/, const char* /*file*/,
            int /*line*/, const google::LogMessageTime& /*time*/, const char* words,
            size_t length) override {
    text.append(words, length).append("\n");
  }
  std::string text;
};

TEST(StatusFile, TellsOnceThatAStepCannotBeWritten) {
  const std::string path = path_of("full");
  StatusFile status(path);
  status.write(1);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit none{.rlim_cur = 0, .rlim_max = old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  const Log log;
  status.write(2);
  status.write(3);
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, before);
  EXPECT_NE(log.text.find("cannot be updated to step 2: File too large"), std::string::npos)
      << log.text;
  EXPECT_EQ(log.text.find("step 3"), std::string::npos) << log.text;
  std::remove(path.c_str());
}

TEST(StatusFile, WithoutANameNothingIsWritten) { StatusFile("").write(1); }

TEST(StatusFile, OtherTextIsNoStep) {
  const std::string path = path_of("b");
  for (const char* text : {"", "step", "step x", "stop 3", "step 0", "step -1"}) {
    std::ofstream(path) << text;
    EXPECT_EQ(read_status(path), std::nullopt) << text;
  }
  std::remove(path.c_str());
}

TEST(StatusFile, TakesNoPlaceOfWhatIsNoFile) {
  const std::string fifo = path_of("fifo");
  mkfifo(fifo.c_str(), 0600);
  EXPECT_THAT([&] { StatusFile{fifo}; }, ThrowsError(ErrorCode::kUnavailable, "'" + fifo + "'"));
  EXPECT_THAT(
      [] { StatusFile{"/dev/null"}; },
      ThrowsError(ErrorCode::kInvalidArgument, "'/dev/null' exists and is not a regular file"));
  EXPECT_THAT([] { StatusFile{"/nowhere/status"}; },
              ThrowsError(ErrorCode::kUnavailable, "No such file or directory"));
  std::remove(fifo.c_str());
}

}  // namespace
}  // namespace phi::distributed::supervise
