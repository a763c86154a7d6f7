// autophi spmd: runs sharding rules, and checks them against recorded cases.
#pragma once

#include <string>

/// argv[0] is "spmd". `load` loads a library of operators, for the flag --ops; null: there is no
/// such flag. Returns the exit status: 0 if all cases that must agree do; kUsageStatus for an
/// invalid command line.
int spmd_command(int argc, char** argv, void (*load)(const std::string& path) = nullptr);
