// Saves and loads in a world of whatever size the launcher gives: on threads and under mpirun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "distributed/checkpoint/checkpoint.h"
#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/format/safetensors.h"
#include "distributed/checkpoint/storage/folder_files.h"
#include "phi/common/errors.h"
#include "support/counted_world.h"
#include "support/error_matchers.h"
#include "support/rank_launcher.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::on_all_world_sizes;
using Random = std::mt19937;  // seeded alike on all ranks

// One folder for all ranks, removed when all are done with it.
class SharedFolder {
 public:
  explicit SharedFolder(World& world) : world_(world) {
    std::array<char, 64> path{};
    if (world.rank() == 0) {
      std::strcpy(path.data(), "/tmp/checkpoint_world_test.XXXXXX");
      if (!mkdtemp(path.data())) path = {};
    }
    world.everyone().broadcast(path.data(), path.size(), DataType::UINT8, 0);
    path_ = path.data();
  }
  ~SharedFolder() {
    if (std::uncaught_exceptions() == 0) world_.everyone().barrier();
    if (world_.rank() == 0) fs::remove_all(path_);
  }
  const std::string& path() const { return path_; }
  std::vector<std::string> files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(path_)) {
      files.push_back(entry.path().filename().string());
    }
    std::ranges::sort(files);
    return files;
  }

 private:
  World& world_;
  std::string path_;
};

// The bits of element `index` of the tensor with this seed.
uint64_t bits_at(uint64_t seed, int64_t index, DataType dtype) {
  uint64_t h =
      (seed + 1) * 0x9e3779b97f4a7c15u ^ static_cast<uint64_t>(index) * 0xbf58476d1ce4e5b9u;
  h = (h ^ h >> 31) * 0x94d049bb133111ebu;
  h ^= h >> 29;
  return dtype == DataType::BOOL ? h & 1 : h;
}

// The bytes of a box, by its global indices alone.
std::string bytes_of(uint64_t seed, const TensorMeta& meta, const Box& box) {
  std::string out;
  if (box.empty()) return out;
  const Dims strides = meta.dims.strides();
  for (int64_t i = 0; i < box.numel(); ++i) {
    int64_t flat = 0;
    int64_t left = i;
    for (int d = box.ndim() - 1; d >= 0; --d) {
      flat += (box.offset[d] + left % box.size[d]) * strides[d];
      left /= box.size[d];
    }
    const uint64_t bits = bits_at(seed, flat, meta.dtype);
    out.append(reinterpret_cast<const char*>(&bits), size_of(meta.dtype));
  }
  return out;
}

std::string bytes_of(const DenseTensor& x) {
  return {static_cast<const char*>(x.raw_data()), x.nbytes()};
}

DistTensor make(uint64_t seed, const TensorMeta& meta, const TensorDistAttr* attr, int64_t rank) {
  DistTensor x = DistTensor::empty(meta, attr, CPUPlace(), rank);
  if (const auto coord = attr->mesh().coord_of(rank)) {
    const std::string bytes = bytes_of(seed, meta, local_box(meta.dims, *attr, *coord));
    if (!bytes.empty()) std::memcpy(x.local().mutable_raw_data(), bytes.data(), bytes.size());
  }
  return x;
}

int64_t draw(Random& random, int64_t below) { return static_cast<int64_t>(random() % below); }

// Some of the ranks in some order, as a mesh of one or two mesh dims.
ProcessMesh random_mesh(Random& random, int64_t world_size) {
  std::vector<int64_t> ranks(static_cast<size_t>(world_size));
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int64_t>(i);
  for (size_t i = ranks.size(); i > 1; --i) std::swap(ranks[i - 1], ranks[random() % i]);
  ranks.resize(1 + random() % ranks.size());
  const auto n = static_cast<int64_t>(ranks.size());
  if (n % 2 == 0 && random() % 2 == 0) return ProcessMesh({n / 2, 2}, {}, ranks);
  return ProcessMesh({n}, {}, ranks);
}

const TensorDistAttr* random_attr(Random& random, const ProcessMesh& mesh, int ndim) {
  std::vector<Placement> placements;
  for (int m = 0; m < mesh.ndim(); ++m) {
    const int64_t d = draw(random, ndim + 1);
    placements.push_back(d == ndim ? Replicate() : Shard(static_cast<int>(d)));
  }
  return TensorDistAttr::get(mesh, placements);
}

TensorMeta random_meta(Random& random) {
  constexpr std::array kExtents = {0, 1, 2, 3, 5, 8, 13};
  TensorMeta meta;
  meta.dtype = static_cast<DataType>(1 + draw(random, kNumDataTypes - 1));
  for (int64_t ndim = draw(random, 4); ndim > 0; --ndim) {
    // Extents of 0 are rare, or most tensors would be empty.
    const size_t i = random() % kExtents.size();
    meta.dims.push_back(kExtents[i == 0 ? random() % kExtents.size() : i]);
  }
  return meta;
}

int64_t data_bytes_of_all_files(const SharedFolder& folder) {
  int64_t bytes = 0;
  for (const std::string& file : folder.files()) {
    if (file == kIndexFile) continue;
    bytes += static_cast<int64_t>(
        SafetensorsFile::open((fs::path(folder.path()) / file).string())->header().data_bytes());
  }
  return bytes;
}

// Saves random tensors on random meshes, and reads them back on others.
void round_trip(World& world, uint32_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", rank " + std::to_string(world.rank()));
  const SharedFolder folder(world);
  Random random(seed);
  std::vector<NamedTensor> tensors;
  int64_t bytes = 0;
  for (uint64_t t = 0; t < 8; ++t) {
    const TensorMeta meta = random_meta(random);
    const auto* attr = random_attr(random, random_mesh(random, world.size()), meta.dims.ndim());
    tensors.push_back({"tensor." + std::to_string(t), make(t, meta, attr, world.rank())});
    bytes += static_cast<int64_t>(meta.nbytes());
  }
  save(folder.path(), tensors);
  world.everyone().barrier();
  EXPECT_EQ(data_bytes_of_all_files(folder), bytes) << "each shard once";

  const Checkpoint checkpoint = open(folder.path());
  int64_t wanted_bytes = 0;
  for (uint64_t t = 0; t < tensors.size(); ++t) {
    const TensorMeta& meta = tensors[t].tensor.meta();
    const auto* attr = random_attr(random, random_mesh(random, world.size()), meta.dims.ndim());
    SCOPED_TRACE(tensors[t].tensor.to_string() + " to " + attr->to_string());
    const auto coord = attr->mesh().coord_of(world.rank());
    if (!coord) continue;
    const Box box = local_box(meta.dims, *attr, *coord);
    DenseTensor out = DenseTensor::empty({box.size, meta.dtype}, CPUPlace());
    checkpoint.source(tensors[t].name)->read(box, &out);
    EXPECT_EQ(bytes_of(out), bytes_of(t, meta, box));
    wanted_bytes += static_cast<int64_t>(out.nbytes());
  }
  EXPECT_EQ(checkpoint.bytes_read(), wanted_bytes) << "no more than needed";
}

TEST(CheckpointInAnyWorld, AnyMeshToAnyMesh) {
  on_all_world_sizes([](World& world) {
    for (uint32_t seed = 0; seed < 25; ++seed) round_trip(world, seed);
  });
}

TEST(CheckpointInAnyWorld, LoadFillsWhatEachRankHolds) {
  on_all_world_sizes([](World& world) {
    const SharedFolder folder(world);
    const ProcessMesh mesh({world.size()});
    const TensorMeta meta{Dims{7, 6}, DataType::FLOAT32};
    const auto* rows = TensorDistAttr::get(mesh, {Shard(0)});
    const auto* columns = TensorDistAttr::get(mesh, {Shard(1)});
    save(folder.path(), std::vector<NamedTensor>{{"w", make(1, meta, rows, world.rank())}});
    std::vector<NamedTensor> into = {{"w", make(2, meta, columns, world.rank())}};
    load(open(folder.path()), into);
    EXPECT_EQ(bytes_of(into[0].tensor.local()),
              bytes_of(make(1, meta, columns, world.rank()).local()));
  });
}

TEST(CheckpointInAnyWorld, FilesAreNamedByRankAndOldOnesGo) {
  on_all_world_sizes([](World& world) {
    const SharedFolder folder(world);
    const TensorMeta meta{Dims{8, 4}, DataType::FLOAT32};
    const auto* attr = TensorDistAttr::get(ProcessMesh({world.size()}), {Shard(0)});
    const std::vector<NamedTensor> tensors = {{"w", make(1, meta, attr, world.rank())}};
    save(folder.path(), tensors);
    if (world.rank() == 0) {
      const fs::path first = fs::path(folder.path()) / file_of_rank(0, world.size());
      for (const char* old : {"model.safetensors", "model-00009-of-00009.safetensors"}) {
        if (first.filename() != old) fs::copy_file(first, fs::path(folder.path()) / old);
      }
    }
    world.everyone().barrier();
    save(folder.path(), tensors);
    world.everyone().barrier();
    if (world.rank() != 0) return;
    std::vector<std::string> expected = {kIndexFile};
    for (int64_t r = 1; r <= world.size(); ++r) {
      expected.push_back(world.size() == 1
                             ? kSingleFile
                             : fmt::format("model-{:05}-of-{:05}.safetensors", r, world.size()));
    }
    EXPECT_THAT(folder.files(), ::testing::UnorderedElementsAreArray(expected));
  });
}

TEST(CheckpointInAnyWorld, NoTensorsBytesTravel) {
  on_all_world_sizes([](World& world) {
    const SharedFolder folder(world);
    testing::CountedWorld counted(world);
    const World::Scope scope(counted);
    const TensorMeta meta{Dims{1 << 18}, DataType::FLOAT32};
    std::vector<NamedTensor> tensors;
    for (const Placement& placement : {Shard(0), Replicate()}) {
      const auto* attr = TensorDistAttr::get(ProcessMesh({world.size()}), {placement});
      const auto name = placement.to_string();
      tensors.push_back({name, make(1, meta, attr, world.rank())});
    }
    save(folder.path(), tensors);
    // However long it takes: a rank tells the others how far it is every quarter of a second.
    constexpr int64_t kControlBytes = 1 << 16;
    EXPECT_LE(counted.message_counts().bytes_sent, kControlBytes);
    const testing::MessageCounts before = counted.message_counts();
    load(open(folder.path()), tensors);
    EXPECT_EQ(counted.message_counts(), before);
    counted.everyone().barrier();
  });
}

// The same error on every rank, and the old checkpoint is as it was.
TEST(CheckpointInAnyWorld, ARankThatFailsFailsTheSaveEverywhere) {
  on_all_world_sizes([](World& world) {
    if (world.size() < 2) return;
    const SharedFolder folder(world);
    const TensorMeta meta{Dims{8}, DataType::FLOAT32};
    const auto* attr = TensorDistAttr::get(ProcessMesh({world.size()}), {Shard(0)});
    save(folder.path(), std::vector<NamedTensor>{{"w", make(1, meta, attr, world.rank())}});
    world.everyone().barrier();
    const auto before = folder.files();
    world.everyone().barrier();
    const bool fails = world.rank() == 1;
    const std::vector<NamedTensor> tensors = {
        {"w", fails ? DistTensor::clipped(meta, attr, CPUPlace(), "tanh")
                    : make(2, meta, attr, world.rank())}};
    EXPECT_THAT([&] { save(folder.path(), tensors); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "[save] "));
    EXPECT_THAT([&] { save(folder.path(), tensors); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "rank 1: tensor #"));
    world.everyone().barrier();
    EXPECT_EQ(folder.files(), before);
    DenseTensor out = DenseTensor::empty(meta, CPUPlace());
    open(folder.path()).source("w")->read(Box::whole(meta.dims), &out);
    EXPECT_EQ(bytes_of(out), bytes_of(1, meta, Box::whole(meta.dims)));
  });
}

// What the last rank gives otherwise, and what all are told; empty: it may.
struct Otherwise {
  const char* what;
  std::function<void(std::string* folder, std::string* name, SaveOptions* options)> change;
  const char* told;
};

std::vector<Otherwise> otherwise() {
  // Another option does not compile before it has a row below.
  SaveOptions options;
  [[maybe_unused]] auto& [metadata, deadline, fallback, must_be_finite, lock] = options;
  return {
      {"name", [](auto*, auto* name, auto*) { *name = "v"; }, "save different tensors"},
      {"folder", [](auto* folder, auto*, auto*) { *folder += "/deeper"; }, "different folders"},
      {"a key", [](auto*, auto*, auto* o) { o->metadata["more"] = ""; }, "different metadata"},
      {"a text", [](auto*, auto*, auto* o) { o->metadata["a"] = "c"; }, "different metadata"},
      {"where a key ends",
       [](auto*, auto*, auto* o) {
         o->metadata = {{"ab", ""}, {"step", "1"}};
       },
       "different metadata"},
      {"fallback", [](auto*, auto*, auto* o) { o->fallback += "/deeper"; }, "different folders"},
      {"no fallback", [](auto*, auto*, auto* o) { o->fallback = ""; }, "different folders"},
      {"deadline", [](auto*, auto*, auto* o) { o->deadline *= 2; }, ""},
      {"must_be_finite", [](auto*, auto*, auto* o) { o->must_be_finite = true; }, ""}};
}

TEST(CheckpointInAnyWorld, RanksThatSaveOtherwiseAreTold) {
  on_all_world_sizes([](World& world) {
    if (world.size() < 2) return;
    const SharedFolder folder(world);
    const TensorMeta meta{Dims{8}, DataType::FLOAT32};
    const auto* attr = TensorDistAttr::get(ProcessMesh({world.size()}), {Shard(0)});
    for (const Otherwise& each : otherwise()) {
      SCOPED_TRACE(each.what);
      std::string path = folder.path() + "/first";
      std::string name = "w";
      SaveOptions options = {.metadata = {{"a", "b"}, {"step", "1"}},
                             .fallback = folder.path() + "/second"};
      if (world.rank() == world.size() - 1) each.change(&path, &name, &options);
      const auto saving = [&] {
        save(path, std::vector<NamedTensor>{{name, make(1, meta, attr, world.rank())}}, options);
      };
      if (*each.told == '\0') {
        EXPECT_NO_THROW(saving());
        continue;
      }
      EXPECT_THAT(saving, ThrowsError(ErrorCode::kInvalidArgument,
                                      fmt::format("ranks 0 and {} save ", world.size() - 1)));
      EXPECT_THAT(saving, ThrowsError(ErrorCode::kInvalidArgument, each.told));
      world.everyone().barrier();
      EXPECT_FALSE(fs::exists(folder.path() + "/first/" + kIndexFile));
      world.everyone().barrier();
    }
  });
}

}  // namespace
}  // namespace phi::distributed::checkpoint
