// autophi_op: the op subcommand as a separate program with fewer dependencies.
#include <cstdio>

#include "tools/op_command.h"

int main(int argc, char** argv) {
  return op_command(argc, argv, [](const char* path) {
    std::fprintf(stderr, "autophi_op: '%s': the command autophi loads libraries.\n", path);
  });
}
