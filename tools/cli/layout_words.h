// Shapes, meshes and placements as a person types them on a command line: of all subcommands that
// take them.
//
//   parse_shape("64x32");  parse_mesh("dp=2,tp=4", "", "--mesh");  parse_attr("[S0,R]", mesh, "--src");
#pragma once

#include <gflags/gflags_declare.h>

#include <string>
#include <string_view>

#include "distributed/placement/dist_attr.h"
#include "phi/common/dims.h"

DECLARE_string(shape);

namespace phi::cli {

/// What --shape says; "scalar" for no dims. Errors: UsageError.
Dims parse_shape(const std::string& text);
/// "2x4" or "dp=2,tp=4", with ranks "0,1,..." (empty: 0, 1, ...). `flag` is named by errors, which
/// are UsageErrors, and those of ProcessMesh.
distributed::ProcessMesh parse_mesh(const std::string& text, const std::string& ranks,
                                    std::string_view flag);
/// "[S0,R]" or "S0,R": one placement per mesh dim: R, S0, S0.1, P (of sums), P(max), ...
/// Errors: UsageError.
const distributed::TensorDistAttr* parse_attr(std::string_view text,
                                              const distributed::ProcessMesh& mesh,
                                              std::string_view flag);

}  // namespace phi::cli
