// How near operators on a GPU come to what bounds them there (docs/gpu.md lists the goals).
//
//   gpu_bench [--steps] [--tiny]
//
// Prints JSON: a row per call with its time, that of what stands beside it, their ratio (above 1
// ours is quicker) and the goal, or a note that says why there are none. --steps: whole steps of
// training instead, and a row may have sizes for a program that stands beside it. Exit status 77
// where no GPU answers, 1 if a call failed. --tiny calls and checks everything with small arrays,
// and prints no times: for tests of the program, where the GPU is the CPU's (docs/gpu.md, "The
// twin").
#include <fmt/format.h>
#include <gflags/gflags.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "benchmarks/gpu/rows.h"
#include "distributed/api.h"
#include "phi/common/errors.h"

DEFINE_bool(steps, false, "steps of training, not calls of operators");
DEFINE_bool(tiny, false, "small arrays, and no time is taken");

namespace {

using namespace phi;
using namespace phi::gpu_bench;

constexpr int kNoGpu = 77;

nlohmann::ordered_json json_of(const Row& row, const Extent& extent) {
  nlohmann::ordered_json json{{"what", row.what}, {"beside", row.beside}, {"goal", row.goal}};
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

/// The rows of a family, or one that says how it failed.
template <typename Measure>
bool add_rows(const char* family, const Measure& measure, const Extent& extent,
              nlohmann::ordered_json* rows) {
  try {
    for (const Row& row : measure()) rows->push_back(json_of(row, extent));
    return true;
  } catch (const Error& error) {
    rows->push_back({{"what", family}, {"note", error.what()}});
    return false;
  }
}

template <typename Add>
void add_calls(const Place& place, const Extent& extent, const Add& add) {
  double peak = 0;
  add("products", [&] { return product_rows(place, extent, &peak); });
  add("calls that memory bounds", [&] { return memory_rows(place, extent); });
  add("attention", [&] { return attention_rows(place, extent, peak); });
  add("messages", [&] { return message_rows(extent); });
  add("host time", [&] { return host_rows(place, extent); });
}

template <typename Add>
void add_steps(const Place& place, const Extent& extent, const Add& add) {
  add("captured steps", [&] { return step_rows(place, extent); });
  add("swapping", [&] { return swap_rows(place, extent); });
  add("a step of a Llama", [&] { return llama_rows(place, extent); });
}

bool measure_all(const Place& place, const Extent& extent) {
  nlohmann::ordered_json json{{"timed", !extent.is_tiny},
                              {"rows", nlohmann::ordered_json::array()}};
  bool passed = true;
  const auto add = [&](const char* family, const auto& measure) {
    passed &= add_rows(family, measure, extent, &json["rows"]);
  };
  if (FLAGS_steps) {
    add_steps(place, extent, add);
  } else {
    add_calls(place, extent, add);
  }
  fmt::print("{}\n", json.dump(1));
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
