// autophi spmd: asks sharding rules, and checks them against recorded cases.
#pragma once

/// argv[0] is "spmd". Returns the exit status: 0 if all cases that must agree do; kUsageStatus for
/// a command line that was not understood.
int spmd_command(int argc, char** argv);
