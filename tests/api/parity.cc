// The comparison of distributed and single-process calls.
#include "tests/api/parity.h"

#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <cmath>

#include "distributed/comm/local/local_world.h"
#include "phi/core/device/host_array.h"
#include "tests/support/closed_device.h"
#include "tests/support/rare_values.h"

DEFINE_string(place, "cpu", "where ranks compute: cpu, closed");

namespace phi::testing {

using distributed::Placement;
using distributed::ProcessMesh;

std::vector<Choice> choices(const std::vector<Tensor>& inputs, int mesh_ndim, size_t sampled,
                            std::mt19937& rng) {
  std::vector<Choice> all;
  if (mesh_ndim == 1) {
    all.push_back({});
    for (const Tensor& x : inputs) {
      std::vector<Choice> longer;
      for (const Choice& choice : all) {
        for (const Placement& p : placements_of(x)) {
          longer.push_back(choice);
          longer.back().push_back({p});
        }
      }
      all = std::move(longer);
    }
    std::shuffle(all.begin(), all.end(), rng);
    if (all.size() > sampled) all.resize(sampled);
    return all;
  }
  for (size_t i = 0; i < sampled; ++i) {
    Choice choice;
    for (const Tensor& x : inputs) {
      const auto options = placements_of(x);
      auto& placements = choice.emplace_back();
      for (int m = 0; m < mesh_ndim; ++m) placements.push_back(options[rng() % options.size()]);
    }
    all.push_back(std::move(choice));
  }
  return all;
}

std::string to_string(const Choice& choice) {
  std::string out;
  for (const auto& placements : choice) {
    out += out.empty() ? "[" : " [";
    for (const Placement& p : placements) out += p.to_string() + " ";
    out.back() = ']';
  }
  return out;
}

namespace {

std::vector<double> as_doubles(const Tensor& x) {
  return visit_dtype(x.dtype(), [&]<typename T>() {
    std::vector<double> out;
    const HostArray values(x.dense(), HostArray::kRead);
    for (const T& v : values.array().values<T>()) {
      if constexpr (sizeof(T) == 2)
        out.push_back(static_cast<float>(v));
      else
        out.push_back(static_cast<double>(v));
    }
    return out;
  });
}

Place place_of_rank(int64_t rank) {
  return FLAGS_place == "closed" ? closed_device(static_cast<int>(rank)) : CPUPlace();
}

}  // namespace

void expect_same_on_device(const ParityCase& test) {
  const std::vector<Tensor> expected = test.call(test.inputs);
  RankContext context;
  context.set_place(place_of_rank(0));
  const RankContext::Scope scope(context);
  std::vector<Tensor> inputs;
  for (const Tensor& x : test.inputs) {
    inputs.emplace_back(DenseTensor::from(x.meta(), x.dense().raw_data()));
  }
  const std::vector<Tensor> actual = test.call(inputs);
  SCOPED_TRACE(test.name + " on " + context.place().to_string());
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(actual[i].defined(), expected[i].defined()) << "output " << i;
    if (!expected[i].defined()) continue;
    EXPECT_EQ(actual[i].place(), context.place()) << "output " << i;
    expect_same_values(actual[i], expected[i], 0);
  }
}

void expect_same_values(const Tensor& actual, const Tensor& expected, double tolerance) {
  ASSERT_EQ(actual.shape(), expected.shape());
  ASSERT_EQ(actual.dtype(), expected.dtype());
  const auto got = as_doubles(actual), want = as_doubles(expected);
  double scale = 1.0;
  for (double v : want) {
    if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
  }
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isfinite(want[i]) ? std::abs(got[i] - want[i]) <= tolerance * scale
                               : same_number(got[i], want[i]))
      continue;
    ADD_FAILURE() << "element " << i << " is " << got[i] << ", in one process " << want[i];
    return;
  }
}

void expect_parity(const ParityCase& test, const ProcessMesh& mesh, int world,
                   const std::vector<Choice>& choices) {
  const std::vector<Tensor> expected = test.call(test.inputs);
  distributed::run_ranks(world, [&](distributed::World& own) {
    own.rank_context().set_place(place_of_rank(own.rank()));
    for (const Choice& choice : choices) {
      SCOPED_TRACE(test.name + " " + to_string(choice) + " on " + mesh.to_string() + " at rank " +
                   std::to_string(distributed::rank()));
      std::vector<Tensor> inputs;
      for (size_t i = 0; i < test.inputs.size(); ++i) {
        inputs.push_back(distributed::shard_tensor(test.inputs[i], mesh, choice[i]));
      }
      const std::vector<Tensor> actual = test.call(inputs);
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(actual[i].defined(), expected[i].defined()) << "output " << i;
        if (!expected[i].defined()) continue;
        ASSERT_EQ(actual[i].shape(), expected[i].shape()) << "output " << i;
        const bool here = mesh.contains(distributed::rank());
        ASSERT_EQ(actual[i].initialized(), here) << "output " << i << " " << actual[i].to_string();
        ASSERT_EQ(actual[i].place(), own.rank_context().place()) << "output " << i;
        if (!here) {
          ASSERT_EQ(actual[i].nbytes_here(), 0u);
        }
        const Tensor whole = distributed::reshard(actual[i], mesh, {});
        if (here) expect_same_values(whole.local(), expected[i], test.tolerance);
        if (::testing::Test::HasFailure()) return;
      }
    }
  });
}

}  // namespace phi::testing
