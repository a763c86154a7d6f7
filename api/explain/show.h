// show(x): draws a tensor's sharding, as `autophi show` does.
#pragma once

#include <optional>
#include <string>

#include "api/tensor/tensor.h"

namespace phi {

/// Draws which rank holds which box, with sizes (distributed/placement/picture.h). A plain tensor
/// is one line. No communication; reads no values.
///
/// Input    `colours`: by default, colours are used if standard output is a terminal and the
///          environment variable NO_COLOR is unset.
/// Errors   InvalidArgument for an undefined tensor.
std::string show(const Tensor& x, std::optional<bool> colours = std::nullopt);

}  // namespace phi
