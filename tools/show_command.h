// autophi show: draws how a tensor lies on a mesh.
#pragma once

/// argv[0] is "show". Returns the exit status: 0, or kUsageStatus for a command line that was not
/// understood, or 1 for placements that do not fit the tensor.
int show_command(int argc, char** argv);
