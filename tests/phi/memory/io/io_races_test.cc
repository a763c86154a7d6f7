// Files, swap files and host blocks that many threads use at once, over every I/O engine:
// what was written comes back, a ticket that is done is done, and the counts are exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "phi/common/errors.h"
#include "phi/memory/engine/host_pool.h"
#include "phi/memory/io/async_file.h"
#include "phi/memory/io/swap_file.h"
#include "support/races.h"
#include "tests/phi/memory/scratch_folder.h"

namespace phi::memory {
namespace {

using testing::at_once;
using testing::for_each_seed;

constexpr int kThreads = 4;
using Random = std::mt19937_64;

Random random_of(uint64_t seed, int thread) {
  return Random(seed * kThreads + static_cast<uint64_t>(thread));
}

// Of an AlignedBuffer or a HostBlock.
template <typename Buffer>
void fill_pages(const Buffer& buffer, uint64_t mark) {
  for (size_t at = 0; at < buffer.size(); at += sizeof(mark), mark += 0x9e3779b97f4a7c15u) {
    std::memcpy(buffer.data() + at, &mark, sizeof(mark));
  }
}
template <typename Buffer>
bool has_pages(const Buffer& buffer, uint64_t mark) {
  const AlignedBuffer expected(buffer.size());
  fill_pages(expected, mark);
  return std::memcmp(buffer.data(), expected.data(), buffer.size()) == 0;
}
std::span<std::byte> all_of(const AlignedBuffer& buffer) { return {buffer.data(), buffer.size()}; }

class IoRaces : public ::testing::TestWithParam<IoEngineKind> {
 protected:
  void SetUp() override {
    if (GetParam() == IoEngineKind::kUring && !make_uring_engine()) {
      GTEST_SKIP() << "no io_uring in this build or kernel";
    }
  }
  // Anew with each seed: threads of an engine take part in the seed's orders from their start.
  static std::shared_ptr<IoEngine> engine() { return make_io_engine(GetParam()); }
  ScratchFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Engines, IoRaces,
                         ::testing::Values(IoEngineKind::kUring, IoEngineKind::kThreadPool));

TEST_P(IoRaces, ATicketThatIsDone_HasItsBytesThere) {
  for_each_seed(10, [&](uint64_t seed) {
    const auto file = AsyncFile::create(folder_.file("x"), 0, {engine()});
    constexpr size_t kPages = 4;
    std::atomic<int> checked = 0;
    std::vector<int> reads(kThreads);
    at_once(kThreads, [&](int thread) {
      Random random = random_of(seed, thread);
      const AlignedBuffer out(kPages * kPage), in(kPages * kPage);
      for (uint64_t turn = 0; turn < 8; ++turn) {
        // Each at its own place, the file growing as they come.
        const uint64_t offset = (turn * kThreads + static_cast<uint64_t>(thread)) * kPages * kPage;
        fill_pages(out, offset + seed);
        const Ticket write = file->write(offset, all_of(out));
        if (random() % 2) {
          while (!write.done()) std::this_thread::yield();
        } else {
          write.wait();
        }
        fill_pages(out, 1);  // it may be used again
        const FilePiece pieces[] = {{offset, all_of(in).first(kPage)},
                                    {offset + kPage, all_of(in).subspan(kPage)}};
        Ticket read = file->read(pieces, [&](const FilePiece& piece) {
          checked.fetch_add(static_cast<int>(piece.bytes.size() / kPage),
                            std::memory_order_relaxed);
          return std::nullopt;
        });
        ++reads[static_cast<size_t>(thread)];
        switch (random() % 3) {
          case 0:
            while (!read.done()) std::this_thread::yield();
            break;
          case 1:
            read.wait();
            break;
          default:
            read = Ticket();  // dropped: it has ended all the same
        }
        ASSERT_TRUE(has_pages(in, offset + seed)) << "thread " << thread << ", turn " << turn;
      }
    });
    EXPECT_EQ(file->size(), 8 * kThreads * kPages * kPage);
    EXPECT_EQ(checked, std::reduce(reads.begin(), reads.end()) * static_cast<int>(kPages));
  });
}

TEST_P(IoRaces, ExtentsOfOneSwapFile_KeepWhatTheirOwnersWrote) {
  for_each_seed(10, [&](uint64_t seed) {
    constexpr size_t kMost = 5;
    const auto swap = SwapFile::create(
        {.folder = folder_.path(), .limit = kThreads * 3 * kMost * kPage, .engine = engine()});
    at_once(kThreads, [&](int thread) {
      Random random = random_of(seed, thread);
      struct Own {
        SwapFile::FileExtent extent;
        uint64_t mark;
      };
      std::vector<Own> own;
      const auto check_and_release = [&](size_t at) {
        const AlignedBuffer in(own[at].extent.nbytes);
        swap->read(own[at].extent, all_of(in)).wait();
        EXPECT_TRUE(has_pages(in, own[at].mark)) << "thread " << thread;
        swap->release(own[at].extent);
        own.erase(own.begin() + static_cast<std::ptrdiff_t>(at));
      };
      for (int turn = 0; turn < 10; ++turn) {
        own.push_back({swap->allocate((1 + random() % kMost) * kPage), random()});
        const AlignedBuffer out(own.back().extent.nbytes);
        fill_pages(out, own.back().mark);
        const Ticket write = swap->write(own.back().extent, all_of(out));
        write.wait();
        if (own.size() == 3) check_and_release(random() % 3);
      }
      while (!own.empty()) check_and_release(own.size() - 1);
    });
    EXPECT_EQ(swap->stats().held, 0);
    EXPECT_GE(swap->stats().peak, static_cast<int64_t>(3 * kPage));
    EXPECT_LE(swap->stats().peak, swap->stats().limit);
  });
}

TEST(HostPoolRaces, NeverMoreThanItsLimit_AndEachBlockIsOnes) {
  for_each_seed(30, [](uint64_t seed) {
    constexpr int64_t kLimit = kThreads * 4 * static_cast<int64_t>(kPage);
    HostPool pool(kLimit);
    std::atomic<int64_t> held = 0;
    const auto count = [&](int64_t bytes) {
      return held.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    };
    at_once(kThreads, [&](int thread) {
      Random random = random_of(seed, thread);
      std::vector<HostBlock> own;
      for (uint64_t turn = 0; turn < 40; ++turn) {
        if (own.size() > 3 || (!own.empty() && random() % 3 == 0)) {
          EXPECT_TRUE(has_pages(own.back(), static_cast<uint64_t>(thread)));
          count(-static_cast<int64_t>(own.back().size()));
          pool.give_back(std::move(own.back()));
          own.pop_back();
          continue;
        }
        try {
          own.push_back(pool.take(static_cast<int64_t>((1 + random() % 3) * kPage)));
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
          continue;
        }
        EXPECT_LE(count(static_cast<int64_t>(own.back().size())), kLimit);
        fill_pages(own.back(), static_cast<uint64_t>(thread));
      }
      for (HostBlock& block : own) {
        count(-static_cast<int64_t>(block.size()));
        pool.give_back(std::move(block));
      }
    });
    EXPECT_LE(pool.peak_bytes(), kLimit);
    const HostBlock all = pool.take(kLimit);  // all of it has come back
    EXPECT_EQ(pool.peak_bytes(), kLimit);
  });
}

}  // namespace
}  // namespace phi::memory
