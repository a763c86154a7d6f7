// Reads the sections `pipeline` and `placements` of a job file, and checks them against the mesh.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

#include "tools/job/config/config.h"

namespace phi::job {

/// Errors: InvalidArgument as Section.
void read_pipeline(const YAML::Node& node, JobConfig* config);

/// Reads the rows into config->placements, in the order of the file.
/// Errors: InvalidArgument as Section, with the line of a row, for text that is no row and for a
/// mesh dim other than dp and tp.
void read_placements(const YAML::Node& node, JobConfig* config);

/// Adds a row of parameters that a flag sets, "--pin" to "head.weight={tp: R}", after those of the
/// file. Errors, also later ones about this row, name the flag: those of parse_row, and
/// InvalidArgument for a mesh dim other than dp and tp.
void add_row_of_flag(const std::string& flag, const std::string& text, JobConfig* config);

/// The key of a row, as errors name it and config.lines lists it:
/// "placements.parameters.layer*.up.weight".
std::string key_of(const nn::Layout::PlacementRow& row);

/// Checks the sections against the mesh that the job has now, on which resolve_mesh decided;
/// `of_file` is the mesh of the file. A job of one rank has no cut afterwards: one rank stands for
/// any mesh.
/// Errors: InvalidArgument if the cut is not one number for each chunk whose sum is the number of
/// layers, and for a row with a mesh dim that neither mesh has.
void settle_layout(const MeshConfig& of_file, JobConfig* config);

}  // namespace phi::job
