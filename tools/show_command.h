// autophi show: draws how a tensor is sharded over a mesh.
#pragma once

/// argv[0] is "show". Returns the exit status: 0; kUsageStatus for an invalid command line; 1 for
/// placements that do not fit the tensor.
int show_command(int argc, char** argv);
