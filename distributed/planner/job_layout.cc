// Enumerates layouts: a nested product whose inner lists depend on the outer choices.
#include "distributed/planner/job_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace phi::distributed {
namespace {

using pipeline::ScheduleKind;

constexpr int64_t kMostChunks = 8;

std::vector<int64_t> divisors_of(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    out.push_back(d);
    if (d != n / d) out.push_back(n / d);
  }
  std::ranges::sort(out);
  return out;
}

template <typename T>
bool allows(const std::vector<T>& given, const T& value) {
  return given.empty() || std::ranges::find(given, value) != given.end();
}

class LayoutList {
 public:
  explicit LayoutList(const LayoutSpace& space) : space_(space) {}

  std::vector<JobLayout> take() {
    for (const int64_t tp : divisors_of(space_.devices)) {
      if (!allows(space_.tp, tp)) continue;
      for (const int64_t pp : divisors_of(space_.devices / tp)) {
        if (pp > std::max<int64_t>(1, space_.layers) || !allows(space_.pp, pp)) continue;
        add_mesh({.dp = space_.devices / tp / pp, .pp = pp, .tp = tp});
      }
    }
    return std::move(layouts_);
  }

 private:
  void add_mesh(JobLayout layout) {
    if (!allows(space_.dp, layout.dp) || space_.global_batch % layout.dp != 0) return;
    for (const MeshOrder order : {MeshOrder::kDpOutside, MeshOrder::kPpOutside}) {
      const bool has_effect = layout.dp > 1 && layout.pp > 1;
      if (has_effect ? !allows(space_.orders, order) : order != MeshOrder::kDpOutside) continue;
      layout.order = order;
      add_micro_batches(layout);
    }
  }

  void add_micro_batches(JobLayout layout) {
    for (const int64_t micro_batches : divisors_of(space_.global_batch / layout.dp)) {
      if (!allows(space_.micro_batches, micro_batches)) continue;
      layout.micro_batches = micro_batches;
      add_schedules(layout);
    }
  }

  void add_schedules(JobLayout layout) {
    constexpr std::array kKinds = {ScheduleKind::k1F1B, ScheduleKind::kInterleaved,
                                   ScheduleKind::kZeroBubbleH1, ScheduleKind::kZeroBubbleH2};
    std::vector<ScheduleKind> wanted(kKinds.begin(), kKinds.end());
    if (!space_.schedules.empty()) wanted = space_.schedules;
    if (layout.pp == 1) {  // all are the same
      wanted.clear();
      if (allows(space_.schedules, ScheduleKind::k1F1B)) wanted = {ScheduleKind::k1F1B};
    }
    for (const ScheduleKind kind : wanted) {
      layout.schedule = kind;
      for (const int64_t chunks : chunks_of(layout)) {
        layout.chunks = chunks;
        add_splits(layout);
      }
    }
  }

  std::vector<int64_t> chunks_of(const JobLayout& layout) const {
    if (layout.schedule != ScheduleKind::kInterleaved)
      return allows(space_.chunks, int64_t{1}) ? std::vector<int64_t>{1} : std::vector<int64_t>{};
    std::vector<int64_t> out;
    if (!space_.chunks.empty()) {
      std::ranges::copy_if(space_.chunks, std::back_inserter(out),
                           [&](int64_t chunks) { return chunks * layout.pp <= space_.layers; });
      return out;
    }
    for (int64_t chunks = 2; chunks <= kMostChunks; ++chunks) {
      if (are_nearly_equal(chunks * layout.pp)) out.push_back(chunks);
    }
    return out;
  }

  // Whether the layers of all chunks are few more if each has as many as the largest.
  bool are_nearly_equal(int64_t all_chunks) const {
    const int64_t largest = (space_.layers + all_chunks - 1) / all_chunks;
    return all_chunks <= space_.layers && 10 * largest * all_chunks <= 11 * space_.layers;
  }

  void add_splits(JobLayout layout) {
    for (const int zero_stage : {0, 1, 2, 3}) {
      if ((layout.dp == 1 && zero_stage > 0) || !allows(space_.zero_stages, zero_stage)) continue;
      for (const bool sequence_parallel : {false, true}) {
        if ((layout.tp == 1 && sequence_parallel) ||
            !allows(space_.sequence_parallel, sequence_parallel))
          continue;
        for (const Recompute recompute :
             {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
          if (!allows(space_.recompute, recompute)) continue;
          layout.zero_stage = zero_stage;
          layout.sequence_parallel = sequence_parallel;
          layout.recompute = recompute;
          layouts_.push_back(layout);
        }
      }
    }
  }

  const LayoutSpace& space_;
  std::vector<JobLayout> layouts_;
};

// "2+3x4+1" of {2, 4, 4, 4, 1}.
std::string text_of_cut(const std::vector<int64_t>& cut) {
  std::string out;
  for (size_t i = 0; i < cut.size();) {
    size_t end = i;
    while (end < cut.size() && cut[end] == cut[i]) ++end;
    if (i > 0) out += "+";
    out += end - i > 1 ? fmt::format("{}x{}", end - i, cut[i]) : fmt::format("{}", cut[i]);
    i = end;
  }
  return out;
}

}  // namespace

std::vector<std::pair<std::string, int64_t>> mesh_dims(const JobLayout& layout) {
  std::vector<std::pair<std::string, int64_t>> out = {
      {"dp", layout.dp}, {"pp", layout.pp}, {"tp", layout.tp}};
  if (layout.order == MeshOrder::kPpOutside) std::swap(out[0], out[1]);
  return out;
}

ProcessMesh mesh_of(const JobLayout& layout) {
  std::vector<int64_t> shape;
  std::vector<std::string> names;
  for (const auto& [name, extent] : mesh_dims(layout)) {
    names.push_back(name);
    shape.push_back(extent);
  }
  return ProcessMesh(shape, names);
}

std::string to_string(const JobLayout& layout) {
  std::string out;
  for (const auto& [name, extent] : mesh_dims(layout)) out += fmt::format("{} {}  ", name, extent);
  if (layout.pp > 1) {
    out += name_of(layout.schedule);
    if (layout.chunks > 1) out += fmt::format(" x{}", layout.chunks);
    out += ", ";
  }
  out +=
      fmt::format("{} micro-batch{}", layout.micro_batches, layout.micro_batches == 1 ? "" : "es");
  if (!layout.cut.empty()) out += "  cut " + text_of_cut(layout.cut);
  if (layout.zero_stage > 0) out += fmt::format("  zero {}", layout.zero_stage);
  if (layout.sequence_parallel) out += "  sequence parallel";
  if (layout.recompute != Recompute::kNone) {
    out += fmt::format("  recompute {}", name_of(layout.recompute));
  }
  if (layout.has_searched_placements) out += "  searched placements";
  return out;
}

std::vector<JobLayout> all_layouts(const LayoutSpace& space) { return LayoutList(space).take(); }

}  // namespace phi::distributed
