// Threads that intern the same meshes, attributes and kernel names at once get the same objects.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "distributed/placement/dist_attr.h"
#include "phi/core/kernel_registry.h"
#include "support/races.h"

namespace phi::distributed {
namespace {

using phi::testing::at_once;
using phi::testing::for_each_seed;

constexpr int kThreads = 6;
constexpr size_t kKeys = 24;

// Number `key` of a seed's meshes, which no other seed has: tables outlive tests. Every third has
// no regular strides.
ProcessMesh make_mesh(uint64_t seed, size_t key) {
  const auto first = static_cast<int64_t>(seed * 1000 + key * 10);
  std::vector<int64_t> ranks{first, first + 1, first + 2, first + (key % 3 == 0 ? 7 : 3)};
  return ProcessMesh({2, 2}, {"a", "b"}, ranks);
}

std::vector<const TensorDistAttr*> make_attrs(const ProcessMesh& mesh) {
  return {TensorDistAttr::replicated(mesh), TensorDistAttr::get(mesh, {Shard(0)}),
          TensorDistAttr::get(mesh, {Shard(0), Shard(0, 1)}),
          TensorDistAttr::get(mesh, {Partial(), Shard(1)})};
}

// What one thread is given, by number of the key.
struct Given {
  std::vector<const void*> meshes = std::vector<const void*>(kKeys);
  std::vector<std::vector<const TensorDistAttr*>> attrs =
      std::vector<std::vector<const TensorDistAttr*>>(kKeys);
  std::vector<const Kernel*> kernels = std::vector<const Kernel*>(kKeys);
};

void intern(uint64_t seed, size_t key, Given* given) {
  const ProcessMesh mesh = make_mesh(seed, key);
  given->meshes[key] = mesh.id();
  given->attrs[key] = make_attrs(mesh);
  for (const TensorDistAttr* attr : given->attrs[key]) EXPECT_EQ(attr->mesh(), mesh);
  EXPECT_TRUE(given->attrs[key][2]->placement(1).is_shard(0));
  EXPECT_EQ(mesh.rank_at(int64_t{3}) - mesh.rank_at(int64_t{0}), key % 3 == 0 ? 7 : 3);
  const std::string name = fmt::format("races {} {}", seed, key);
  given->kernels[key] = &Kernel::named(name);
  EXPECT_EQ(given->kernels[key]->name(), name);
}

TEST(InterningRaces, EqualKeysAreTheSameObject_OnEveryThread) {
  for_each_seed(40, [](uint64_t seed) {
    std::vector<Given> given(kThreads);
    at_once(kThreads, [&](int thread) {
      std::vector<size_t> order(2 * kKeys);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(),
                   std::mt19937_64(seed * kThreads + static_cast<uint64_t>(thread)));
      for (const size_t at : order) intern(seed, at % kKeys, &given[static_cast<size_t>(thread)]);
    });
    std::set<const void*> distinct;
    for (const Given& other : given) {
      EXPECT_EQ(other.meshes, given[0].meshes);
      EXPECT_EQ(other.attrs, given[0].attrs);
      EXPECT_EQ(other.kernels, given[0].kernels);
    }
    for (size_t key = 0; key < kKeys; ++key) {
      distinct.insert(given[0].meshes[key]);
      distinct.insert(given[0].kernels[key]);
      distinct.insert(given[0].attrs[key].begin(), given[0].attrs[key].end());
    }
    EXPECT_EQ(distinct.size(), kKeys * 6);
  });
}

}  // namespace
}  // namespace phi::distributed
