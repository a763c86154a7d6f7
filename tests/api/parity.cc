// The comparison of distributed and single-process calls.
#include "tests/api/parity.h"

#include <fmt/format.h>
#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "api/testing/difference.h"
#include "api/testing/missing_kernel.h"
#include "api/testing/recorded_values.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/common/errors.h"
#include "phi/common/inexact.h"
#include "tests/support/assign_gpu.h"
#include "tests/support/guarded_device.h"

DEFINE_string(place, "cpu", "place of the ranks: cpu, guarded, gpu");
DEFINE_int32(gpus, 5, "number of GPUs that ranks share, with --place=gpu");
DEFINE_string(messages, "nccl", "path of messages between ranks that each have a GPU: nccl, host");

namespace phi::testing {

using distributed::ProcessMesh;

namespace {

Place place_of_rank(int64_t rank) {
  const int number = static_cast<int>(rank);
  if (FLAGS_place == "gpu") return GPUPlace(number % FLAGS_gpus);
  return FLAGS_place == "guarded" ? guarded_device(number) : CPUPlace();
}

// As plain tensors of the current rank's place.
std::vector<Tensor> here(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> copies;
  copies.reserve(inputs.size());
  for (const Tensor& x : inputs) {
    copies.emplace_back(DenseTensor::from(x.meta(), x.dense().raw_data()));
  }
  return copies;
}

// None where the CPU refuses it.
std::optional<ParityCase> in_dtype(const ParityCase& test, DataType dtype) {
  const auto is_usual = [](const Tensor& x) { return is_inexact(x.dtype()); };
  auto usual = std::ranges::find_if(test.inputs, is_usual);
  if (usual == test.inputs.end()) usual = test.inputs.begin();
  if (usual == test.inputs.end() || usual->dtype() == dtype) return std::nullopt;
  ParityCase other = test;
  other.name += fmt::format(" in {}", name_of(dtype));
  other.tolerance = std::max(test.tolerance, usual_tolerance(dtype));
  const DataType before = usual->dtype();
  try {
    for (Tensor& x : other.inputs) {
      if (x.dtype() == before) x = x.to(dtype);
    }
    other.call(other.inputs);
  } catch (const Error&) {
    return std::nullopt;
  }
  return other;
}

}  // namespace

bool has_kernels_here(const ParityCase& test) {
  if (FLAGS_place != "gpu") return true;
  RankContext context;
  context.set_place(place_of_rank(0));
  const RankContext::Scope scope(context);
  try {
    test.call(here(test.inputs));
  } catch (const Error& error) {
    if (!is_missing_on_gpus(error)) throw;
    return false;
  }
  return true;
}

void expect_same_on_device(const ParityCase& test) {
  const std::vector<Tensor> expected = test.call(test.inputs);
  RankContext context;
  context.set_place(place_of_rank(0));
  const RankContext::Scope scope(context);
  const std::vector<Tensor> actual = test.call(here(test.inputs));
  SCOPED_TRACE(test.name + " on " + context.place().to_string());
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(actual[i].defined(), expected[i].defined()) << "output " << i;
    if (!expected[i].defined()) continue;
    EXPECT_EQ(actual[i].place(), context.place()) << "output " << i;
    // The same kernels give the same bits; those of GPUs round differently.
    expect_same_values(actual[i], expected[i], FLAGS_place == "gpu" ? test.tolerance : 0);
  }
}

void expect_same_in_every_dtype(const ParityCase& test) {
  for (int dtype = 1; dtype < kNumDataTypes; ++dtype) {
    const auto other = in_dtype(test, static_cast<DataType>(dtype));
    if (other && has_kernels_here(*other)) expect_same_on_device(*other);
  }
}

void expect_same_values(const Tensor& actual, const Tensor& expected, double tolerance) {
  const std::string wrong = difference(actual, expected, tolerance);
  if (!wrong.empty()) ADD_FAILURE() << wrong;
}

void expect_parity(const ParityCase& test, const ProcessMesh& mesh, int world,
                   const std::vector<Choice>& choices) {
  const std::vector<Tensor> expected = test.call(test.inputs);
  distributed::run_ranks(world, [&](distributed::World& own) {
    if (FLAGS_place == "gpu") {
      distributed::testing::assign_gpu(own, FLAGS_gpus,
                                       distributed::parse_gpu_messages(FLAGS_messages));
    } else {
      own.rank_context().set_place(place_of_rank(own.rank()));
    }
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
