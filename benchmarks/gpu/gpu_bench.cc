// How near operators on a GPU come to what bounds them there (docs/gpu_check.md lists the goals).
//
//   gpu_bench [--steps] [--tiny]
//
// Prints a line of JSON per call, when its family of calls is measured, so that what is known
// outlives an end of the program: its time, that of what stands beside it, their ratio (above 1
// ours is quicker) and the goal, or a note that says why there are none. --steps: whole steps of
// training instead, and a row may have sizes for a program that stands beside it. Exit status 77
// where no GPU answers, 1 if a call failed. --tiny calls and checks everything with small arrays,
// and prints no times: for tests of the program, where the GPU is the CPU's (docs/gpu_emulator.md,
// "The emulator").
#include <fmt/format.h>
#include <gflags/gflags.h>

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>

#include "benchmarks/gpu/measurement.h"
#include "distributed/api.h"
#include "phi/common/errors.h"

DEFINE_bool(steps, false, "steps of training, not calls of operators");
DEFINE_bool(tiny, false, "small arrays, and no time is measured");

namespace {

using namespace phi;
using namespace phi::gpu_bench;

using Json = nlohmann::ordered_json;

constexpr int kNoGpu = 77;

Json json_of(const Measurement& row, const Extent& extent) {
  Json json{
      {"what", row.what}, {"beside", row.beside}, {"goal", row.goal}, {"timed", !extent.is_tiny}};
  if (!row.sizes.empty()) json["sizes"] = row.sizes;
  if (row.ours_us > 0 && !extent.is_tiny) {
    json["ours_us"] = row.ours_us;
    if (row.sizes.empty()) {
      json["beside_us"] = row.beside_us;
      json["ratio"] = row.ratio;
    }
  }
  if (!row.note.empty()) json["note"] = row.note;
  return json;
}

void print(const Json& row) {
  fmt::print("{}\n", row.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(stdout);
}

/// The rows of a family, and one that says how it failed if it did.
template <typename Measure>
bool print_rows(const char* family, const Measure& measure, const Extent& extent) {
  try {
    measure([&](const Measurement& row) { print(json_of(row, extent)); });
    return true;
  } catch (const std::exception& error) {
    print({{"what", family}, {"note", error.what()}});
    return false;
  }
}

template <typename Rows>
void measure_calls(const Place& place, const Extent& extent, const Rows& rows) {
  double peak = 0;
  rows("matmuls", [&](const AddMeasurement& add) { measure_matmuls(place, extent, &peak, add); });
  rows("calls that memory bounds",
       [&](const AddMeasurement& add) { measure_memory_bound_ops(place, extent, add); });
  rows("attention",
       [&](const AddMeasurement& add) { measure_attention(place, extent, peak, add); });
  rows("messages", [&](const AddMeasurement& add) { measure_collectives(extent, add); });
  rows("host time", [&](const AddMeasurement& add) { measure_host_time(place, extent, add); });
}

template <typename Rows>
void measure_steps(const Place& place, const Extent& extent, const Rows& rows) {
  rows("captured steps",
       [&](const AddMeasurement& add) { measure_captured_steps(place, extent, add); });
  rows("swapping", [&](const AddMeasurement& add) { measure_swapping(place, extent, add); });
  rows("a step of a Llama",
       [&](const AddMeasurement& add) { measure_llama_step(place, extent, add); });
}

bool measure_all(const Place& place, const Extent& extent) {
  bool passed = true;
  const auto rows = [&](const char* family, const auto& measure) {
    passed &= print_rows(family, measure, extent);
  };
  if (FLAGS_steps) {
    measure_steps(place, extent, rows);
  } else {
    measure_calls(place, extent, rows);
  }
  return passed;
}

std::optional<Place> find_gpu() {
  try {
    return distributed::use_gpu();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnavailable) throw;
    fmt::print(stderr, "gpu_bench: {}\n", error.what());
    return std::nullopt;
  }
}

}  // namespace

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  distributed::init(&argc, &argv);
  const std::optional<Place> place = find_gpu();
  const int status = !place ? kNoGpu : measure_all(*place, {.is_tiny = FLAGS_tiny}) ? 0 : 1;
  distributed::finalize();
  return status;
}
