// Checks what kernels write, and reports the first finding to all ranks.
#include "api/explain/check_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "api/call/decision.h"
#include "api/explain/call_names.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/common/finite.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/source_bytes.h"

namespace phi {

using distributed::World;

void Finding::set(int64_t at, const std::string& what) {
  order = at;
  text = {};
  std::memcpy(text.data(), what.data(), std::min(what.size(), text.size() - 1));
}

std::optional<std::pair<int64_t, std::string>> earliest(const Finding& own) {
  const SuspendObservers suspended;
  World& world = World::current();
  std::vector<Finding> all(static_cast<size_t>(world.size()));
  world.everyone().all_gather(&own, all.data(), sizeof(Finding) / 8, DataType::INT64);
  const auto first = std::ranges::min_element(all, {}, &Finding::order);
  if (first->order == std::numeric_limits<int64_t>::max()) return std::nullopt;
  return std::pair{first - all.begin(), std::string(first->text.data())};
}

std::optional<std::string> nonfinite_in(const DenseTensor& array) {
  if (!array.defined() || array.numel() == 0) return std::nullopt;
  const HostBytes bytes(array);
  const int64_t at = first_nonfinite(bytes.get(), array.dtype());
  if (at < 0) return std::nullopt;
  return fmt::format("has a number that is not finite, element {} of {}", at,
                     array.meta().to_string());
}

FirstNonfinite::FirstNonfinite()
    : context_(RankContext::current()), start_(now()), scope_(*this, context_) {}

void FirstNonfinite::on_call_begin(const CallBegin&) { decisions_.push_back(nullptr); }

void FirstNonfinite::on_decision(const CallDecision& event) { decisions_.back() = &event.decision; }

void FirstNonfinite::on_call_end(const CallEnd&) noexcept { decisions_.pop_back(); }

int64_t FirstNonfinite::now() const {
  return context_.counters().ops_launched + context_.counters().ops_clipped;
}

void FirstNonfinite::on_output(const KernelOutput& event) {
  if (finding_.order != std::numeric_limits<int64_t>::max()) return;
  const auto fault = nonfinite_in(event.array);
  if (!fault) return;
  const std::string place = current_place();
  finding_.set(now() - start_,
               fmt::format("{}: its output {}{}{}", event.op.name, *fault,
                           placements_of(event.array), place.empty() ? "" : "; at " + place));
}

// " of f32[8,4] [S0] on mesh(tp=2)": the output of the open call whose local part has this shape.
std::string FirstNonfinite::placements_of(const DenseTensor& output) const {
  if (decisions_.empty() || !decisions_.back()) return "";
  const Decision& decision = *decisions_.back();
  for (size_t i = 0; i < decision.num_outputs(); ++i) {
    const Decision::Output& out = decision.output(i);
    if (!out.present || out.local.dtype != output.dtype() || out.box.box.size != output.dims()) {
      continue;
    }
    return fmt::format(" of {} {}", out.global.to_string(), out.attr->to_string());
  }
  return "";
}

void check_numbers(const std::function<void()>& f, int64_t step) {
  std::exception_ptr failure;
  const FirstNonfinite watch;
  try {
    f();
  } catch (const Error& error) {
    // A step that detects its own non-finite loss throws this error on all ranks alike.
    if (error.code() != ErrorCode::kNotFinite) throw;
    failure = std::current_exception();
  }
  if (const auto first = earliest(watch.finding())) {
    throw errors::NotFinite("{}the first number that is not finite, at rank {}: operator {}",
                            step > 0 ? fmt::format("step {}: ", step) : "", first->first,
                            first->second);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace phi
