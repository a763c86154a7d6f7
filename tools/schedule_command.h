// autophi schedule: draws and simulates a pipeline schedule, without running anything.
#pragma once

/// argv[0] is "schedule". Returns the exit status: 0, or kUsageStatus for a command line that was
/// not understood, or 1 if the picture cannot be written.
int schedule_command(int argc, char** argv);
