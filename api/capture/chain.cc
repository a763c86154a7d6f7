// Runs consecutive equal links as scans.
#include "api/capture/chain.h"

#include <glog/logging.h>

#include "api/capture/link_capture.h"
#include "phi/common/errors.h"

namespace phi {
namespace {

// Returns the end of the links, from `begin` on, that share one body.
size_t end_of_run(const std::vector<ChainLink>& links, size_t begin, const Tensor& x) {
  const ir::LinkCapture first(links[begin], x);
  PHI_CHECK(first.is_repeated_by(ir::LinkCapture(links[begin], x)),
            errors::PreconditionNotMet(
                "{} behaves differently when it is called a second time, which capture does to "
                "trace it; keep state that changes between calls in a buffer, or append the link "
                "to the Sequential by itself (append).",
                links[begin].name));
  size_t end = begin + 1;
  if (!first.obstacle().empty()) {
    VLOG(1) << links[begin].name << " is not captured as a scan: " << first.obstacle();
    return end;
  }
  while (end < links.size() && ir::LinkCapture(links[end], x).matches(first)) ++end;
  return end;
}

Tensor run_captured(const std::vector<ChainLink>& links, size_t begin, size_t end,
                    const Tensor& x) {
  if (end - begin == 1) return links[begin].call(x, links[begin].own);
  std::vector<TensorList> layers;
  for (size_t i = begin; i < end; ++i) layers.push_back(links[i].own);
  return scan(links[begin].call, x, layers);
}

}  // namespace

Tensor chain(const std::vector<ChainLink>& links, const Tensor& x) {
  const auto* recording = ir::Recording::current();
  const bool looks_for_runs = recording && recording->captures_scans() && links.size() > 1;
  Tensor y = x;
  for (size_t begin = 0; begin < links.size();) {
    const size_t end = looks_for_runs ? end_of_run(links, begin, y) : begin + 1;
    y = run_captured(links, begin, end, y);
    begin = end;
  }
  return y;
}

}  // namespace phi
