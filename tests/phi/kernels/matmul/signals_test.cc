// Signals that are noted while products are made change none of them, nor anything else.
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include "phi/common/process/signal_watch.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

/// Sends SIGUSR1 to the thread that makes it until it goes.
class Sender {
 public:
  Sender()
      : thread_([this, to = pthread_self()] {
          while (!done_) {
            pthread_kill(to, SIGUSR1);
            std::this_thread::sleep_for(std::chrono::microseconds(50));
          }
        }) {}
  ~Sender() {
    done_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

/// The same products for a second while signals come: the first result is that of none.
template <typename T>
void expect_the_same_under_signals() {
  constexpr int64_t kSize = 96;
  const GemmShape shape{kSize, kSize, kSize};
  const DenseTensor a = tensor<T>(random_values(kSize * kSize, 1), {kSize, kSize});
  const DenseTensor b = tensor<T>(random_values(kSize * kSize, 2), {kSize, kSize});
  const auto product = [&] {
    std::vector<T> c(kSize * kSize);
    gemm<T>(shape, 1, a.data<T>(), kSize, b.data<T>(), kSize, 0, c.data(), kSize);
    return c;
  };
  const auto same = [](T x, T y) { return static_cast<double>(x) == static_cast<double>(y); };
  const std::vector<T> expected = product();
  SignalWatch signals;
  int64_t products = 0, noted = 0;
  {
    const Sender sender;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    for (; std::chrono::steady_clock::now() < until; ++products) {
      ASSERT_TRUE(std::ranges::equal(product(), expected, same)) << "product " << products;
      if (signals.take_save()) ++noted;
    }
  }
  EXPECT_GT(products, 10);
  EXPECT_GT(noted, 10);
}

TEST(GemmUnderSignals, Float) { expect_the_same_under_signals<float>(); }
TEST(GemmUnderSignals, Double) { expect_the_same_under_signals<double>(); }
TEST(GemmUnderSignals, Bfloat16) { expect_the_same_under_signals<bfloat16>(); }
TEST(GemmUnderSignals, Float16) { expect_the_same_under_signals<float16>(); }

}  // namespace
}  // namespace phi::testing
