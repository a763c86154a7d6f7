// What jobs write to standard error: all of it passes, and the line that says why is kept.
#include "distributed/supervise/error_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace phi::distributed::supervise {
namespace {

struct Pipe {
  std::array<int, 2> ends{};
  Pipe() { EXPECT_EQ(pipe2(ends.data(), O_NONBLOCK), 0); }
  ~Pipe() {
    for (const int end : ends) close(end);
  }

  void put(const std::string& text) const {
    EXPECT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string take() const {
    std::string text;
    for (char c = 0; read(ends[0], &c, 1) == 1;) text += c;
    return text;
  }
};

std::string reason_in(const std::string& text) {
  const Pipe from;
  const Pipe to;
  ErrorStream stream(from.ends[0], to.ends[1]);
  from.put(text);
  stream.pass_on();
  EXPECT_EQ(to.take(), text);
  return stream.reason();
}

TEST(ErrorStream, TheFirstRankSaysWhy) {
  EXPECT_EQ(reason_in("W1 warning\nautophi run: x\nrank 12: gone\r\nrank 2: gone too\n---\n"),
            "rank 12: gone");
  EXPECT_EQ(reason_in("autophi run: no such key\nPrimary job terminated\n-----\n"),
            "autophi run: no such key");
  EXPECT_EQ(reason_in("----\nORTE has lost communication.\n\n[a][btl_tcp_frag.c:135] reset\n"),
            "ORTE has lost communication.");
  EXPECT_EQ(reason_in("ORTE was unable\nto reach a machine\n-------\n\n"), "to reach a machine");
  EXPECT_EQ(reason_in(""), "");
}

TEST(ErrorStream, OnlyARankThatSaysWhyHasFailed) {
  for (const auto& [text, failed] : {std::pair("rank 0: x\n", true),
                                     {"rank 0 is slow\n", false},
                                     {"rank: x\n", false},
                                     {" rank 0: x\n", false},
                                     {"rank 0: no end of line", false}}) {
    const Pipe from;
    const Pipe to;
    ErrorStream stream(from.ends[0], to.ends[1]);
    from.put(text);
    stream.pass_on();
    EXPECT_EQ(stream.has_failed(), failed) << text;
  }
}

TEST(ErrorStream, ALineMayComeInPieces) {
  const Pipe from;
  const Pipe to;
  ErrorStream stream(from.ends[0], to.ends[1]);
  for (const char* piece : {"ra", "nk 3: it ", "ended\nrank 4: x"}) {
    from.put(piece);
    stream.pass_on();
  }
  EXPECT_EQ(stream.reason(), "rank 3: it ended");
}

TEST(ErrorStream, WaitsForNoReader) {
  const Pipe from;
  const Pipe to;
  ErrorStream stream(from.ends[0], to.ends[1]);
  const std::string page(4096, 'x');
  int64_t put = 0;
  while (write(to.ends[1], page.data(), page.size()) > 0) put += 1;
  from.put("rank 1: later\n");
  stream.pass_on();
  EXPECT_FALSE(stream.has_failed()) << "it is left where it is";
  EXPECT_EQ(to.take().size(), page.size() * put);
  stream.pass_on();
  EXPECT_EQ(to.take(), "rank 1: later\n");
}

}  // namespace
}  // namespace phi::distributed::supervise
