// `autophi calibrate --out=FILE`: measures this machine and writes its machine file.
#pragma once

/// argv[0] is "calibrate". All ranks of the job call it; rank 0 writes and prints. Returns the exit
/// status. Errors: UsageError; Unavailable if the file cannot be written.
int calibrate_command(int argc, char** argv);
