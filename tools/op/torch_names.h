// PyTorch's names of operators.
#pragma once

#include <string>
#include <string_view>

namespace phi::op_tool {

/// For example "torch.matmul"; empty if PyTorch has no equivalent.
std::string torch_name_of(std::string_view op);

}  // namespace phi::op_tool
