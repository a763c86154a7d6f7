#include "phi/common/process/interruption.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace phi {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("asked to end") {}
};

int times_asked = 0;

// Nothing is asked when the test has ended.
class Interruption : public ::testing::Test {
 protected:
  void SetUp() override { times_asked = 0; }
  void TearDown() override { set_interruption_handler(nullptr); }
};

TEST_F(Interruption, NobodyIsAskedAtFirst) {
  for (const auto end = Clock::now() + 120ms; Clock::now() < end;) poll_interruption();
  EXPECT_EQ(times_asked, 0);
}

TEST_F(Interruption, AsksEverySoOften) {
  set_interruption_handler([] { ++times_asked; });
  const auto begin = Clock::now();
  while (Clock::now() - begin < 500ms) poll_interruption();
  const auto took = Clock::now() - begin;
  EXPECT_GE(times_asked, 2);
  EXPECT_LE(times_asked, took / 50ms + 1);
}

TEST_F(Interruption, WhatIsThrownComesOut) {
  set_interruption_handler([] { throw Interrupted(); });
  const auto work = [] {
    for (const auto end = Clock::now() + 20s; Clock::now() < end;) poll_interruption();
  };
  EXPECT_THROW(work(), Interrupted);
  EXPECT_THROW(work(), Interrupted) << "it is asked again";
}

TEST_F(Interruption, EachThreadIsAsked) {
  static thread_local int here = 0;
  set_interruption_handler([] { ++here; });
  std::this_thread::sleep_for(60ms);
  poll_interruption();
  EXPECT_EQ(here, 1);
  int there = 0;
  std::thread([&] {
    poll_interruption();
    there = here;
  }).join();
  EXPECT_EQ(there, 1);
  EXPECT_EQ(here, 1);
}

}  // namespace
}  // namespace phi
