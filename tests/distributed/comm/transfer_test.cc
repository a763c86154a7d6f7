// Transfers on every backend: many under way at once, in all directions, waited for in any order,
// between calls of all kinds. Runs on threads and under mpirun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/host_array.h"
#include "support/group_calls.h"
#include "support/rank_launcher.h"

namespace phi::distributed {
namespace {

using testing::GroupCalls;
using testing::on_all_communicators;
using Clock = std::chrono::steady_clock;

std::vector<std::byte> values(int64_t seed, size_t bytes) {
  std::vector<std::byte> out(bytes);
  for (size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<std::byte>(uint64_t(seed) * 31 + i + i / 256);
  return out;
}

// What a transfer reads and writes, where the world's arrays lie; its values are made of `seed`.
class Parcel {
 public:
  Parcel(Device& device, int64_t seed, size_t bytes_out, size_t bytes_in)
      : device_(device), out_(device, bytes_out), in_(device, bytes_in), in_bytes_(bytes_in) {
    const auto sent = values(seed, bytes_out);
    if (bytes_out > 0) device.copy_from_host(out_.data(), sent.data(), bytes_out);
    send_ = {0, out_.data(), bytes_out};
    recv_ = {0, in_.data(), bytes_in};
  }
  Send send_to(int64_t peer) const { return {peer, send_.data, send_.bytes}; }
  Recv receive_from(int64_t peer) const { return {peer, recv_.data, recv_.bytes}; }
  // What has arrived.
  std::vector<std::byte> in() const {
    std::vector<std::byte> here(in_bytes_);
    if (in_bytes_ > 0) device_.copy_to_host(here.data(), in_.data(), in_bytes_);
    return here;
  }

 private:
  Device& device_;
  DeviceMemory out_, in_;
  size_t in_bytes_;
  Send send_;
  Recv recv_;
};

std::shared_ptr<Parcel> parcel(Communicator& communicator, int64_t seed, size_t bytes_out,
                               size_t bytes_in) {
  return std::make_shared<Parcel>(communicator.device(), seed, bytes_out, bytes_in);
}

// Sends what the parcel has to `to` and fills it from `from`; a position of -1: nothing.
Transfer start(Group& group, const std::shared_ptr<Parcel>& p, int64_t to, int64_t from) {
  std::vector<Send> sends;
  std::vector<Recv> recvs;
  if (to >= 0) sends.push_back(p->send_to(to));
  if (from >= 0) recvs.push_back(p->receive_from(from));
  return group.start_exchange(sends, recvs, p);
}

bool comes_true(const std::function<bool()>& condition) {
  const auto until = Clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (Clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

// Of message `i`: from 1 byte to 8 MiB, small and large ones mixed; few are the largest.
size_t size_of_message(int i) { return size_t{1} << (i % 32 == 9 ? 23 : i * 7 % 20); }

TEST(Transfer, SixtyFourUnderWay_WaitedForInAnotherOrder) {
  on_all_communicators([](Communicator& communicator) {
    constexpr int kCount = 64;
    Group& group = communicator.everyone();
    const int64_t n = group.size();
    const int64_t next = (group.position() + 1) % n;
    const int64_t previous = (group.position() + n - 1) % n;
    std::vector<std::shared_ptr<Parcel>> parcels;
    std::vector<Transfer> transfers;
    for (int i = 0; i < kCount; ++i) {
      const size_t bytes = size_of_message(i);
      parcels.push_back(parcel(communicator, group.position() * 100 + i, bytes, bytes));
      transfers.push_back(start(group, parcels.back(), next, previous));
    }
    std::vector<int> order(kCount);
    for (int i = 0; i < kCount; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937(unsigned(group.position())));
    for (int i : order) {
      transfers[i].wait();
      ASSERT_TRUE(parcels[i]->in() == values(previous * 100 + i, size_of_message(i))) << i;
    }
    EXPECT_EQ(communicator.transfers_in_flight(), 0u);
  });
}

// The program of a pipeline, the same on every rank: activations go up, gradients come down. A rank
// posts its part of each and waits only where it needs the value.
TEST(Transfer, ActivationsUpAndGradientsDown) {
  on_all_communicators([](Communicator& communicator) {
    constexpr int kBatches = 6;
    constexpr size_t kBytes = 200'000;
    const int64_t rank = communicator.rank();
    const auto hop = [&](int batch, int64_t from, int64_t to) -> std::shared_ptr<Parcel> {
      const int64_t pair[] = {from, to};
      if (rank != from && rank != to) return nullptr;
      auto p = parcel(communicator, batch * 10 + from, rank == from ? kBytes : 0,
                      rank == to ? kBytes : 0);
      const Transfer t =
          start(communicator.group(pair), p, rank == from ? 1 : -1, rank == to ? 0 : -1);
      if (rank == to) t.wait();
      return p;
    };
    for (int step = 0; step < 2 * kBatches; ++step) {  // forward of one with backward of another
      for (int64_t stage = 0; stage + 1 < communicator.size(); ++stage) {
        const auto up = hop(step, stage, stage + 1);
        const auto down = hop(step + 50, stage + 1, stage);
        if (rank == stage + 1) {
          EXPECT_TRUE(up->in() == values(step * 10 + stage, kBytes));
        }
        if (rank == stage) {
          EXPECT_TRUE(down->in() == values((step + 50) * 10 + stage + 1, kBytes));
        }
      }
    }
    communicator.everyone().barrier();
    EXPECT_TRUE(comes_true([&] { return communicator.transfers_in_flight() == 0; }));
  });
}

TEST(Transfer, BetweenCollectivesOfTheSameAndOfOtherGroups) {
  on_all_communicators([](Communicator& communicator) {
    Group& all = communicator.everyone();
    const int64_t n = all.size();
    std::vector<int64_t> turned(all.ranks().rbegin(), all.ranks().rend());
    Group& other = communicator.group(turned);
    std::vector<std::shared_ptr<Parcel>> parcels;
    std::vector<Transfer> transfers;
    for (int i = 0; i < 12; ++i) {
      Group& group = i % 3 == 0 ? other : all;
      const int64_t next = (group.position() + 1) % n;
      const int64_t previous = (group.position() + n - 1) % n;
      parcels.push_back(parcel(communicator, communicator.rank() * 40 + i, size_of_message(i),
                               size_of_message(i)));
      transfers.push_back(start(group, parcels.back(), next, previous));
      int64_t sum = communicator.rank();
      GroupCalls(communicator, i % 2 == 0 ? all : other)
          .all_reduce(&sum, 1, DataType::INT64, ReduceKind::kSum);
      ASSERT_EQ(sum, n * (n - 1) / 2);
      int32_t value = static_cast<int32_t>(all.position() * 7 + i);
      GroupCalls(communicator, all).broadcast(&value, 1, DataType::INT32, n - 1);
      ASSERT_EQ(value, (n - 1) * 7 + i);
    }
    for (int i = 11; i >= 0; --i) {
      transfers[i].wait();
      const Group& group = i % 3 == 0 ? other : all;
      const int64_t previous = group.ranks()[(group.position() + n - 1) % n];
      EXPECT_TRUE(parcels[i]->in() == values(previous * 40 + i, size_of_message(i))) << i;
    }
  });
}

// Two groups of the same ranks; one rank starts on the first first, the other on the second. Not
// between GPUs, where it is an error (nccl_failure_test.cc).
TEST(Transfer, GroupsAreStartedInDifferentOrders) {
  on_all_communicators([](Communicator& communicator) {
    if (communicator.size() < 2 || communicator.rank() > 1 || !communicator.device().is_host())
      return;
    const int64_t up[] = {0, 1};
    const int64_t down[] = {1, 0};
    Group* const groups[] = {&communicator.group(up), &communicator.group(down)};
    for (size_t bytes : {8, 1 << 20}) {
      std::shared_ptr<Parcel> parcels[2];
      Transfer transfers[2];
      for (int64_t turn : {communicator.rank(), 1 - communicator.rank()}) {
        Group& group = *groups[turn];
        parcels[turn] = parcel(communicator, communicator.rank() * 10 + turn, bytes, bytes);
        transfers[turn] = start(group, parcels[turn], 1 - group.position(), 1 - group.position());
      }
      for (int64_t turn : {1, 0}) {
        transfers[turn].wait();
        EXPECT_TRUE(parcels[turn]->in() == values((1 - communicator.rank()) * 10 + turn, bytes));
      }
    }
  });
}

// Too large to be stored on the way: it moves while its sender waits for something else, which its
// receiver sends only when it has it.
TEST(Transfer, ALargeOneMovesWhileItsSenderWaitsInALaterCall) {
  on_all_communicators([](Communicator& communicator) {
    constexpr size_t kBytes = size_t{4} << 20;
    if (communicator.size() < 2 || communicator.rank() > 1) return;
    const int64_t pair[] = {0, 1};
    Group& group = communicator.group(pair);
    const bool sender = communicator.rank() == 0;
    auto p = parcel(communicator, 3, sender ? kBytes : 0, sender ? 0 : kBytes);
    const Transfer t = start(group, p, sender ? 1 : -1, sender ? -1 : 0);
    if (!sender) {
      t.wait();
      EXPECT_TRUE(p->in() == values(3, kBytes));
    }
    char answer = 0;
    const Send send{0, &answer, 1};
    const Recv recv{1, &answer, 1};
    GroupCalls(communicator, group)
        .exchange(sender ? std::span<const Send>() : std::span(&send, 1),
                  sender ? std::span(&recv, 1) : std::span<const Recv>());
    EXPECT_TRUE(comes_true([&] { return t.done(); }));
  });
}

// The other way round: its receiver waits for something else, which the sender sends only when the
// large one has left it.
TEST(Transfer, ALargeOneMovesWhileItsReceiverWaitsInALaterCall) {
  on_all_communicators([](Communicator& communicator) {
    constexpr size_t kBytes = size_t{4} << 20;
    if (communicator.size() < 2 || communicator.rank() > 1) return;
    const int64_t pair[] = {0, 1};
    Group& group = communicator.group(pair);
    const bool sender = communicator.rank() == 0;
    auto p = parcel(communicator, 3, sender ? kBytes : 0, sender ? 0 : kBytes);
    const Transfer t = start(group, p, sender ? 1 : -1, sender ? -1 : 0);
    if (sender) t.wait();
    group.barrier();
    t.wait();
    if (sender) return;
    EXPECT_TRUE(p->in() == values(3, kBytes));
  });
}

TEST(Transfer, ALongComputationOnlyDelays) {
  on_all_communicators([](Communicator& communicator) {
    constexpr size_t kBytes = size_t{4} << 20;
    Group& group = communicator.everyone();
    const int64_t n = group.size();
    const int64_t previous = (group.position() + n - 1) % n;
    auto p = parcel(communicator, communicator.rank(), kBytes, kBytes);
    const Transfer t = start(group, p, (group.position() + 1) % n, previous);
    if (communicator.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    t.wait();
    EXPECT_TRUE(p->in() == values(previous, kBytes));
  });
}

TEST(Transfer, LookingIsEnoughToGetItDone) {
  on_all_communicators([](Communicator& communicator) {
    Group& group = communicator.everyone();
    const int64_t n = group.size();
    const int64_t previous = (group.position() + n - 1) % n;
    auto p = parcel(communicator, communicator.rank(), 1 << 20, 1 << 20);
    const Transfer t = start(group, p, (group.position() + 1) % n, previous);
    EXPECT_TRUE(comes_true([&] { return t.done(); }));
    EXPECT_TRUE(p->in() == values(previous, 1 << 20));
    t.wait();
    t.wait();
  });
}

TEST(Transfer, WithoutMessagesIsDone) {
  on_all_communicators([](Communicator& communicator) {
    EXPECT_TRUE(Transfer().done());
    Transfer().wait();
    EXPECT_TRUE(communicator.everyone().start_exchange({}, {}, nullptr).done());
    EXPECT_EQ(communicator.transfers_in_flight(), 0u);
  });
}

// The receiver comes late; the sender has dropped the handle and all that it had of the tensor.
TEST(Transfer, ADroppedOneKeepsItsBytesUntilTheyAreSent_AndNoLonger) {
  on_all_communicators([](Communicator& communicator) {
    if (communicator.size() < 2 || communicator.rank() > 1) return;
    const int64_t pair[] = {0, 1};
    const int64_t turned[] = {1, 0};
    Group& group = communicator.group(pair);
    Group& turn = communicator.group(turned);
    const TensorMeta meta{{1 << 20}, DataType::FLOAT32};
    const int64_t before = memory_stats(communicator.device().place()).current;
    if (communicator.rank() == 0) {
      for (int i = 0; i < 3; ++i) {
        auto x =
            std::make_shared<DenseTensor>(DenseTensor::empty(meta, communicator.device().place()));
        HostArray values_of_x(*x, HostArray::kWrite);
        std::fill_n(reinterpret_cast<float*>(values_of_x.data()), x->numel(), float(i));
        values_of_x.finish();
        const Send send{1, x->raw_data(), x->nbytes()};
        group.start_exchange({&send, 1}, {}, x);
      }
      EXPECT_EQ(memory_stats(communicator.device().place()).current,
                before + int64_t(3 * meta.nbytes()));
      turn.barrier();
      EXPECT_TRUE(comes_true([&] { return communicator.transfers_in_flight() == 0; }));
    } else {
      turn.barrier();
      std::vector<std::shared_ptr<DenseTensor>> got;
      std::vector<Transfer> transfers;
      for (int i = 0; i < 3; ++i) {
        got.push_back(
            std::make_shared<DenseTensor>(DenseTensor::empty(meta, communicator.device().place())));
        const Recv recv{0, got.back()->mutable_raw_data(), meta.nbytes()};
        transfers.push_back(group.start_exchange({}, {&recv, 1}, got.back()));
      }
      for (int i : {2, 0, 1}) {
        transfers[i].wait();
        const HostArray here(*got[i], HostArray::kRead);
        const std::span all(reinterpret_cast<const float*>(here.data()), size_t(1) << 20);
        EXPECT_TRUE(std::ranges::all_of(all, [&](float v) { return v == float(i); }));
      }
    }
    EXPECT_EQ(memory_stats(communicator.device().place()).current, before);
  });
}

// A later call notices that they are done; nobody has to ask.
TEST(Transfer, DroppedOnesEndInTheCallsThatFollow) {
  on_all_communicators([](Communicator& communicator) {
    Group& group = communicator.everyone();
    const int64_t n = group.size();
    std::vector<std::weak_ptr<Parcel>> parcels;
    for (int i = 0; i < 20; ++i) {
      auto p = parcel(communicator, i, 64, 64);
      parcels.emplace_back(p);
      start(group, p, (group.position() + 1) % n, (group.position() + n - 1) % n);
    }
    for (int i = 0; i < 50; ++i) group.barrier();
    const auto gone = [](const auto& p) { return p.expired(); };
    EXPECT_TRUE(std::all_of(parcels.begin(), parcels.end(), gone));
  });
}

// Also the receiver may: what arrives is taken in, so that the sender is not held up.
TEST(Transfer, AReceiveMayBeDroppedToo) {
  on_all_communicators([](Communicator& communicator) {
    Group& group = communicator.everyone();
    const int64_t n = group.size();
    start(group, parcel(communicator, 0, 1 << 20, 1 << 20), (group.position() + 1) % n,
          (group.position() + n - 1) % n);
    communicator.drain();
    EXPECT_EQ(communicator.transfers_in_flight(), 0u);
  });
}

TEST(Transfer, IsCountedAndLoggedWhenItStarts) {
  on_all_communicators([](Communicator& communicator) {
    communicator.world().enable_call_log();
    Group& group = communicator.everyone();
    const int64_t n = group.size();
    const Counters before = communicator.rank_context().counters();
    const size_t begin = communicator.world().call_log().size();
    const uint64_t calls = group.calls();
    const Transfer t = start(group, parcel(communicator, 0, 100, 100), (group.position() + 1) % n,
                             (group.position() + n - 1) % n);
    const Counters after = communicator.rank_context().counters();
    EXPECT_EQ(after.bytes_sent - before.bytes_sent, n == 1 ? 0 : 100);
    EXPECT_EQ(after.bytes_received - before.bytes_received, n == 1 ? 0 : 100);
    EXPECT_EQ(group.calls(), calls + 1);
    ASSERT_EQ(communicator.world().call_log().size(), begin + 1);
    EXPECT_EQ(communicator.world().call_log().back().op, CommOp::kExchange);
    EXPECT_EQ(communicator.world().call_log().back().sequence, calls + 1);
    t.wait();
    EXPECT_EQ(communicator.rank_context().counters().bytes_sent, after.bytes_sent);
    EXPECT_EQ(communicator.world().call_log().size(), begin + 1);
  });
}

}  // namespace
}  // namespace phi::distributed
