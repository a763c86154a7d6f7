// The pool's limit is hard, and blocks are reused within it.
#include "phi/memory/engine/host_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace phi::memory {
namespace {

TEST(HostPool, MoreThanTheLimit_IsAnErrorThatSaysWhatIsHeld) {
  HostPool pool(8192);
  const HostBlock first = pool.take(5000);
  EXPECT_EQ(first.size(), 8192U);
  EXPECT_THAT([&] { pool.take(1); }, ThrowsError(ErrorCode::kResourceExhausted,
                                                 "over the limit of 8192; 8192 are allocated"));
}

TEST(HostPool, ABlockGivenBack_ServesTheNextOfItsSize) {
  HostPool pool(8192);
  HostBlock first = pool.take(4096);
  std::byte* data = first.data();
  pool.give_back(std::move(first));
  EXPECT_EQ(pool.take(4096).data(), data);
  EXPECT_EQ(pool.peak_bytes(), 4096);
}

TEST(HostPool, SpareBlocksMakeWayForOtherSizes) {
  HostPool pool(8192);
  pool.give_back(pool.take(4096));
  EXPECT_EQ(pool.take(8192).size(), 8192U);
  EXPECT_EQ(pool.peak_bytes(), 8192);
}

class CountedEvent final : public QueueEvent {
 public:
  explicit CountedEvent(int& waits) : waits_(waits) {}
  void wait() const override { ++waits_; }

 private:
  int& waits_;
};

TEST(HostPool, ABlockThatIsCopiedGoesToTheNextWithThat_AndToTheSystemBehindIt) {
  HostPool pool(8192);
  int waits = 0;
  const auto copied = std::make_shared<const CountedEvent>(waits);
  HostBlock first = pool.take(4096);
  first.set_used_until(copied);
  pool.give_back(std::move(first));
  HostBlock second = pool.take(4096);
  EXPECT_EQ(second.used_until(), copied);
  EXPECT_EQ(waits, 0);
  pool.give_back(std::move(second));
  EXPECT_EQ(pool.take(8192).used_until(), nullptr);
  EXPECT_EQ(waits, 1);
}

}  // namespace
}  // namespace phi::memory
