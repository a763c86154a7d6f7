// autophi_spmd: the spmd subcommand as a separate program with fewer dependencies, for tests.
#include "tools/spmd_command.h"

int main(int argc, char** argv) { return spmd_command(argc, argv); }
