// autophi ckpt: lists, compares and verifies checkpoints, and converts them to ordinary files.
#pragma once

/// argv[0] is "ckpt". Returns the exit status: 0; kUsageStatus for an invalid command line; 1 for
/// damage (verify), differences (diff), and files that cannot be read or written.
int ckpt_command(int argc, char** argv);
