// show(x): a picture of a tensor's layout, as `autophi show` draws it.
#pragma once

#include <optional>
#include <string>

#include "api/tensor/tensor.h"

namespace phi {

/// Which rank holds which box, with sizes: see distributed/placement/picture.h. Of a plain tensor
/// one line. Asks nobody, and reads no values.
///
/// `colours`  by default where standard output is a terminal and the environment's NO_COLOR is
/// unset Errors     InvalidArgument for an undefined tensor.
std::string show(const Tensor& x, std::optional<bool> colours = std::nullopt);

}  // namespace phi
