// Rates and links of a machine.
#include "distributed/simulator/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "phi/common/errors.h"

namespace phi::distributed::simulator {
namespace {

const OpFamily& named(const std::vector<OpFamily>& families, std::string_view name,
                      const std::string& file) {
  const auto found = std::ranges::find(families, name, &OpFamily::name);
  PHI_CHECK(found != families.end(),
            errors::InvalidArgument("{} has no family '{}', whose rates are those of operators "
                                    "that no family lists; calibrate again.",
                                    file, name));
  return *found;
}

// The value at x on the line through two points of a diagram with logarithmic axes.
double on_line(double x, double x0, double y0, double x1, double y1) {
  return y0 * std::pow(y1 / y0, std::log(x / x0) / std::log(x1 / x0));
}

}  // namespace

double OpFamily::per_second(double work) const {
  const auto after = std::ranges::upper_bound(points, work, {}, &RatePoint::work);
  if (after == points.begin()) return points.front().per_second;
  if (after == points.end()) return points.back().per_second;
  const RatePoint& low = *(after - 1);
  return on_line(work, low.work, low.per_second, after->work, after->per_second);
}

const SizeTime* OpFamily::time_of(double flops, double bytes) const {
  const auto size = [](const SizeTime& each) { return std::pair(each.flops, each.bytes); };
  const auto found = std::ranges::lower_bound(sizes, std::pair(flops, bytes), {}, size);
  return found != sizes.end() && size(*found) == std::pair(flops, bytes) ? &*found : nullptr;
}

double CollectivePoints::seconds(double bytes) const {
  const auto after = std::ranges::upper_bound(points, bytes, {}, &TimePoint::bytes);
  if (after == points.begin()) return points.front().seconds;
  const TimePoint& low = *(after - 1);
  if (after == points.end()) return low.seconds * bytes / low.bytes;
  return on_line(bytes, low.bytes, low.seconds, after->bytes, after->seconds);
}

MachineModel::Time MachineModel::time_of(const Computation& computation) const {
  const bool is_known = families.contains(computation.dtype);
  const DataType dtype = is_known || computation.flops > 0 ? computation.dtype : DataType::FLOAT32;
  const auto of_dtype = families.find(dtype);
  if (of_dtype == families.end()) {
    std::vector<std::string_view> known;
    for (const auto& entry : families) known.push_back(name_of(entry.first));
    throw errors::InvalidArgument(
        "{} computes in {}, and {} has rates of {} only; calibrate with --dtypes={},{}.",
        computation.op, name_of(dtype), file, fmt::join(known, ", "), fmt::join(known, ","),
        name_of(dtype));
  }
  const auto lists = [&](const OpFamily& family) {
    return std::ranges::find(family.ops, computation.op) != family.ops.end() &&
           (family.by == WorkUnit::kBytes || computation.flops > 0);
  };
  const auto listed = std::ranges::find_if(of_dtype->second, lists);
  const bool is_listed = listed != of_dtype->second.end();
  const OpFamily& family =
      is_listed
          ? *listed
          : named(of_dtype->second, computation.flops > 0 ? kMatmulFamily : kBytesFamily, file);
  if (const SizeTime* measured = family.time_of(computation.flops, computation.bytes))
    return {measured->seconds, is_listed};
  const double work = family.by == WorkUnit::kFlops ? computation.flops : computation.bytes;
  const double by_rate = work > 0 ? work / family.per_second(work) : 0;
  const double by_memory = memory_GBps > 0 ? computation.bytes / (memory_GBps * 1e9) : 0;
  return {launch_overhead_us * 1e-6 + std::max(by_rate, by_memory), is_listed};
}

int64_t MachineModel::tensor_memory_bytes() const {
  return std::llround((memory_GiB - reserved_GiB) * static_cast<double>(1 << 30) /
                      (1 + pool_share));
}

double MachineModel::slowdown(int64_t ranks) const {
  return cores > 0 ? std::max(1.0, static_cast<double>(ranks) / cores) : 1.0;
}

const CollectivePoints* MachineModel::points_of(std::string_view op, int64_t ranks,
                                                std::string_view outermost_level) const {
  const auto fits = [&](const CollectivePoints& each) {
    return each.op == op && each.ranks == ranks && each.level == outermost_level;
  };
  const auto found = std::ranges::find_if(collective_points, fits);
  return found != collective_points.end() ? &*found : nullptr;
}

const LinkLevel& MachineModel::link_between(int64_t a, int64_t b) const {
  for (const LinkLevel& level : links) {
    if (level.size == 0 || a / level.size == b / level.size) return level;
  }
  if (links.empty()) {
    throw errors::InvalidArgument(
        "{} has no links, and rank {} sends to rank {}; calibrate under mpirun -n 2.", file, a, b);
  }
  const LinkLevel& last = links.back();
  throw errors::InvalidArgument(
      "{}{}: no link connects ranks {} and {}: the last level, '{}', has units of {} ranks; leave "
      "out its size, or add a level.",
      file, last.line > 0 ? fmt::format(":{}", last.line) : "", a, b, last.name, last.size);
}

}  // namespace phi::distributed::simulator
