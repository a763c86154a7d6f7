// What every backend has to do alike: each collective against what it means, for all dtypes, reduce
// kinds, sizes and groups. Runs on threads and under mpirun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "distributed/comm/reduce.h"
#include "phi/common/errors.h"
#include "support/group_calls.h"
#include "support/rank_launcher.h"
#include "tests/distributed/comm/reduce_oracle.h"
#include "tests/support/error_matchers.h"

namespace phi::distributed {
namespace {

using testing::GroupCalls;
using testing::on_all_communicators;

constexpr DataType kDtypes[] = {DataType::BOOL,    DataType::UINT8,   DataType::INT32,
                                DataType::INT64,   DataType::FLOAT16, DataType::BFLOAT16,
                                DataType::FLOAT32, DataType::FLOAT64};
// What the member at `position` holds at `i`.
double made_up(int64_t position, int64_t i) {
  return static_cast<double>((position * 5 + i * 3 + i / 7) % 4);
}

template <typename T>
std::vector<T> made_up_values(int64_t position, int64_t begin, int64_t count) {
  std::vector<T> out(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(float(made_up(position, begin + i)));
  return out;
}
double reduced(ReduceKind kind, int64_t members, int64_t i, DataType dtype) {
  const auto value = [&](int64_t m) {
    return dtype == DataType::BOOL ? double(made_up(m, i) != 0) : made_up(m, i);
  };
  double total = value(0);
  for (int64_t m = 1; m < members; ++m) {
    const double v = value(m);
    switch (kind) {
      case ReduceKind::kSum:
      case ReduceKind::kAvg:
        total += v;
        break;
      case ReduceKind::kMax:
        total = std::max(total, v);
        break;
      case ReduceKind::kMin:
        total = std::min(total, v);
        break;
      case ReduceKind::kProd:
        total *= v;
        break;
      case ReduceKind::kAny:
        total = total != 0 || v != 0;
        break;
      case ReduceKind::kAll:
        total = total != 0 && v != 0;
        break;
    }
  }
  if (kind == ReduceKind::kAvg) total /= static_cast<double>(members);
  if (kind == ReduceKind::kAvg && dtype == DataType::BOOL) total = std::floor(total);
  if (kind == ReduceKind::kAny || kind == ReduceKind::kAll) total = total != 0;
  return total;
}

// Arrays of any dtype, as doubles.
struct Array {
  DataType dtype;
  std::vector<std::byte> bytes;

  Array(DataType type, int64_t count) : dtype(type), bytes(size_t(count) * size_of(type)) {}
  void set(int64_t i, double v) {
    visit_dtype(dtype, [&]<typename T>() {
      T value;
      if constexpr (std::is_same_v<T, bool>) {
        value = v != 0;
      } else {
        value = static_cast<T>(static_cast<accumulator_t<T>>(v));
      }
      std::memcpy(bytes.data() + size_t(i) * sizeof(T), &value, sizeof(T));
    });
  }
  double get(int64_t i) const {
    return visit_dtype(dtype, [&]<typename T>() -> double {
      T value;
      std::memcpy(&value, bytes.data() + size_t(i) * sizeof(T), sizeof(T));
      return static_cast<double>(value);
    });
  }
  static Array made_up_at(DataType type, int64_t position, int64_t count) {
    Array a(type, count);
    for (int64_t i = 0; i < count; ++i) a.set(i, made_up(position, i));
    return a;
  }
};

// As an array of the dtype would hold it.
double rounded(DataType dtype, double v) {
  Array a(dtype, 1);
  a.set(0, v);
  return a.get(0);
}

// Tests run on one machine.
TEST(Conformance, RanksAreNumberedOnTheirMachine) {
  on_all_communicators([](Communicator& communicator) {
    EXPECT_EQ(communicator.world().local_rank(), communicator.rank());
  });
}

TEST(Conformance, AllReduce_EveryDtypeAndKind) {
  on_all_communicators([](Communicator& communicator) {
    const GroupCalls group(communicator);
    for (DataType dtype : kDtypes) {
      for (ReduceKind kind : testing::kAllReduceKinds) {
        for (int64_t count : {0, 1, 5, 1500}) {
          Array a = Array::made_up_at(dtype, group.position(), count);
          group.all_reduce(a.bytes.data(), count, dtype, kind);
          for (int64_t i = 0; i < count; ++i) {
            ASSERT_EQ(a.get(i), rounded(dtype, reduced(kind, group.size(), i, dtype)))
                << name_of(dtype) << " " << name_of(kind) << " " << i << " of " << count;
          }
        }
      }
    }
  });
}

// NaN, infinities and the ends of integers, by both algorithms: at the size of their pairs, and
// several times over.
TEST(Conformance, AllReduce_RareNumbers) {
  on_all_communicators([](Communicator& communicator) {
    const GroupCalls group(communicator);
    for (DataType dtype : kDtypes) {
      visit_dtype(dtype, [&]<typename T>() {
        const testing::RareParts<T> parts;
        for (int64_t count : {parts.pairs(), int64_t{20'003}}) {
          const auto values = parts.part(group.position(), 0, count);
          for (ReduceKind kind : testing::kAllReduceKinds) {
            const auto x = std::make_unique<T[]>(values.size());
            std::ranges::copy(values, x.get());
            group.all_reduce(x.get(), count, dtype, kind);
            for (int64_t i = 0; i<count; i += count> parts.pairs() ? 37 : 1)
              ASSERT_NO_FATAL_FAILURE(testing::expect_reduced(x[i], parts, group.size(), i, kind));
          }
        }
      });
    }
  });
}

TEST(Conformance, ReduceScatter_RareNumbers) {
  on_all_communicators([](Communicator& communicator) {
    const GroupCalls group(communicator);
    for (DataType dtype : {DataType::FLOAT32, DataType::BFLOAT16, DataType::INT64}) {
      visit_dtype(dtype, [&]<typename T>() {
        if constexpr (!std::is_same_v<T, bool>) {
          const testing::RareParts<T> parts;
          const std::vector<T> in = parts.part(group.position(), 0, parts.pairs() * group.size());
          for (ReduceKind kind : testing::kAllReduceKinds) {
            std::vector<T> out(static_cast<size_t>(parts.pairs()));
            group.reduce_scatter(in.data(), out.data(), parts.pairs(), dtype, kind);
            for (int64_t i = 0; i < parts.pairs(); ++i)
              ASSERT_NO_FATAL_FAILURE(
                  testing::expect_reduced(out[i], parts, group.size(), i, kind));
          }
        }
      });
    }
  });
}

// Above the sizes at which the algorithm changes, and of a count that does not divide.
TEST(Conformance, AllReduce_Large) {
  on_all_communicators([](Communicator& communicator) {
    const GroupCalls group(communicator);
    constexpr int64_t kCount = 3 * 1000 * 1000 + 1;
    std::vector<float> in = made_up_values<float>(group.position(), 0, kCount);
    std::vector<float> out(in.size());
    group.all_reduce(in.data(), out.data(), kCount, DataType::FLOAT32, ReduceKind::kSum);
    for (int64_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(out[i], reduced(ReduceKind::kSum, group.size(), i, DataType::FLOAT32)) << i;
    }
    EXPECT_EQ(in, made_up_values<float>(group.position(), 0, kCount)) << "the input was changed";
  });
}

TEST(Conformance, ReduceScatter_UnevenAndEmptyParts) {
  on_all_communicators([](Communicator& communicator) {
    const GroupCalls group(communicator);
    for (int64_t scale : {1, 300'000}) {
      std::vector<int64_t> counts;
      for (int64_t i = 0; i < group.size(); ++i) counts.push_back(i == 1 ? 0 : scale + i);
      const int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
      const int64_t begin =
          std::accumulate(counts.begin(), counts.begin() + group.position(), int64_t{0});
      const auto in = made_up_values<double>(group.position(), 0, total);
      std::vector<double> out(static_cast<size_t>(counts[group.position()]) + 1, -7);
      group.reduce_scatter_v(in.data(), out.data(), counts, DataType::FLOAT64, ReduceKind::kMax);
      for (int64_t i = 0; i < counts[group.position()]; ++i) {
        ASSERT_EQ(out[i], reduced(ReduceKind::kMax, group.size(), begin + i, DataType::FLOAT64));
      }
      EXPECT_EQ(out.back(), -7) << "written past the end";
    }
  });
}

TEST(Conformance, AllGather_UnevenAndEmptyParts) {
  on_all_communicators([](Communicator& communicator) {
    const GroupCalls group(communicator);
    std::vector<int64_t> counts;
    std::vector<int32_t> expected;
    for (int64_t i = 0; i < group.size(); ++i) {
      counts.push_back(3 * ((i + 1) % 3));
      const auto part = made_up_values<int32_t>(i, 0, counts.back());
      expected.insert(expected.end(), part.begin(), part.end());
    }
    const auto in = made_up_values<int32_t>(group.position(), 0, counts[group.position()]);
    std::vector<int32_t> out(expected.size(), -1);
    group.all_gather_v(in.data(), out.data(), counts, DataType::INT32);
    EXPECT_EQ(out, expected);
  });
}

TEST(Conformance, AllToAll_IsATranspose) {
  on_all_communicators([](Communicator& communicator) {
    const GroupCalls group(communicator);
    std::vector<int64_t> in;
    std::vector<int64_t> expected;
    for (int64_t i = 0; i < group.size(); ++i) {
      in.insert(in.end(), 2, group.position() * 10 + i);
      expected.insert(expected.end(), 2, i * 10 + group.position());
    }
    std::vector<int64_t> out(in.size());
    group.all_to_all(in.data(), out.data(), 2, DataType::INT64);
    EXPECT_EQ(out, expected);
  });
}

TEST(Conformance, AllToAllV_SizesPerPair) {
  on_all_communicators([](Communicator& communicator) {
    const GroupCalls group(communicator);
    const auto size_of_pair = [](int64_t from, int64_t to) { return (from * 2 + to) % 3; };
    std::vector<int64_t> send_counts;
    std::vector<int64_t> recv_counts;
    std::vector<float> in;
    std::vector<float> expected;
    for (int64_t i = 0; i < group.size(); ++i) {
      send_counts.push_back(size_of_pair(group.position(), i));
      recv_counts.push_back(size_of_pair(i, group.position()));
      in.insert(in.end(), send_counts.back(), float(group.position() * 10 + i));
      expected.insert(expected.end(), recv_counts.back(), float(i * 10 + group.position()));
    }
    std::vector<float> out(expected.size());
    group.all_to_all_v(in.data(), send_counts, out.data(), recv_counts, DataType::FLOAT32);
    EXPECT_EQ(out, expected);
  });
}

TEST(Conformance, Broadcast_FromEveryRoot) {
  on_all_communicators([](Communicator& communicator) {
    const GroupCalls group(communicator);
    for (int64_t root = 0; root < group.size(); ++root) {
      std::vector<double> x = made_up_values<double>(group.position() == root ? root : 99, 0, 17);
      group.broadcast(x.data(), 17, DataType::FLOAT64, root);
      EXPECT_EQ(x, made_up_values<double>(root, 0, 17));
    }
  });
}

TEST(Conformance, Exchange_RingWithMessagesToOneself) {
  on_all_communicators([](Communicator& communicator) {
    const GroupCalls group(communicator);
    const int64_t n = group.size();
    const int64_t next = (group.position() + 1) % n;
    const int64_t previous = (group.position() + n - 1) % n;
    const int64_t own = group.position();
    int64_t in[3] = {own, own + 100, own + 200};
    int64_t out[3] = {-1, -1, -1};
    // Two messages of one pair are matched in order.
    const Send sends[] = {{next, &in[0], 8}, {own, &in[1], 8}, {next, &in[2], 8}};
    const Recv recvs[] = {{previous, &out[0], 8}, {own, &out[1], 8}, {previous, &out[2], 8}};
    const Recv alone[] = {{own, &out[0], 8}, {own, &out[1], 8}, {own, &out[2], 8}};
    group.exchange(sends, n == 1 ? std::span(alone) : std::span(recvs));
    EXPECT_THAT(out, ::testing::ElementsAre(previous, own + 100, previous + 200));
  });
}

// Backends send long messages in pieces of powers of two.
TEST(Conformance, Exchange_MessagesOfManyLengthsBetweenTheSameTwo) {
  on_all_communicators([](Communicator& communicator) {
    const GroupCalls group(communicator);
    const int64_t to = (group.position() + 1) % group.size();
    const int64_t from = (group.position() + group.size() - 1) % group.size();
    const auto values = [](int64_t position, size_t bytes) {
      return made_up_values<uint8_t>(position + static_cast<int64_t>(bytes), 0,
                                     static_cast<int64_t>(bytes));
    };
    std::vector<std::vector<uint8_t>> out, in;
    for (size_t step = 1 << 14; step <= 1 << 20; step *= 4) {
      for (size_t bytes : {step - 1, step, step + 1, size_t{0}, 3 * step}) {
        out.push_back(values(group.position(), bytes));
        in.emplace_back(bytes);
      }
    }
    std::vector<Send> sends;
    std::vector<Recv> recvs;
    for (size_t i = 0; i < out.size(); ++i) {
      sends.push_back({to, out[i].data(), out[i].size()});
      recvs.push_back({from, in[i].data(), in[i].size()});
    }
    group.exchange(sends, recvs);
    for (const auto& message : in) {
      ASSERT_EQ(message, values(from, message.size())) << message.size() << " bytes";
    }
  });
}

TEST(Conformance, Barrier_NobodyLeavesBeforeAllHaveCome) {
  on_all_communicators([](Communicator& communicator) {
    using Clock = std::chrono::steady_clock;
    const auto now = [] { return Clock::now().time_since_epoch().count(); };
    // The steady clock is one for all processes of a machine.
    if (communicator.rank() == communicator.size() - 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const int64_t came = now();
    communicator.everyone().barrier();
    const int64_t left = now();
    std::vector<int64_t> all(static_cast<size_t>(communicator.size()));
    GroupCalls(communicator).all_gather(&came, all.data(), 1, DataType::INT64);
    EXPECT_LE(*std::ranges::max_element(all), left);
  });
}

TEST(Conformance, Groups_OfSomeRanksInAnyOrder) {
  on_all_communicators([](Communicator& communicator) {
    if (communicator.size() < 3) return;
    const int64_t last = communicator.size() - 1;
    const std::vector<int64_t> ranks = {last, 0};
    if (communicator.rank() == 0 || communicator.rank() == last) {
      const GroupCalls group(communicator, communicator.group(ranks));
      EXPECT_EQ(&group.group(), &communicator.group(ranks)) << "created once";
      EXPECT_EQ(group.position(), communicator.rank() == 0 ? 1 : 0);
      int32_t all[2] = {};
      const auto own = static_cast<int32_t>(communicator.rank());
      group.all_gather(&own, all, 1, DataType::INT32);
      EXPECT_THAT(all, ::testing::ElementsAre(last, 0));
    }
    communicator.everyone().barrier();
  });
}

// Calls of different groups may be issued in different orders by different pairs.
TEST(Conformance, Groups_DoNotMixUpTheirMessages) {
  on_all_communicators([](Communicator& communicator) {
    if (communicator.size() < 2) return;
    const std::vector<int64_t> up = {0, 1};
    const std::vector<int64_t> down = {1, 0};
    if (communicator.rank() > 1) return;
    for (int i = 0; i < 10; ++i) {
      int32_t a = static_cast<int32_t>(communicator.rank());
      int32_t b = a + 10;
      GroupCalls(communicator, communicator.group(up)).broadcast(&a, 1, DataType::INT32, 0);
      GroupCalls(communicator, communicator.group(down)).broadcast(&b, 1, DataType::INT32, 0);
      EXPECT_EQ(a, 0);
      EXPECT_EQ(b, 11);
    }
  });
}

TEST(Conformance, CountersCountWhatGoesToOtherRanks) {
  on_all_communicators([](Communicator& communicator) {
    const Counters before = communicator.rank_context().counters();
    const int64_t n = communicator.size();
    std::vector<float> in(1000, 1.0f);
    std::vector<float> out(in.size() * static_cast<size_t>(n));
    GroupCalls(communicator).all_gather(in.data(), out.data(), 1000, DataType::FLOAT32);
    const Counters& after = communicator.rank_context().counters();
    EXPECT_EQ(after.bytes_sent - before.bytes_sent, (n - 1) * 4000);
    EXPECT_EQ(after.bytes_received - before.bytes_received, (n - 1) * 4000);
  });
}

TEST(Conformance, EveryMemberLogsTheSameCalls) {
  on_all_communicators([](Communicator& communicator) {
    communicator.world().enable_call_log();
    const GroupCalls group(communicator);
    const size_t begin = communicator.world().call_log().size();
    float x = 1;
    group.all_reduce(&x, 1, DataType::FLOAT32, ReduceKind::kSum);
    group.broadcast(&x, 1, DataType::FLOAT32, 0);
    group.barrier();
    const auto& log = communicator.world().call_log();
    ASSERT_EQ(log.size(), begin + 3);
    std::vector<int64_t> own;
    for (size_t i = begin; i < log.size(); ++i) {
      own.push_back(static_cast<int64_t>(log[i].sequence));
      own.push_back(static_cast<int64_t>(log[i].op));
    }
    std::vector<int64_t> all(own.size() * static_cast<size_t>(group.size()));
    group.all_gather(own.data(), all.data(), static_cast<int64_t>(own.size()), DataType::INT64);
    for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], own[i % own.size()]);
  });
}

TEST(Conformance, WrongCallsSayWhy) {
  on_all_communicators([](Communicator& communicator) {
    const std::vector<int64_t> outside = {communicator.rank(), communicator.size()};
    const std::vector<int64_t> twice = {communicator.rank(), communicator.rank()};
    const std::vector<int64_t> others = {communicator.rank() + 1};
    std::byte byte{};
    const GroupCalls all(communicator);
    const auto own = static_cast<int>(communicator.rank());
    const int64_t counts[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const struct {
      std::function<void()> call;
      std::string words;
    } cases[] = {
        {[&] { communicator.group(outside); }, "a group needs ranks "},
        {[&] { communicator.group(twice); },
         "a rank is repeated in the rank list of a group of 2 ranks"},
        {[&] { communicator.group(others); },
         "a group of 1 ranks that it is not in; only members may call"},
        {[&] { all.reduce_scatter_v(nullptr, nullptr, counts, DataType::INT32, ReduceKind::kSum); },
         "is given 9 counts"},
        {[&] {
           const Send send{own, &byte, 1};
           all.exchange({&send, 1}, {});
         },
         "a message of 1 bytes to this rank itself has no receive of the same size"},
        {[&] {
           const Recv recv{own, &byte, 1};
           all.exchange({}, {&recv, 1});
         },
         "a receive from this rank itself has no message in this call"},
    };
    for (const auto& c : cases) {
      EXPECT_THAT(c.call, ThrowsError(ErrorCode::kInvalidArgument, c.words));
    }
    EXPECT_THAT(
        [&] { all.broadcast(nullptr, 1, DataType::INT32, communicator.size()); },
        ThrowsError(ErrorCode::kOutOfRange,
                    fmt::format("broadcast from position {} of group", communicator.size())));
  });
}

}  // namespace
}  // namespace phi::distributed
