// Parses shapes, meshes and placements from a command line, for all subcommands.
//
//   const Dims shape = parse_shape("64x32");
//   const ProcessMesh mesh = parse_mesh("dp=2,tp=4", "", "--mesh");
//   const TensorDistAttr* attr = parse_attr("[S0,R]", shape.ndim(), mesh, "--src");
#pragma once

#include <gflags/gflags_declare.h>

#include <string>
#include <string_view>

#include "distributed/placement/dist_attr.h"
#include "phi/common/dims.h"

DECLARE_string(shape);

namespace phi::cli {

/// Parses --shape; "scalar" has no dims. Errors: UsageError.
Dims parse_shape(const std::string& text);
/// Parses "2x4" or "dp=2,tp=4", with ranks "0,1,..." (empty: 0, 1, ...). Errors name `flag`:
/// UsageError, and those of ProcessMesh.
distributed::ProcessMesh parse_mesh(const std::string& text, const std::string& ranks,
                                    std::string_view flag);
/// Parses the placements of a tensor of `ndim` dims in one of two forms, with or without brackets:
///
/// - "[S0,R]": one placement per mesh dim (R, S0, S0.1, P (sum), P(max), ...).
/// - "[0,_,0+1,p1:max]": for each tensor dim the mesh dims that split it, _ for none; p1 for
///   partial over mesh dim 1.
///
/// Errors: UsageError; InvalidArgument for a mesh dim that does not exist or is used twice.
const distributed::TensorDistAttr* parse_attr(std::string_view text, int ndim,
                                              const distributed::ProcessMesh& mesh,
                                              std::string_view flag);

}  // namespace phi::cli
