// Text of the parts of an explanation, shared by tables, errors and JSON.
#pragma once

#include <string>
#include <string_view>

#include "api/explain/explanation.h"

namespace phi::explanation_text {

/// The last three components of a path, which distinguish the files of a program.
std::string short_path(std::string_view path);
/// "[S0,R]"; "plain" for null.
std::string placements(const distributed::TensorDistAttr* attr);
/// "f32[8,4] [S0,R] -> [R,R]", with meshes if they differ.
std::string change(const ExplainedMove& move);
/// "all_gather over tp, slice"
std::string steps(const ExplainedMove& move);
/// "y (layer0.up.weight)"
std::string named(const std::string& name, const std::string& value);
/// "sent 4.0 KiB, received 4.0 KiB", or "no bytes".
std::string bytes(const MovedBytes& bytes);
/// "1.25 ms"
std::string time(int64_t nanoseconds);
/// A line about a move, or about what a kernel sends: op, tensor, change, bytes, reason, call site.
std::string of_move(const ExplainedCall& call, const ExplainedMove& move);
std::string of_kernel(const ExplainedCall& call);

}  // namespace phi::explanation_text
