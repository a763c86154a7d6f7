// autophi data: creates files of token ids, and prints what data files contain.
#pragma once

/// argv[0] is "data". Returns the exit status: 0; kUsageStatus for an invalid command line; 1 for
/// data that cannot be read or written.
int data_command(int argc, char** argv);
