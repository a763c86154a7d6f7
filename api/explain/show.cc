// Draws the sharding of a handle.
#include "api/explain/show.h"

#include <fmt/format.h>

#include "distributed/placement/picture.h"
#include "phi/common/errors.h"
#include "phi/common/process/terminal.h"
#include "phi/core/rank_context.h"

namespace phi {

std::string show(const Tensor& x, std::optional<bool> colours) {
  PHI_CHECK(x.defined(),
            errors::InvalidArgument(
                "an undefined tensor has no placements to show; pass a tensor that has a shape."));
  if (!x.is_dist()) {
    return fmt::format("plain tensor {}: each rank that has it holds all of its {} element{}\n",
                       x.meta().to_string(), x.shape().numel(), x.shape().numel() == 1 ? "" : "s");
  }
  return distributed::picture(x.shape(), *x.dist_attr(),
                              {.colour = colours.value_or(shows_colours()),
                               .width = terminal_width(),
                               .world_size = RankContext::current().world_size()});
}

}  // namespace phi
