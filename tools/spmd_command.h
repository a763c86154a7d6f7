// autophi spmd: asks sharding rules, and checks them against recorded cases.
#pragma once

#include <string>

/// argv[0] is "spmd". `load` loads a library of operators, for --ops; without it there is no such
/// flag. Returns the exit status: 0 if all cases that must agree do; kUsageStatus for
/// a command line that was not understood.
int spmd_command(int argc, char** argv, void (*load)(const std::string& path) = nullptr);
