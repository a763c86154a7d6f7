// autophi ckpt: what is in checkpoints, whether it is as it was saved, and ordinary files out of
// them.
#pragma once

/// argv[0] is "ckpt". Returns the exit status: 0, or kUsageStatus for a command line that was not
/// understood, or 1 for damage (verify), differences (diff), and what cannot be read or written.
int ckpt_command(int argc, char** argv);
