// autophi schedule: draws and simulates a pipeline schedule without running it.
#pragma once

/// argv[0] is "schedule". Returns the exit status: 0; kUsageStatus for an invalid command line; 1
/// if the picture cannot be written.
int schedule_command(int argc, char** argv);
