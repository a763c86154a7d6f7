// autophi data: makes files of token ids, and says what is in them.
#pragma once

/// argv[0] is "data". Returns the exit status: 0, or kUsageStatus for a command line that was not
/// understood, or 1 for data that cannot be had.
int data_command(int argc, char** argv);
