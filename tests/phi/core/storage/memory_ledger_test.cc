// A ledger names what an account's bytes are used for, in real runs and in dry ones.
#include "phi/core/storage/memory_ledger.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/core/rank_context.h"

namespace phi {
namespace {

DenseTensor bytes(int64_t n) { return DenseTensor::empty({{n}, DataType::UINT8}, CPUPlace()); }

std::map<std::string, int64_t> as_map(const MemoryHolders& holders) {
  std::map<std::string, int64_t> map;
  for (const MemoryHolder& holder : holders) map[holder.name] = holder.bytes;
  return map;
}

using Held = std::map<std::string, int64_t>;

class Ledgers : public ::testing::TestWithParam<Execution> {
 protected:
  int64_t peak() const {
    const MemoryAccount& account = *context_.memory();
    return context_.is_dry() ? account.planned().peak : account.stats(DeviceKind::CPU).peak;
  }
  RankContext context_{0, 1, GetParam()};
  RankContext::Scope scope_{context_};
  MemoryLedger ledger_{*context_.memory()};
};

TEST_P(Ledgers, NameWhatIsHeldAtThePeak) {
  const MemoryUseScope weights(MemoryUse::kWeights);
  const DenseTensor kept = bytes(8000);
  {
    const MemoryUseScope layer(MemoryUse::kActivations, 3);
    const DenseTensor out = bytes(5000);
    const MemoryUseScope messages(MemoryUse::kMessages);
    const DenseTensor packed = bytes(10);
  }
  EXPECT_EQ(as_map(ledger_.now()), (Held{{"weights", 8000}}));
  const MemoryHolders most = ledger_.at_peak();
  EXPECT_EQ(as_map(most),
            (Held{{"weights", 8000}, {"activations of layer 3", 5000}, {"messages", 10}}));
  EXPECT_EQ(most.front().name, "weights");
  EXPECT_EQ(peak(), 13010);
}

TEST_P(Ledgers, BoundWhatIsReserved) {
  EXPECT_EQ(ledger_.reserved(), 0);
  {
    const DenseTensor a = bytes(9001), b = bytes(9002);  // of one size class
    const DenseTensor other = bytes(70000);
  }
  const DenseTensor reuses = bytes(9100);
  const int64_t blocks = 2 * 9216 + 73728;
  EXPECT_EQ(ledger_.reserved(), blocks);
  const MemoryUseScope arena(MemoryUse::kProgram);
  const DenseTensor program = bytes(70001);
  EXPECT_EQ(ledger_.reserved(), blocks + 18 * 4096);
}

TEST_P(Ledgers, BoundWhatAPoolProvides) {
  constexpr int64_t kMiB = 1 << 20;
  {
    const DenseTensor small = bytes(9001), other = bytes(70000);
    const DenseTensor large = bytes(3 * kMiB + 1);
    EXPECT_EQ(ledger_.pooled(), 9216 + 73728 + 3 * kMiB + 1);
  }
  // Blocks of up to 1 MiB stay blocks of their size.
  const DenseTensor of_a_block = bytes(kMiB), reuses = bytes(9100);
  const DenseTensor large = bytes(2 * kMiB);
  EXPECT_EQ(ledger_.pooled(), 9216 + 73728 + 3 * kMiB + 1);
  const DenseTensor larger = bytes(kMiB + 1);
  EXPECT_EQ(ledger_.pooled(), 9216 + 73728 + 4 * kMiB + 1);
}

TEST_P(Ledgers, CountSmallStoragesWithTheirObjects) {
  BlockCache& cache = context_.memory()->blocks();
  const DenseTensor small = bytes(4096);
  EXPECT_GE(ledger_.reserved(), static_cast<int64_t>(SizeClass::of(4096).nbytes));
  if (!context_.is_dry()) {
    EXPECT_LE(cache.stats().peak_reserved, ledger_.reserved());
  }
}

class ZeroSource final : public Storage::Source {
 public:
  explicit ZeroSource(int64_t size) : meta_{{size}, DataType::INT8} {}
  const TensorMeta& meta() const override { return meta_; }
  void read(const Box&, DenseTensor* out) const override {
    std::memset(out->mutable_raw_data(), 0, out->nbytes());
  }

 private:
  TensorMeta meta_;
};

TEST_P(Ledgers, CountDeferredStoragesWithoutTheirObjects) {
  const auto deferred = Storage::from_source(CPUPlace(), std::make_shared<const ZeroSource>(960));
  deferred->materialise();
  EXPECT_EQ(ledger_.reserved(), 960);
}

// A rank of a pipeline has tensors of other stages, without bytes.
TEST_P(Ledgers, TensorsWithoutBytesReserveNothing) {
  const DenseTensor large = bytes(70000);
  const int64_t reserved = memory_stats(CPUPlace()).peak_reserved;
  EXPECT_EQ(reserved, context_.is_dry() ? 0 : 73728);
  std::vector<IntrusivePtr<Storage>> placeholders;
  for (int i = 0; i < 100; ++i) placeholders.push_back(Storage::placeholder(CPUPlace(), {}));
  EXPECT_EQ(memory_stats(CPUPlace()).peak_reserved, reserved);
  EXPECT_EQ(ledger_.reserved(), 73728);
}

TEST_P(Ledgers, CountScratchMemoryWithTensors) {
  PlannedScratch& scratch = ledger_.scratch();
  EXPECT_EQ(MemoryLedger::scratch_of(*context_.memory()), &scratch);
  { const DenseTensor x = bytes(9000); }
  { const PlannedScratch::Block takes_its_block(scratch, 9001), other(scratch, 9001); }
  EXPECT_EQ(ledger_.reserved(), 2 * 9216);
  scratch.note_unstated("sort");
  scratch.note_unstated("sort");
  EXPECT_EQ(scratch.unstated(), std::set<std::string>{"sort"});
}

TEST_P(Ledgers, FollowBytesToTheirAliases) {
  const MemoryUseScope data(MemoryUse::kData);
  DenseTensor x = bytes(6400);
  const DenseTensor fixed = x.fixed();
  EXPECT_EQ(as_map(ledger_.now()), (Held{{"data", 6400}}));
  DenseTensor alias = x.alias();
  EXPECT_EQ(as_map(ledger_.now()), (Held{{"data", 6400}}));
  {
    const MemoryUseScope workspace(MemoryUse::kWorkspace);
    x.storage()->note_write();
  }
  EXPECT_EQ(as_map(ledger_.now()), (Held{{"data", 6400}, {"workspace", 6400}}));
  x = {};
  alias = {};
  EXPECT_EQ(as_map(ledger_.now()), (Held{{"data", 6400}}));
}

TEST_P(Ledgers, CanBeToldOfAnotherUse) {
  const DenseTensor x = bytes(100);
  EXPECT_EQ(as_map(ledger_.now()), (Held{{"activations", 100}}));
  MemoryLedger::assign(*context_.memory(), x.storage().get(), MemoryUse::kGradients);
  EXPECT_EQ(as_map(ledger_.now()), (Held{{"gradients", 100}}));
  EXPECT_EQ(MemoryLedger::describe(*context_.memory()), "gradients 100");
}

INSTANTIATE_TEST_SUITE_P(Ranks, Ledgers, ::testing::Values(Execution::kReal, Execution::kDry),
                         [](const auto& info) {
                           return info.param == Execution::kDry ? "dry" : "real";
                         });

TEST(MemoryLedger, AnAccountWithoutOneIsNotDescribed) {
  RankContext context;
  EXPECT_EQ(MemoryLedger::describe(*context.memory()), "");
  EXPECT_EQ(MemoryLedger::scratch_of(*context.memory()), nullptr);
}

// What aliases hold in a dry run is what they hold in a real one.
TEST(PlannedAliases, CountAsRealOnes) {
  std::vector<std::vector<int64_t>> held;
  for (const Execution execution : {Execution::kReal, Execution::kDry}) {
    RankContext context(0, 1, execution);
    const RankContext::Scope scope(context);
    std::vector<int64_t>& counts = held.emplace_back();
    const auto count = [&] {
      const MemoryAccount& account = *context.memory();
      counts.push_back(context.is_dry() ? account.planned().current
                                        : account.stats(DeviceKind::CPU).current);
    };
    DenseTensor x = bytes(64000);
    DenseTensor part = x.alias_part({{6400}, DataType::UINT8}, 640);
    DenseTensor whole = x.alias();
    count();
    part.storage()->note_write();  // copies its part
    count();
    DenseTensor sent = whole.fixed();
    DenseTensor small = bytes(100).alias();  // too small to share
    count();
    x.storage()->note_write();
    count();
    x = {};
    whole = {};
    count();
    sent.storage()->note_write();
    count();
    sent = {};
    part = {};
    count();
  }
  EXPECT_EQ(held[0], held[1]);
  EXPECT_EQ(held[0].back(), 100);
}

}  // namespace
}  // namespace phi
