// Collects facts of a job from its keys, the flags, the environment and its files.
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

void add_flags(distributed::Facts* facts) {
  const auto differs = [](const std::string& flag) {
    return std::ranges::count(rank_local_flags(), flag, &RankLocalFlag::flag) > 0;
  };
  for (const std::string& flag : run_flags()) {
    if (differs(flag)) continue;
    const auto info = gflags::GetCommandLineFlagInfoOrDie(flag.c_str());
    facts->push_back({"--" + flag, info.current_value});
  }
}

}  // namespace

distributed::Facts fingerprint(const Setup& setup) {
  distributed::Facts facts;
  for (auto& [key, value] : resolved_values(setup.config)) facts.push_back({key, value});
  add_flags(&facts);
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    facts.push_back({name, value ? value : ""});
  }
  if (setup.data) {
    facts.push_back({"data.tokens", fmt::format("{}", setup.data->num_tokens())});
    facts.push_back({"data.content", fmt::format("{:016x}", setup.data->content_fingerprint())});
  }
  if (!setup.config.weights.empty()) {
    const uint64_t hash = distributed::checkpoint::content_hash(setup.config.weights);
    facts.push_back({"weights.content", fmt::format("{:016x}", hash)});
  }
  return facts;
}

std::span<const RankLocalFlag> rank_local_flags() {
  static constexpr std::array<RankLocalFlag, 3> kFlags = {{
      {"report", "rank 0 alone writes it"},
      {"metrics", "rank 0 alone writes it"},
      {"quiet", "rank 0 alone speaks"},
  }};
  return kFlags;
}

}  // namespace phi::job
