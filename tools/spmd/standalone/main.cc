// autophi_spmd: the spmd subcommand as a program of its own, for tests that need nothing else.
#include "tools/spmd_command.h"

int main(int argc, char** argv) { return spmd_command(argc, argv); }
