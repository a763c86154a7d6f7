// Signals are noted once, and mean again what they did when nobody watches.
#include "phi/common/process/signal_watch.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace phi {
namespace {

TEST(SignalWatch, NotesWhatHasCome) {
  SignalWatch signals;
  EXPECT_EQ(signals.stop(), 0);
  EXPECT_FALSE(signals.take_save());
  std::raise(SIGUSR1);
  EXPECT_EQ(signals.stop(), 0);
  EXPECT_TRUE(signals.take_save());
  EXPECT_FALSE(signals.take_save());
  std::raise(SIGTERM);
  EXPECT_EQ(signals.stop(), SIGTERM);
  EXPECT_EQ(signals.stop(), SIGTERM) << "it is not forgotten";
}

TEST(SignalWatch, SignalsThatAskToStop) {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR2}) {
    SignalWatch signals;
    std::raise(signal);
    EXPECT_EQ(signals.stop(), signal);
  }
}

TEST(SignalWatch, MayCountThemInstead) {
  SignalWatch signals(SignalWatch::Second::kNoted);
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(signals.stops(), n);
    std::raise(SIGTERM);
  }
  EXPECT_EQ(signals.stop(), SIGTERM);
}

TEST(SignalWatch, AnotherWatchBeginsAnew) {
  {
    SignalWatch signals;
    std::raise(SIGINT);
    std::raise(SIGUSR1);
    EXPECT_EQ(signals.stop(), SIGINT);
  }
  SignalWatch signals;
  EXPECT_EQ(signals.stop(), 0);
  EXPECT_FALSE(signals.take_save());
}

TEST(SignalWatch, SeveralShareWhatHasCome) {
  SignalWatch first;
  {
    SignalWatch second;
    std::raise(SIGTERM);
    EXPECT_EQ(first.stop(), SIGTERM);
    EXPECT_EQ(second.stop(), SIGTERM);
  }
  std::raise(SIGUSR1);
  EXPECT_TRUE(first.take_save()) << "it watches still";
}

TEST(SignalWatchDeathTest, TheSecondRequestToStopIsObeyedAtOnce) {
  EXPECT_EXIT(
      {
        const SignalWatch signals;
        std::raise(SIGTERM);
        std::raise(SIGTERM);
        std::_Exit(0);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST(SignalWatch, TheSecondRequestMeansWhatItDidBefore) {
  static int handled = 0;
  const auto before = std::signal(SIGINT, [](int) { ++handled; });
  {
    SignalWatch signals;
    std::raise(SIGINT);
    EXPECT_EQ(handled, 0);
    std::raise(SIGINT);
    EXPECT_EQ(handled, 1);
    EXPECT_EQ(signals.stop(), SIGINT);
  }
  std::signal(SIGINT, before);
}

TEST(SignalWatchDeathTest, SignalsMeanWhatTheyDidBefore) {
  EXPECT_EXIT(
      {
        { const SignalWatch signals; }
        std::raise(SIGUSR1);
        std::_Exit(0);
      },
      ::testing::KilledBySignal(SIGUSR1), "");
}

}  // namespace
}  // namespace phi
