// Collects the configuration of a job from its keys, the flags, the environment and its files.
#include "tools/job/fingerprint.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "distributed/checkpoint/content_hash.h"
#include "tools/job/config/keys/resolved_values.h"
#include "tools/job/run_flags.h"

namespace phi::job {
namespace {

// They select kernels, and so affect the last digits of results.
constexpr std::array kVariables = {"AUTOPHI_GEMM_ISA", "AUTOPHI_LOOP_ISA"};

void add_flags(distributed::ConfigEntries* entries) {
  const auto differs = [](const std::string& flag) {
    return std::ranges::count(rank_local_flags(), flag, &RankLocalFlag::flag) > 0;
  };
  for (const std::string& flag : run_flags()) {
    if (differs(flag)) continue;
    const auto info = gflags::GetCommandLineFlagInfoOrDie(flag.c_str());
    entries->push_back({"--" + flag, info.current_value});
  }
}

}  // namespace

distributed::ConfigEntries fingerprint(const Setup& setup) {
  distributed::ConfigEntries entries;
  for (auto& [key, value] : resolved_values(setup.config)) entries.push_back({key, value});
  add_flags(&entries);
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    entries.push_back({name, value ? value : ""});
  }
  if (setup.data) {
    const data::DataSummary summary = setup.data->summary();
    if (setup.config.model.takes_images()) {
      entries.push_back({"data.images", fmt::format("{}", summary.num_images)});
    } else {
      entries.push_back({"data.tokens", fmt::format("{}", summary.num_tokens)});
    }
    entries.push_back({"data.content", fmt::format("{:016x}", setup.data->content_fingerprint())});
  }
  if (!setup.config.weights.empty()) {
    const uint64_t hash = distributed::checkpoint::content_hash(setup.config.weights);
    entries.push_back({"weights.content", fmt::format("{:016x}", hash)});
  }
  return entries;
}

std::span<const RankLocalFlag> rank_local_flags() {
  static constexpr std::array<RankLocalFlag, 5> kFlags = {{
      {"report", "only rank 0 writes it"},
      {"metrics", "only rank 0 writes it"},
      {"tensorboard", "only rank 0 writes it"},
      {"python", "only rank 0 starts it"},
      {"quiet", "only rank 0 prints"},
  }};
  return kFlags;
}

}  // namespace phi::job
