// autophi op: checks recorded operator calls, and lists operators.
#pragma once

/// `load` opens a library of operators. Returns the exit status.
int op_command(int argc, char** argv, void (*load)(const char* path));
