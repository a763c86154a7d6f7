// One rank of many: what its process holds, asks for and reads while it takes its shard of a tensor
// that no machine could hold whole. The rank is real and alone; a message would be an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "api/generated/ops/full.h"
#include "api/tensor/checkpoint.h"
#include "distributed/api.h"
#include "distributed/checkpoint/format/safetensors.h"
#include "phi/tensor_api.h"
#include "support/system/file_pages.h"
#include "support/system/process_memory.h"
#include "support/system/requested_bytes.h"
#include "tests/phi/memory/scratch_folder.h"

namespace phi {
namespace {

namespace checkpoint = distributed::checkpoint;
using distributed::Placement;
using distributed::ProcessMesh;
using distributed::Shard;
using distributed::shard_tensor;
using memory::ScratchFolder;
using phi::testing::bytes_in_memory;
using phi::testing::requested_bytes;
using phi::testing::resident_growth;

// 16 GiB in 256 shards of 64 MiB.
constexpr int64_t kRanks = 256;
constexpr int64_t kRank = 177;
const Dims kWhole{1 << 15, 1 << 17};
constexpr int64_t kWholeBytes = int64_t{1} << 34;
constexpr int64_t kShardBytes = kWholeBytes / kRanks;
// Of the process: pages of code and tables that are touched on the way, files read ahead.
constexpr int64_t kSlack = kShardBytes / 2;
constexpr int64_t kSmall = 64 << 10;
constexpr int64_t kReadAhead = 64 << 20;

const ProcessMesh& all_ranks() {
  static const ProcessMesh mesh({kRanks}, {"x"});
  return mesh;
}

struct Takes {
  int64_t here = 0;    // of the shard
  int64_t mapped = 0;  // bytes of files that are resident beside it
  int64_t beside = 0;  // asked for, beside the shard
};

// Runs `make` as rank kRank in a process of its own.
void expect_takes(const Takes& takes, const std::function<Tensor()>& make) {
  const int64_t growth = resident_growth([&] {
    RankContext context(kRank, kRanks);
    const RankContext::Scope scope(context);
    const int64_t before = requested_bytes();
    const Tensor x = make();
    EXPECT_LE(requested_bytes() - before, takes.here + takes.here / 8 + takes.beside + kSmall);
    EXPECT_EQ(x.nbytes_here(), static_cast<size_t>(takes.here));
    EXPECT_EQ(context.counters().bytes_sent + context.counters().bytes_received, 0);
  });
  EXPECT_GE(growth, takes.here);
  EXPECT_LE(growth, takes.here + takes.mapped + takes.beside + kSlack);
}

TEST(ShardMemory, InitialisersMakeTheRanksShardAlone) {
  for (const Placement& placement : {Shard(0), Shard(1)}) {
    expect_takes({kShardBytes}, [&] {
      return shard_tensor(deferred_gaussian(kWhole, 0, 1, 7), all_ranks(), {placement});
    });
  }
  expect_takes({kShardBytes}, [] {
    return shard_tensor(deferred_uniform(kWhole, 0, 1, 7), all_ranks(), {Shard(1)});
  });
  expect_takes({kShardBytes},
               [] { return shard_tensor(deferred_full(kWhole, 2.0), all_ranks(), {Shard(0)}); });
}

TEST(ShardMemory, OutsideTheMeshNothingIsMade) {
  expect_takes({0}, [] {
    return shard_tensor(deferred_gaussian(kWhole, 0, 1, 7), ProcessMesh({128}, {"x"}), {Shard(0)});
  });
}

TEST(ShardMemory, OfAHostArrayTheShardCrosses) {
  // The array is there before; of its 64 MiB a sixteenth is this rank's.
  const std::vector<float> values(kShardBytes / 4, 1.0f);
  const std::shared_ptr<const float[]> array(std::shared_ptr<void>(), values.data());
  expect_takes({kShardBytes / 16}, [&] {
    std::vector<int64_t> ranks(16);
    std::iota(ranks.begin(), ranks.end(), kRank - 8);
    return shard_tensor(Tensor::from(array, {kShardBytes / 4}), ProcessMesh({16}, {"x"}, ranks),
                        {Shard(0)});
  });
}

// A checkpoint of one tensor 'w' of zeros, of which no page has been touched but the header's.
std::string sparse_checkpoint(const ScratchFolder& folder, const Dims& shape, DataType dtype) {
  checkpoint::SafetensorsHeader header;
  header.tensors.push_back({"w", {shape, dtype}, 0, 0});
  header.lay_out();
  const std::string front = header.encode();
  const std::string path = folder.file("model.safetensors");
  std::ofstream(path, std::ios::binary) << front;
  phi::testing::make_sparse(path, static_cast<int64_t>(front.size() + header.tensors[0].end));
  return path;
}

// Of the whole file.
void expect_read(const std::string& path, int64_t shard_bytes) {
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path));
  const int64_t front = size - size / 4096 * 4096;
  const int64_t read = bytes_in_memory(path, 0, size);
  EXPECT_GT(read, 0);  // the system may let pages go
  EXPECT_LE(read, shard_bytes + front + kReadAhead);
}

TEST(ShardMemory, OfACheckpointTheShardIsReadAndNothingElse) {
  const ScratchFolder folder;
  const std::string path = sparse_checkpoint(folder, kWhole, DataType::FLOAT32);
  expect_takes({.here = kShardBytes, .mapped = kShardBytes}, [&] {
    return shard_tensor(checkpoint::deferred(checkpoint::open(path), "w"), all_ranks(), {Shard(0)});
  });
  expect_read(path, kShardBytes);
}

TEST(ShardMemory, AConvertedShardIsReadInPieces) {
  const ScratchFolder folder;
  const std::string path = sparse_checkpoint(folder, kWhole, DataType::FLOAT32);
  expect_takes({.here = kShardBytes / 2, .mapped = kShardBytes, .beside = 4 << 20}, [&] {
    const auto from = checkpoint::open(path);
    return shard_tensor(checkpoint::deferred(from, "w", DataType::BFLOAT16), all_ranks(),
                        {Shard(0)});
  });
  expect_read(path, kShardBytes);
}

TEST(ShardMemory, LoadReadsTheShardAndNothingElse) {
  const ScratchFolder folder;
  const std::string path = sparse_checkpoint(folder, kWhole, DataType::FLOAT32);
  expect_takes({.here = kShardBytes, .mapped = kShardBytes}, [&] {
    const std::vector<std::pair<std::string, Tensor>> into = {
        {"w", shard_tensor(deferred_full(kWhole, 1.0), all_ranks(), {Shard(0)})}};
    checkpoint::load(checkpoint::open(path), into);
    EXPECT_EQ(into[0].second.values<float>()[5], 0.0f);
    return into[0].second;
  });
  expect_read(path, kShardBytes);
}

TEST(ShardMemory, OpeningACheckpointReadsItsHeader) {
  const ScratchFolder folder;
  const std::string path = sparse_checkpoint(folder, kWhole, DataType::FLOAT32);
  RankContext context(/*rank=*/0, /*world_size=*/8);
  const RankContext::Scope scope(context);
  const auto from = checkpoint::open(path);
  const Tensor w = checkpoint::deferred(from, "w");
  shard_tensor(w, ProcessMesh({2}, {"x"}, {5, 6}), {Shard(0)});  // other ranks
  expect_read(path, 0);
}

// Turned off, the whole crosses: what the bounds above would see.
TEST(ShardMemory, WithoutDeferredTransferTheWholeIsRead) {
  const ScratchFolder folder;
  const Dims shape{1 << 12, 1 << 13};  // 128 MiB
  const std::string path = sparse_checkpoint(folder, shape, DataType::FLOAT32);
  const int64_t growth = resident_growth([&] {
    set_deferred_transfer(false);
    checkpoint::deferred(checkpoint::open(path), "w");
  });
  EXPECT_GE(growth, 4 * shape.numel());
}

TEST(ShardMemory, ASaveMakesNoCopy) {
  const ScratchFolder folder;
  const Tensor w = full({kShardBytes / 4}, 1.0f);
  const int64_t growth = resident_growth([&] {
    const int64_t before = requested_bytes();
    const std::vector<std::pair<std::string, Tensor>> tensors = {{"w", w}};
    checkpoint::save(folder.path(), tensors);
    EXPECT_LE(requested_bytes() - before, int64_t{1} << 20);
  });
  EXPECT_LE(growth, kSlack);
}

}  // namespace
}  // namespace phi
