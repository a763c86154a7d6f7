// autophi reshard: shows how a tensor would be moved, without moving anything.
#pragma once

/// argv[0] is "reshard". Returns the exit status: 0, or kUsageStatus for a command line that was
/// not understood, or 1 for attrs that do not fit the tensor.
int reshard_command(int argc, char** argv);
