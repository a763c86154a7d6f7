// autophi weights: converts weights to and from Hugging Face folders, and merges sharded saves.
#pragma once

/// argv[0] is "weights". Returns the exit status: 0; kUsageStatus for an invalid command line; 1
/// for weights that cannot be read, converted or written.
int weights_command(int argc, char** argv);
