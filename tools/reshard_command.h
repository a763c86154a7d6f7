// autophi reshard: prints the plan of a reshard without executing it.
#pragma once

/// argv[0] is "reshard". Returns the exit status: 0; kUsageStatus for an invalid command line; 1
/// for attrs that do not fit the tensor.
int reshard_command(int argc, char** argv);
